"""Paths through third KGs are sums of matrix products, for any number of KGs."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
import torch
from torch import Tensor

from multiea.settings.engines import PROPAGATION_WEIGHTS
from multiea.settings.enhancement import Enhancement
from multiea.similarity import many_kgs, paths
from multiea.similarity.block_scores import BlockScores, Segments
from multiea.similarity.many_kgs import MANY, kept_after_paths
from multiea.similarity.paths import BestSteps, with_paths, with_paths_mixed
from multiea.similarity.sparse_scores import SparseScores
from multiea.similarity.weights import MIXINGS
from support.scores import blocks_of_random_scores

SIZES = (4, 3, 5, 2, 4)


def blocks_of(sizes: tuple[int, ...]) -> BlockScores:
    """Half of the scores are zero, and rows sum to less than one."""
    scores = BlockScores.of(blocks_of_random_scores(sizes, filled=0.5), sizes, torch.device("cpu"))
    return scores.with_values(scores.score / max(sizes))


def dense(scores: SparseScores) -> Tensor:
    return scores.rows(slice(None))


@pytest.mark.parametrize("kgs", [3, 4, 5])
def test_paths_are_sums_of_matrix_products_and_what_ends_in_a_third_kg_is_lost(kgs: int) -> None:
    direct = blocks_of(SIZES[:kgs])
    steps = BestSteps(direct)
    assert steps.thirds == kgs - 2
    lost = steps.lost()
    for a, b in permutations(range(kgs), 2):
        thirds = [kg for kg in range(kgs) if kg not in (a, b)]
        if a < b:
            expected = torch.stack([dense(direct[a, via]) @ dense(direct[via, b]) for via in thirds]).sum(0)
            summed = SparseScores.summed(*steps.paths(a, range(b, b + 1)), (SIZES[a], SIZES[b]))
            torch.testing.assert_close(dense(summed), expected, rtol=1e-5, atol=2e-6 * kgs)
        ended = [dense(direct[a, via]) @ (1 - dense(direct[via, b]).sum(1)) for via in thirds]
        own = lost[direct.offset(a) :, b][: SIZES[a]].float()
        torch.testing.assert_close(own, torch.stack(ended).sum(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("is_dense", [True, False])
def test_direct_scores_and_paths_are_added(monkeypatch: pytest.MonkeyPatch, is_dense: bool) -> None:
    monkeypatch.setattr(paths, "SPARSE", 1e9 if is_dense else 0)
    direct = blocks_of(SIZES)
    row, column, values = BestSteps(direct).with_direct(direct, 0.6, 0.1)
    assert torch.equal(torch.argsort(row * 100 + column), torch.arange(len(row)))
    whole = torch.zeros(sum(SIZES), sum(SIZES)).index_put_((row, column), values)
    for a, b in combinations(range(len(SIZES)), 2):
        thirds = [kg for kg in range(len(SIZES)) if kg not in (a, b)]
        through = torch.stack([dense(direct[a, via]) @ dense(direct[via, b]) for via in thirds]).sum(0)
        own = whole[direct.offset(a) :, direct.offset(b) :][: SIZES[a], : SIZES[b]]
        torch.testing.assert_close(own, 0.6 * dense(direct[a, b]) + 0.1 * through, rtol=1e-5, atol=2e-5)


def test_kgs_without_candidates_are_no_third_kgs() -> None:
    steps = BestSteps(blocks_of((4, 3, 5, 0)))
    assert steps.thirds == 1
    assert len(steps.paths(0, range(1, 2))[0]) > 0


@pytest.mark.parametrize("is_dense", [True, False])
@pytest.mark.parametrize(("kgs", "size"), [(MANY + 9, 60), (4, 200)])
def test_with_many_kgs_or_candidates_a_limited_number_in_each_kg_is_kept_and_the_mass_of_the_others(
    monkeypatch: pytest.MonkeyPatch, kgs: int, size: int, is_dense: bool
) -> None:
    monkeypatch.setattr(paths, "SPARSE", 1e9 if is_dense else 0)
    monkeypatch.setattr(many_kgs, "VERY_MANY_CANDIDATES", 700)
    direct = blocks_of((size,) * kgs)
    steps = BestSteps(direct)
    row, column, values = steps.with_direct(direct, 0.6, 0.1)
    count = torch.bincount(row * kgs + column // size, minlength=kgs * size * kgs)
    limit = kept_after_paths(kgs, kgs * size)
    assert limit is not None
    assert limit < size
    assert limit <= count[count > 0].float().mean() < 2 * limit + 1
    monkeypatch.setattr(paths, "kept_after_paths", lambda kgs, candidates: size)
    every = BestSteps(direct)
    row_of_all, column_of_all, all_values = every.with_direct(direct, 0.6, 0.1)
    whole = BlockScores(Segments(row_of_all, column_of_all, direct.segments.sizes), all_values)
    kept = BlockScores(Segments(row, column, direct.segments.sizes), values)
    assert every.cut is not None
    assert steps.cut is not None
    assert steps.cut.any()
    assert not every.cut.any()
    torch.testing.assert_close(kept.sums() + steps.cut, whole.sums(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kgs", [3, MANY + 3])
def test_several_mixings_give_the_scores_of_each_alone(kgs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "kept_after_paths", lambda *_: 2 if kgs > MANY else None)  # the rest is cut
    direct, settings = blocks_of((6,) * kgs), Enhancement(weights=PROPAGATION_WEIGHTS)
    together = [one.score.clone() for one in with_paths_mixed(direct, settings, MIXINGS, keeps_rest=True)]
    alone = [with_paths(direct, settings, mixing, keeps_rest=True).score for mixing in MIXINGS]
    assert all(torch.equal(one, other) for one, other in zip(together, alone, strict=True))
    assert not torch.equal(alone[0], alone[1])


def test_up_to_some_size_all_scores_with_paths_are_kept() -> None:
    assert kept_after_paths(MANY, many_kgs.VERY_MANY_CANDIDATES) is None
    assert BestSteps(blocks_of((4, 3, 5))).cut is None


def test_with_many_kgs_steps_lead_from_each_candidate_to_its_best_in_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kgs = MANY + 3
    direct = blocks_of((6,) * kgs)
    every = BestSteps(direct)
    monkeypatch.setattr(paths, "STEPS", kgs - 2)  # as many as there are third KGs
    assert torch.equal(BestSteps(direct).values, every.values)
    monkeypatch.setattr(paths, "STEPS", 4)
    best = BestSteps(direct)
    assert every.divisor == kgs - 2
    assert best.divisor == 16 / (kgs - 2)
    for candidate in range(6 * kgs):
        expected = every.values[every.row == candidate].sort(descending=True).values[:4]
        assert torch.equal(best.values[best.row == candidate].sort(descending=True).values, expected)
