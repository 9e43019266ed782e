"""Ranks and the scores made of them, against plain references; ties and broken scores."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch

from multiea.evaluation.ranks import hits, m_hits, mean_rank, mean_reciprocal_rank, realistic_ranks
from multiea.evaluation.scores import scores_by_rank
from multiea.similarity.matrices import better_and_tied
from multiea.similarity.sparse_scores import SparseScores
from support.ranking import literal_rank


def ranks_of(scores: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """The rank of the true candidate in each row of scores."""
    return realistic_ranks(*better_and_tied(scores, true))


def test_ranks_match_a_plain_reference_with_ties() -> None:
    rng = np.random.default_rng(0)
    scores = torch.from_numpy(rng.integers(0, 6, (50, 20))).float()
    true = torch.from_numpy(rng.integers(0, 20, 50))
    ranks = ranks_of(scores, true)
    assert ranks.tolist() == [literal_rank(row, t) for row, t in zip(scores.tolist(), true.tolist(), strict=True)]


def test_ranks_of_sparse_scores_equal_those_of_whole_rows() -> None:
    rng = np.random.default_rng(0)
    keys, values = rng.choice(13 * 17, 60, replace=False), rng.integers(0, 4, 60)
    scores = SparseScores.summed(torch.from_numpy(keys), torch.from_numpy(values).float(), (13, 17))
    row, column = torch.from_numpy(rng.permutation(13)[:9]), torch.from_numpy(rng.integers(0, 17, 9))
    whole = scores.rows(row).tolist()
    expected = [literal_rank(of_row, true) for of_row, true in zip(whole, column.tolist(), strict=True)]
    assert realistic_ranks(*scores.better_and_tied(row, column)).tolist() == expected
    broken = scores.with_values(torch.full_like(scores.values, torch.nan))
    assert realistic_ranks(*broken.better_and_tied(scores.row[:1], scores.column[:1])).item() > 1


def test_equal_scores_of_all_candidates_give_the_middle_rank() -> None:
    assert ranks_of(torch.zeros(1, 9), torch.tensor([0])).item() == 5


def test_m_hits_requires_all_counterparts_and_averages_over_kgs() -> None:
    ranks = {pair: torch.tensor([1.0, 1.0]) for pair in permutations(range(3), 2)}
    ranks[0, 1] = ranks[0, 2] = torch.tensor([1.0, 5.0])  # from KG 0, the second group fails twice
    assert m_hits(ranks, 3, [1, 5]) == {1: pytest.approx((0.5 + 1 + 1) / 3), 5: 1}


def test_partial_groups_count_in_hits_of_their_pairs_and_not_in_m_hits() -> None:
    absent = torch.nan
    ranks = {pair: torch.tensor([1.0, absent], dtype=torch.float64) for pair in permutations(range(3), 2)}
    ranks[0, 1] = ranks[1, 0] = torch.tensor([1.0, 5.0], dtype=torch.float64)  # the second group lacks KG 2
    scores = scores_by_rank(ranks, ("a", "b", "c"))
    assert scores["m_hits"]["1"] == 1
    assert scores["hits"]["a-b"]["1"] == 0.5
    assert scores["hits"]["a-c"]["1"] == 1
    assert scores["mean_rank"]["a-b"] == 3
    assert scores["hits"]["overall"]["1"] == 0.75


def test_nan_ranks_last() -> None:
    scores = torch.tensor([[0.1, torch.nan, 0.3], [torch.nan, torch.nan, torch.nan]])
    assert ranks_of(scores, torch.tensor([1, 0])).tolist() == [3, 2]


def test_hits_mean_rank_and_mean_reciprocal_rank_by_hand() -> None:
    ranks = torch.tensor([1.0, 2.0, 4.0, 11.0])
    assert hits(ranks, 2) == 0.5
    assert mean_rank(ranks) == 4.5
    assert mean_reciprocal_rank(ranks) == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 11) / 4)
