"""Uncontested scores of the members of groups."""

from __future__ import annotations

import numpy as np
import torch

from multiea import Groups
from multiea.grouping.uncontested import uncontested_inside
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.sparse_scores import SparseScores

SIZES = (2, 2, 2)
POOLS = [np.arange(2)] * 3


def scores_of(values: dict[tuple[int, int], float]) -> BlockScores:
    """Three KGs with two entities each; the first two of each two KGs have this score, the second two have 0.5."""
    blocks = {
        pair: SparseScores(torch.arange(2), torch.arange(2), torch.tensor([value, 0.5]), (2, 2))
        for pair, value in values.items()
    }
    return BlockScores.of(blocks, SIZES, torch.device("cpu"))


def test_two_members_are_as_clear_as_the_weakest_pair_of_their_best_chain() -> None:
    scores = scores_of({(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0})
    scores.uncontested = scores_of({(0, 1): 0.9, (0, 2): 0.1, (1, 2): 0.7})
    inside = uncontested_inside(Groups(("a", "b", "c"), np.array([[0, 0, 0], [1, 1, -1]], np.int32)), scores, POOLS)
    assert inside is not None
    np.testing.assert_allclose(inside[0][np.triu_indices(3, 1)], [0.9, 0.7, 0.7], rtol=1e-6)
    np.testing.assert_allclose(inside[1][np.triu_indices(3, 1)], [0.5, 0, 0], rtol=1e-6)


def test_structure_alone_has_no_uncontested_scores() -> None:
    groups = Groups(("a", "b", "c"), np.array([[0, 0, 0]], np.int32))
    assert uncontested_inside(groups, scores_of({(0, 1): 1.0}), POOLS) is None
