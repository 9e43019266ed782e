"""Paths through third KGs are sums of matrix products, for any number of KGs."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from torch import Tensor

from multiea.similarity.paths import BestSteps
from multiea.similarity.sparse_scores import SparseScores
from support.scores import sparse

SIZES = (4, 3, 5, 2, 4)


def scores_of_pairs(sizes: tuple[int, ...]) -> dict[tuple[int, int], SparseScores]:
    """Scores of all ordered pairs of KGs; half of them are zero, and rows sum to less than one."""
    generator = torch.Generator().manual_seed(0)
    direct = {}
    for a, b in permutations(range(len(sizes)), 2):
        if a < b:
            matrix = torch.rand(sizes[a], sizes[b], generator=generator) / max(sizes)
            direct[a, b] = sparse((matrix * (torch.rand(matrix.shape, generator=generator) < 0.5)).tolist())
        else:
            direct[a, b] = direct[b, a].transposed()
    return direct


def dense(scores: SparseScores) -> Tensor:
    return scores.rows(slice(None))


@pytest.mark.parametrize("kgs", [3, 4, 5])
def test_paths_are_sums_of_matrix_products_and_what_ends_in_a_third_kg_is_lost(kgs: int) -> None:
    direct = scores_of_pairs(SIZES[:kgs])
    steps = BestSteps(direct, range(kgs))
    for a, b in permutations(range(kgs), 2):
        thirds = [kg for kg in range(kgs) if kg not in (a, b)]
        assert steps.thirds(a, b) == len(thirds)
        expected = torch.stack([dense(direct[a, via]) @ dense(direct[via, b]) for via in thirds]).sum(0)
        summed = SparseScores.summed(*steps.paths(a, b), (SIZES[a], SIZES[b]))
        torch.testing.assert_close(dense(summed), expected, rtol=1e-5, atol=2e-6 * kgs)
        lost = [dense(direct[a, via]) @ (1 - dense(direct[via, b]).sum(1)) for via in thirds]
        torch.testing.assert_close(steps.lost(a, b).float(), torch.stack(lost).sum(0), rtol=1e-5, atol=1e-5)


def test_kgs_without_candidates_are_no_third_kgs() -> None:
    direct = scores_of_pairs((4, 3, 5))
    nothing = torch.zeros(0, dtype=torch.int64)
    empty = SparseScores(nothing, nothing, torch.zeros(0), (0, 0))
    for kg, size in enumerate((4, 3, 5)):
        direct[kg, 3] = SparseScores(nothing, nothing, empty.values, (size, 0))
        direct[3, kg] = SparseScores(nothing, nothing, empty.values, (0, size))
    steps = BestSteps(direct, range(4))
    assert steps.thirds(0, 1) == 1
    assert len(steps.paths(0, 1)[0]) > 0
