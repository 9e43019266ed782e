"""Propagation by kernels: the same embeddings as those of sparse matrices, up to rounding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from multiea import Propagation, Task
from multiea.engines import large_flow, propagation
from multiea.engines.adjacency import Adjacency
from multiea.engines.damping import damp_and_project
from multiea.engines.embeddings import Embeddings
from multiea.kernels.compiling import use_threads
from multiea.kernels.flow import write_marks
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.runner import LocalRunner
from multiea.tasks.shards import MemoryShards, Shards
from support.tasks import edges_of

SETTINGS = Propagation(dimensions=128, relation_numbers=16)


def with_hashed_marks(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Lets sparse matrices propagate the marks that kernels make."""
    original = propagation.RandomVectors.drawn.__func__  # type: ignore[attr-defined]

    def drawn(cls: type, groups: int, *rest: object) -> propagation.RandomVectors:
        random: propagation.RandomVectors = original(cls, 0, *rest)
        dimensions = random.column_signs.shape[1]
        numbers, columns = (np.zeros((count, dimensions), np.int16) for _ in range(2))
        scales = np.zeros(count, np.float32)
        ones = np.ones(count, np.float32)
        signs = random.column_signs[0].numpy()
        every = np.arange(count, dtype=np.int32)
        write_marks(every, ones, random.seed_of_marks, (numbers, scales), signs, (columns, scales.copy()))
        marks = torch.from_numpy(numbers * scales[:, None])
        return replace(random, marks=marks[:groups])

    monkeypatch.setattr(propagation.RandomVectors, "drawn", classmethod(drawn))


def embedded(
    task: Task,
    random_state: int,
    weights: np.ndarray | None = None,
    chosen: list[np.ndarray] | None = None,
    shards: Shards | None = None,
) -> Embeddings:
    """The embeddings of all entities, or of chosen ones, KG after KG."""
    runner = LocalRunner(MemoryShards() if shards is None else shards)
    for kg, edges in enumerate(edges_of(task.kgs)):
        runner.shards.put(f"edges/{kg}", edges.arrays())
        if chosen is not None:
            runner.shards.put(f"chosen/{kg}", {"entities": chosen[kg]})
    large_flow.put_marks(runner.shards, "r", task.seeds, weights)
    kgs = range(len(task.kgs))
    large_flow.embed(runner, "r", kgs, SETTINGS, random_state, entities=None if chosen is None else "chosen")
    parts = [runner.shards.get(f"r/embedding/{kg}") for kg in kgs]
    numbers, scales = (np.concatenate([part[key] for part in parts]) for key in ("numbers", "scales"))
    return Embeddings(torch.from_numpy(numbers), torch.from_numpy(scales))


def test_embeddings_are_the_same_in_memory_and_in_a_folder(small: Task, tmp_path: Path) -> None:
    one, other = embedded(small, 0), embedded(small, 0, shards=FolderShards(tmp_path))
    assert torch.equal(one.numbers, other.numbers)
    assert one.scale is not None
    assert other.scale is not None
    assert torch.equal(one.scale, other.scale)


@pytest.mark.parametrize("weighted", [False, True])
def test_embeddings_equal_those_of_sparse_matrices(
    small: Task, monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    with_hashed_marks(monkeypatch, len(small.seeds))
    weights = np.where(np.arange(len(small.seeds)) % 2, 0.5, 1.0) if weighted else None
    of_matrices = propagation.embed([Adjacency(kg) for kg in small.kgs], small.seeds, SETTINGS, 3, weights)
    by_kernels = embedded(small, 3, weights)
    parts = by_kernels.split([len(kg.entities) for kg in small.kgs])
    for one, other in zip(of_matrices, parts, strict=True):
        assert torch.equal(one.are_known(), other.are_known())
        assert ((one.float() * other.float()).sum(1)[one.are_known()] > 0.997).all()
    exact = of_matrices[0].float() @ of_matrices[1].float().t()
    torch.testing.assert_close(parts[0].cosines(parts[1]), exact, atol=0.01, rtol=0)


def test_some_entities_have_the_same_embeddings_as_among_all(small: Task) -> None:
    chosen = [np.arange(3, len(kg.entities), 4) for kg in small.kgs]
    whole, some = embedded(small, 0), embedded(small, 0, chosen=chosen)
    rows = np.concatenate([own + start for own, start in zip(chosen, small.entity_offsets[:-1], strict=True)])
    assert torch.equal(some.numbers, whole.numbers[torch.from_numpy(rows)])


def test_what_flows_does_not_depend_on_the_number_of_threads(small: Task) -> None:
    edges = edges_of(small.kgs)[0]
    mark = np.full(edges.entities, -1, np.int32)
    mark[:50] = np.arange(50)
    sizes = propagation.EmbeddingSizes.of(SETTINGS, edges.entities)
    random = propagation.RandomVectors.drawn(0, SETTINGS, sizes, 0, torch.device("cpu"))
    threads, flows = torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            use_threads()
            into = [
                (np.zeros((edges.entities, width), np.int16), np.zeros(edges.entities, np.float32))
                for width in (128, 128, 64)
            ]
            relations = large_flow.flow(
                edges, mark, np.ones(50, np.float32), random, SETTINGS, (into[0], into[1], into[2])
            )
            flows.append([*into[0], *into[1], *into[2], relations])
    finally:
        torch.set_num_threads(threads)
    for one, other in zip(*flows, strict=True):
        np.testing.assert_array_equal(one, other)


def test_marks_look_random_and_differ_by_random_state(small: Task) -> None:
    count, dimensions = 200, 256
    drawn = []
    for seed in (5, 6):
        numbers, scales = np.zeros((count, dimensions), np.int16), np.zeros(count, np.float32)
        every, ones = np.arange(count, dtype=np.int32), np.ones(count, np.float32)
        copy = numbers.copy(), scales.copy()
        write_marks(every, ones, seed, (numbers, scales), np.ones(dimensions, np.float32), copy)
        drawn.append(Embeddings(torch.from_numpy(numbers * scales[:, None])))
    for one, other in ((drawn[0], drawn[0]), (drawn[0], drawn[1])):
        cosines = one.cosines(other)
        if one is other:
            torch.testing.assert_close(cosines.diagonal(), torch.ones(count))
            cosines = cosines - torch.eye(count)
        assert cosines.abs().max() < 0.4
        assert abs(float(cosines.mean())) < 0.005
        assert 0.055 < float(cosines.std()) < 0.07  # 1 / 16


def test_directions_of_relations_do_not_depend_on_threads() -> None:
    """Nodes of a cluster have other numbers of CPUs than the machine that started it."""
    random = torch.Generator().manual_seed(0)
    states = [[torch.randn(300, 256, generator=random) for _ in range(2)] for _ in range(2)]
    projection = torch.randn(512, 64, generator=random)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(torch.cat(damp_and_project(states, projection, 0.5)))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
