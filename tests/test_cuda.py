"""The same results on a GPU, where there is one."""

import pytest
import torch

import multiea
from multiea import Enhancement, Training
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.graph import joint_graph

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@needs_cuda
def test_the_encoder_and_its_gradients_are_the_same_on_both_devices() -> None:
    task = multiea.load("world")
    results = []
    for device in ("cpu", "cuda"):
        encoder = MultiEAEncoder(joint_graph(task, device), 64, 2, torch.Generator().manual_seed(0))
        output = encoder()
        (output * torch.linspace(-1, 1, 64, device=device)).sum().backward()
        results.append([output.detach().cpu(), *(parameter.grad.cpu() for parameter in encoder.parameters())])
    for on_cpu, on_cuda in zip(*results, strict=True):
        torch.testing.assert_close(on_cuda, on_cpu, atol=1e-4, rtol=1e-3)


@needs_cuda
def test_a_whole_run_on_a_gpu_scores_like_one_on_a_cpu() -> None:
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
    from multiea.similarity.enhancement import similarities

    on_cpu = similarities(parts, Enhancement(mode=mode))
    on_cuda = similarities([part.cuda() for part in parts], Enhancement(mode=mode))
    for pair, matrix in on_cpu.items():
        torch.testing.assert_close(
            on_cuda[pair].rows(slice(None)).cpu(), matrix.rows(slice(None)), atol=1e-4, rtol=1e-3
        )
