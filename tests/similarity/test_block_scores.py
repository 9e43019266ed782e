"""Scores of all KGs in one matrix: the same as pair by pair, for any number of KGs and any sizes."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.evaluation.scores import ranks_of_groups
from multiea.grouping.matching import mutual_matches, scores_inside
from multiea.similarity.block_scores import BlockScores, Uncontested
from multiea.similarity.sparse_sinkhorn import normalise
from support.scores import blocks_of_random_scores

SIZES = [(4, 3), (4, 3, 5), (5, 0, 4, 3), (3, 4, 2, 5, 1, 4)]


@pytest.mark.parametrize("sizes", SIZES)
def test_a_block_is_the_matrix_it_was_made_from_and_its_transpose(sizes: tuple[int, ...]) -> None:
    pairs = blocks_of_random_scores(sizes)
    scores = BlockScores.of(pairs, sizes, torch.device("cpu"))
    assert set(scores) == set(permutations(range(len(sizes)), 2))
    assert len(scores) == len(sizes) * (len(sizes) - 1)
    for a, b in combinations(range(len(sizes)), 2):
        dense = pairs[a, b].rows(slice(None))
        assert torch.equal(scores[a, b].rows(slice(None)), dense)
        assert torch.equal(scores[b, a].rows(slice(None)), dense.t())
        torch.testing.assert_close(scores.sums()[scores.offset(a) :, b][: sizes[a]].float(), dense.sum(1))
        torch.testing.assert_close(scores.sums()[scores.offset(b) :, a][: sizes[b]].float(), dense.sum(0))


def test_kgs_may_be_asked_for_by_other_numbers() -> None:
    sizes = (4, 3, 5)
    scores = BlockScores.of(blocks_of_random_scores(sizes), sizes, torch.device("cpu"))
    other = scores.renumbered([2, 0, 1])
    assert other.offset(0) == scores.offset(2)
    assert torch.equal(other[1, 0].rows(slice(None)), scores[0, 2].rows(slice(None)))


def test_other_numbers_or_values_have_no_uncontested_scores_of_the_present_ones() -> None:
    sizes = (4, 3, 5)
    scores = BlockScores.of(blocks_of_random_scores(sizes), sizes, torch.device("cpu"))
    scores.uncontested = Uncontested(scores.with_values(scores.score / 2), frozenset({(0, 1)}))
    assert scores.renumbered([2, 0, 1]).uncontested is None
    assert scores.with_values(scores.score / 3).uncontested is None
    assert scores.uncontested is not None


@pytest.mark.parametrize("sizes", SIZES)
def test_matches_ranks_and_scores_inside_groups_are_those_of_the_pairs(sizes: tuple[int, ...]) -> None:
    scores = BlockScores.of(blocks_of_random_scores(sizes, tied=True), sizes, torch.device("cpu"))
    matrices = dict(scores.items())
    pools = [np.arange(size) for size in sizes]
    for with_duplicates in ((), (0,), tuple(range(len(sizes)))):
        one, other = (mutual_matches(some, pools, with_duplicates) for some in (scores, matrices))
        assert np.array_equal(one.left, other.left)
        assert np.array_equal(one.right, other.right)
        assert np.array_equal(one.score, other.score)
    rng = np.random.default_rng(0)
    count = min(size for size in sizes if size)
    members = np.stack([rng.permutation(size)[:count] if size else np.full(count, ABSENT) for size in sizes], axis=1)
    members[:, 2:][rng.random(members[:, 2:].shape) < 0.3] = ABSENT
    members = members[(members != ABSENT).sum(axis=1) > 1]
    groups = Groups(tuple("abcdef"[: len(sizes)]), members.astype(np.int32))
    np.testing.assert_array_equal(scores_inside(groups, scores, pools), scores_inside(groups, matrices, pools))
    ranks, expected = (ranks_of_groups(some, pools, groups) for some in (scores, matrices))
    assert set(ranks) == set(expected)
    for pair, values in expected.items():
        torch.testing.assert_close(ranks[pair], values, equal_nan=True)


@pytest.mark.parametrize("sizes", [(6, 6), (6, 6, 6, 6)])
def test_normalised_rows_and_columns_sum_to_one_and_less_with_mass_outside_the_entries(sizes: tuple[int, ...]) -> None:
    scores = BlockScores.of(blocks_of_random_scores(sizes, filled=1.0), sizes, torch.device("cpu"))
    for block in normalise(scores, 200).values():
        torch.testing.assert_close(block.rows(slice(None)).sum(1), torch.ones(6), atol=1e-4, rtol=0)
    rest = torch.full((sum(sizes), len(sizes)), 5.0, dtype=torch.float64)
    for block in normalise(scores, 200, rest).values():
        assert (block.rows(slice(None)).sum(1) < 0.9).all()


def test_a_block_is_normalised_as_if_it_were_alone() -> None:
    sizes = (5, 4, 6)
    pairs = blocks_of_random_scores(sizes)
    rest = torch.rand(sum(sizes), 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    together = normalise(BlockScores.of(pairs, sizes, torch.device("cpu")), 15, rest)
    for a, b in pairs:
        starts = together.offset(a), together.offset(b)
        own = torch.zeros(sizes[a] + sizes[b], 2, dtype=torch.float64)
        own[: sizes[a], 1] = rest[starts[0] : starts[0] + sizes[a], b]
        own[sizes[a] :, 0] = rest[starts[1] : starts[1] + sizes[b], a]
        alone = BlockScores.of({(0, 1): pairs[a, b]}, (sizes[a], sizes[b]), torch.device("cpu"))
        alone = normalise(alone, 15, own)
        torch.testing.assert_close(together[a, b].rows(slice(None)), alone[0, 1].rows(slice(None)))
