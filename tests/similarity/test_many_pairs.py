"""Kernels for many KGs compute what is computed pair by pair, whatever the number of threads and the order of KGs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import multiea
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.grouping.matching import _joined_in_order
from multiea.kernels.joining import joined_in_order
from multiea.settings.engines import PROPAGATION_WEIGHTS
from multiea.settings.enhancement import Enhancement
from multiea.similarity import enhancement, many_kgs, many_pairs
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.compiled_scores import CompiledScores
from multiea.similarity.direct_scores import Comparison
from multiea.similarity.many_kgs import MANY, are_compared_at_once
from support.quick import align

KGS, LARGEST, DIMENSIONS = MANY + 3, 40, 64
SETTINGS = Enhancement(weights=PROPAGATION_WEIGHTS, temperature=0.1, candidates=50)


@pytest.fixture(scope="module")
def candidates() -> list[Tensor]:
    """Noisy copies of the same vectors in KGs of several sizes, one of them empty."""
    generator = torch.Generator().manual_seed(0)
    shared = torch.randn(LARGEST + 10, DIMENSIONS, generator=generator)
    sizes = [LARGEST - kg for kg in range(KGS - 1)] + [0]
    parts = []
    for size in sizes:
        own = shared[torch.randperm(len(shared), generator=generator)[:size]]
        own = own + 0.8 * torch.randn(own.shape, generator=generator)
        parts.append(own / own.norm(dim=1, keepdim=True))
    return parts


def scores_of(candidates: list[Tensor], monkeypatch: pytest.MonkeyPatch, *, at_once: bool) -> BlockScores:
    monkeypatch.setattr(enhancement, "are_compared_at_once", lambda sizes: at_once)
    scores, _ = enhancement.sparse_similarities(Comparison.of(candidates), SETTINGS)
    assert isinstance(scores, BlockScores)
    assert isinstance(scores, CompiledScores) == at_once
    return scores


@pytest.mark.parametrize("numbers_at_once", [1 << 23, 3_000])
def test_scores_are_those_of_pairs(
    candidates: list[Tensor], monkeypatch: pytest.MonkeyPatch, numbers_at_once: int
) -> None:
    monkeypatch.setattr(many_pairs, "NUMBERS_AT_ONCE", numbers_at_once)
    expected = scores_of(candidates, monkeypatch, at_once=False)
    found = scores_of(candidates, monkeypatch, at_once=True)
    assert torch.equal(found.segments.keys, expected.segments.keys)
    torch.testing.assert_close(found.score, expected.score, rtol=1e-4, atol=1e-6)


def test_best_candidates_ranks_and_single_scores_are_those_of_tensors(
    candidates: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = scores_of(candidates, monkeypatch, at_once=True)
    assert isinstance(found, CompiledScores)
    rounded = CompiledScores(found._entries, (found.score.numpy() * 8).round() / 8)  # many are equal, many zero
    expected = BlockScores(rounded.segments, rounded.score)
    generator = torch.Generator().manual_seed(0)
    ends = torch.randint(found.layout.candidates, (2, 2000), generator=generator)
    ends = ends[:, found.layout.kg[ends[0]] != found.layout.kg[ends[1]]]
    ends = torch.cat([ends, torch.stack([rounded.segments.row, rounded.segments.column])], dim=1)
    for one, other in (ends, ends.flip(0)):
        assert torch.equal(rounded.at(one, other), expected.at(one, other))
        for own, known in zip(rounded.better_and_tied(one, other), expected.better_and_tied(one, other), strict=True):
            assert torch.equal(own, known)
    for ties_in in ((), (1, 2)):
        (best, score), (expected_best, expected_score) = rounded.best(ties_in), expected.best(ties_in)
        assert torch.equal(best.long(), expected_best)
        assert torch.equal(score, expected_score)
    assert torch.equal(rounded[2, 1].rows(slice(None)), expected[2, 1].rows(slice(None)))


def test_scores_do_not_depend_on_the_number_of_threads(
    candidates: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, found = torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(scores_of(candidates, monkeypatch, at_once=True))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(found[0].segments.keys, found[1].segments.keys)
    assert torch.equal(found[0].score, found[1].score)


def test_scores_change_by_roundings_only_where_kgs_and_entities_are_reordered(
    candidates: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_pairs, "STEPS", KGS)  # all KGs: otherwise equal steps are chosen by their order
    found = scores_of(candidates, monkeypatch, at_once=True)
    generator = torch.Generator().manual_seed(1)
    order = torch.randperm(KGS, generator=generator).tolist()
    positions = [torch.randperm(len(part), generator=generator) for part in candidates]
    other = scores_of([candidates[kg][positions[kg]] for kg in order], monkeypatch, at_once=True)
    for a, b in ((0, 1), (4, 2), (3, 12)):
        again = other[order.index(a), order.index(b)].rows(slice(None))
        expected = found[a, b].rows(slice(None))[positions[a]][:, positions[b]]
        high = expected > 0.1
        torch.testing.assert_close(again[high], expected[high], rtol=0.05, atol=0.02)


def test_only_many_kgs_with_many_candidates_are_compared_at_once() -> None:
    assert are_compared_at_once((1_000,) * 20)
    assert not are_compared_at_once((100,) * 20)
    assert not are_compared_at_once((10_000,) * MANY)
    assert not are_compared_at_once((1_000,) * 20 + (many_kgs.LARGEST_AT_ONCE + 1,))


def test_a_kernel_joins_pairs_as_python_does() -> None:
    generator = np.random.default_rng(0)
    owner = generator.integers(0, 70, 300)
    left, right = generator.integers(0, 300, (2, 1500))
    assert np.array_equal(joined_in_order(left, right, owner), _joined_in_order(left, right, owner))


def test_an_alignment_of_many_kgs_finds_the_same_groups_when_kernels_compare_all_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_synthetic(Synthesis(kgs=MANY + 1, entities=100, relations=6, overlap=0.9), tmp_path)
    task = multiea.load(tmp_path)
    pair_by_pair = align(task, bootstrap="none")
    assert not isinstance(pair_by_pair.similarities("all")[0], CompiledScores)
    monkeypatch.setattr(many_kgs, "AT_ONCE_FROM", 1)
    at_once = align(task, bootstrap="none")
    assert isinstance(at_once.similarities("all")[0], CompiledScores)
    assert len(at_once.found.groups) > 20
    members = [set(map(tuple, one.found.groups.members.tolist())) for one in (pair_by_pair, at_once)]
    assert len(members[0] ^ members[1]) <= 0.05 * len(members[0])
    pair = at_once.pairs.filter(at_once.pairs["status"] == "found").row(0, named=True)
    explanation = at_once.explain(f"{pair['left_kg']}/{pair['left']}", f"{pair['right_kg']}/{pair['right']}")
    assert explanation.confidence == pair["confidence"]
