"""Uncontested scores of the members of groups."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from multiea import Groups
from multiea.explain.candidate_scores import CandidateScores
from multiea.grouping.calibration import UNCONTESTED_SHARE, Calibration
from multiea.grouping.matching import scores_inside
from multiea.grouping.uncontested import best_chains, uncontested_inside
from multiea.similarity.block_scores import BlockScores, Uncontested
from multiea.similarity.sparse_scores import SparseScores

SIZES = (2, 2, 2)
POOLS = [np.arange(2)] * 3
NAMES, EVERY_PAIR = ("a", "b", "c"), ((0, 1), (0, 2), (1, 2))


def scores_of(values: dict[tuple[int, int], float]) -> BlockScores:
    """Three KGs with two entities each; the first two of each two KGs have this score, the second two have 0.5."""
    blocks = {
        pair: SparseScores(torch.arange(2), torch.arange(2), torch.tensor([value, 0.5]), (2, 2))
        for pair, value in values.items()
    }
    return BlockScores.of(blocks, SIZES, torch.device("cpu"))


def test_two_members_are_as_clear_as_the_weakest_pair_of_their_best_chain() -> None:
    scores = scores_of({(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0})
    scores.uncontested = Uncontested(scores_of({(0, 1): 0.9, (0, 2): 0.1, (1, 2): 0.7}), frozenset(EVERY_PAIR))
    inside = uncontested_inside(Groups(NAMES, np.array([[0, 0, 0], [1, 1, -1]], np.int32)), scores, POOLS)
    assert inside is not None
    np.testing.assert_allclose(inside[0][np.triu_indices(3, 1)], [0.9, 0.1, 0.7], rtol=1e-6)
    chains = best_chains(inside)
    np.testing.assert_allclose(chains[0][np.triu_indices(3, 1)], [0.9, 0.7, 0.7], rtol=1e-6)
    np.testing.assert_allclose(chains[1][np.triu_indices(3, 1)], [0.5, np.nan, np.nan], rtol=1e-6)


def test_pairs_of_kgs_without_structure_are_not_lowered_and_lead_no_chain() -> None:
    """The third KG has no structure: whatever it has in common with the others, the first two are as clear as alone."""
    scores = scores_of(dict.fromkeys(EVERY_PAIR, 0.9))
    scores.uncontested = Uncontested(scores_of({(0, 1): 0.2, (0, 2): 0.9, (1, 2): 0.9}), frozenset({(0, 1)}))
    groups = Groups(NAMES, np.array([[0, 0, 0]], np.int32))
    inside = uncontested_inside(groups, scores, POOLS)
    calibration = Calibration().lowering(scores)
    found = calibration.apply(groups, scores_inside(groups, scores, POOLS), None, inside)
    expected = [0.9 * (1 - UNCONTESTED_SHARE * 0.8), 0.9, 0.9]
    np.testing.assert_allclose(found.pair_confidence[0][np.triu_indices(3, 1)], expected, rtol=1e-6)


def test_a_dropped_member_does_not_make_the_others_clear() -> None:
    """The second member has high uncontested scores and low scores: what stays is as if it had never been there."""
    inside, uncontested = (np.full((1, 3, 3), np.nan) for _ in range(2))
    for (a, b), score, of_pair_alone in zip(EVERY_PAIR, (0.1, 0.9, 0.1), (0.9, 0.1, 0.9), strict=True):
        inside[0, a, b] = inside[0, b, a] = score
        uncontested[0, a, b] = uncontested[0, b, a] = of_pair_alone
    calibration = Calibration(threshold=0.4, uncontested_share=UNCONTESTED_SHARE)
    whole, pair = (Groups(NAMES, np.array([members], np.int32)) for members in ([0, 0, 0], [0, -1, 0]))
    of_pair = np.full_like(inside, np.nan)
    of_pair[0, 0, 2] = of_pair[0, 2, 0] = 0.9
    found = calibration.apply(whole, inside, None, uncontested, one_by_one=True)
    alone = calibration.apply(pair, of_pair, None, uncontested, one_by_one=True)
    assert found.groups.members.tolist() == [[0, -1, 0]]
    np.testing.assert_allclose(found.confidence, alone.confidence)
    np.testing.assert_allclose(found.confidence[0, 0], 0.9 * (1 - UNCONTESTED_SHARE * 0.9))


def test_structure_alone_has_no_uncontested_scores() -> None:
    groups, scores = Groups(NAMES, np.array([[0, 0, 0]], np.int32)), scores_of({(0, 1): 1.0})
    assert uncontested_inside(groups, scores, POOLS) is None
    assert Calibration().lowering(scores).uncontested_share == 0


def test_an_explanation_adds_the_scores_of_copies_as_the_confidence_does() -> None:
    """The second entity of the first KG is a copy of the first one; both lead to the first of the second KG."""
    block = SparseScores(torch.arange(2), torch.zeros(2, dtype=torch.int64), torch.tensor([0.4, 0.3]), (2, 2))
    scores = BlockScores.of({(0, 1): block}, (2, 2), torch.device("cpu"))
    scores.uncontested = Uncontested(scores.with_values(scores.score), frozenset({(0, 1)}))
    candidates = CandidateScores(POOLS[:2], scores, scores)
    assert candidates.uncontested((0, 0), (1, 0)) == pytest.approx(0.4)
    assert candidates.uncontested((0, 0), (1, 0), [(0, 0), (1, 0), (0, 1)]) == pytest.approx(0.7)
