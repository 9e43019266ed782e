"""The same results on a GPU, where there is one."""

from __future__ import annotations

import pytest
import torch

import multiea
from multiea import Enhancement, Propagation, Training
from multiea.engines.adjacency import Adjacency
from multiea.engines.embeddings import Embeddings
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.propagation import embed
from multiea.graph.joint_graph import joint_graph
from multiea.settings.engines import default_enhancement
from multiea.similarity.block_scores import BlockScores, Segments
from multiea.similarity.enhancement import similarities
from multiea.similarity.paths import with_paths
from multiea.similarity.sparse_sinkhorn import normalise
from multiea.similarity.weights import UNJUDGED
from support.scores import blocks_of_random_scores

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@needs_cuda
def test_the_encoder_and_its_gradients_are_the_same_on_both_devices() -> None:
    task = multiea.load("world")
    results = []
    for device in ("cpu", "cuda"):
        encoder = MultiEAEncoder(joint_graph(task, device), 64, 2, torch.Generator().manual_seed(0))
        output = encoder()
        (output * torch.linspace(-1, 1, 64, device=device)).sum().backward()
        results.append(
            [
                output.detach().cpu(),
                *(parameter.grad.cpu() for parameter in encoder.parameters() if parameter.grad is not None),
            ]
        )
    for on_cpu, on_cuda in zip(*results, strict=True):
        torch.testing.assert_close(on_cuda, on_cpu, atol=1e-4, rtol=1e-3)


@needs_cuda
def test_an_alignment_on_a_gpu_scores_nearly_as_on_a_cpu() -> None:
    task = multiea.load("world")
    scores = []
    for device in ("cpu", "cuda"):
        alignment = multiea.align(task, engine="multiea", training=Training(epochs=20, dimensions=64), device=device)
        scores.append(alignment.evaluate())
        assert len(alignment.groups)
    assert scores[0]["m_hits"]["test"]["10"] == pytest.approx(scores[1]["m_hits"]["test"]["10"], abs=0.06)


@needs_cuda
@pytest.mark.parametrize("mode", ["none", "product", "profile", "sharpened"])
def test_similarities_are_the_same_on_both_devices(mode: str) -> None:
    generator = torch.Generator().manual_seed(0)
    parts = [torch.nn.functional.normalize(torch.randn(size, 32, generator=generator)) for size in (90, 70, 80)]
    on_cpu = similarities(parts, Enhancement(mode=mode))
    on_cuda = similarities([part.cuda() for part in parts], Enhancement(mode=mode))
    for pair, matrix in on_cpu.items():
        torch.testing.assert_close(
            on_cuda[pair].rows(slice(None)).cpu(), matrix.rows(slice(None)), atol=1e-4, rtol=1e-3
        )


@needs_cuda
def test_sparse_similarities_are_nearly_the_same_on_both_devices() -> None:
    """The CPU may compare 8-bit integers, which are less accurate."""
    generator = torch.Generator().manual_seed(0)
    shared = torch.randn(80, 512, generator=generator)
    parts = [torch.nn.functional.normalize(shared + torch.randn(80, 512, generator=generator)) for _ in range(3)]
    settings = default_enhancement("propagation")
    on_cpu, on_cuda = similarities(parts, settings), similarities([part.cuda() for part in parts], settings)
    for pair, matrix in on_cpu.items():
        torch.testing.assert_close(
            on_cuda[pair].rows(slice(None)).cpu(), matrix.rows(slice(None)), atol=0.05, rtol=0.05
        )


@needs_cuda
@pytest.mark.parametrize("kgs", [4, 15])
def test_paths_that_keep_the_rest_are_the_same_on_both_devices(kgs: int) -> None:
    sizes = (30,) * kgs
    pairs = blocks_of_random_scores(sizes, filled=0.3)
    direct = normalise(BlockScores.of(pairs, sizes, torch.device("cpu")), 15, torch.ones(sum(sizes), kgs).double())
    segments = direct.segments
    other = BlockScores(Segments(segments.row.cuda(), segments.column.cuda(), sizes), direct.score.cuda())
    settings = default_enhancement("propagation")
    on_cpu, on_cuda = (with_paths(one, settings, UNJUDGED, keeps_rest=True) for one in (direct, other))
    for pair, matrix in on_cpu.items():
        torch.testing.assert_close(
            on_cuda[pair].rows(slice(None)).cpu(), matrix.rows(slice(None)), atol=1e-5, rtol=1e-3
        )


@needs_cuda
def test_propagation_gives_nearly_the_same_embeddings_on_both_devices() -> None:
    task = multiea.load("world")
    on_cpu, on_cuda = (
        Embeddings.joined(embed([Adjacency(kg, device) for kg in task.kgs], task.seeds, Propagation(), 0)).float().cpu()
        for device in ("cpu", "cuda")
    )
    assert torch.equal(on_cpu.any(1), on_cuda.any(1))
    assert ((on_cpu * on_cuda).sum(1) - on_cpu.norm(dim=1)).abs().max() < 0.02


@needs_cuda
@pytest.mark.parametrize("bootstrap", ["all", "none"])
def test_propagation_on_a_gpu_finds_what_it_finds_on_a_cpu(bootstrap: str) -> None:
    task = multiea.load("world")
    on_cpu, on_cuda = (multiea.align(task, bootstrap=bootstrap, device=device).evaluate() for device in ("cpu", "cuda"))
    assert on_cuda["pairs"]["f1"] == pytest.approx(on_cpu["pairs"]["f1"], abs=0.06)
    assert on_cuda["m_hits"]["all"]["10"] == pytest.approx(on_cpu["m_hits"]["all"]["10"], abs=0.08)
