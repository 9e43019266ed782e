"""Calibration: confidences are learned from validation seeds, and doubtful entities stay unmatched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from multiea import Groups
from multiea.evaluation.reliability import scores_of_confidence
from multiea.grouping.calibration import Calibration, calibrate
from multiea.grouping.judging import scores_of_pairs

NAMES = ("a", "b")


def pairs_of_score(score: np.ndarray, right: np.ndarray) -> tuple[Groups, np.ndarray, Groups]:
    """Found pairs with a score each, and known groups that say which of them are right."""
    count = len(score)
    found = Groups(NAMES, np.column_stack([np.arange(count), np.arange(count)]).astype(np.int32))
    inside = np.full((count, 2, 2), np.nan, dtype=np.float32)
    inside[:, 0, 1] = inside[:, 1, 0] = score
    others = np.arange(count)
    others[~right] = np.roll(others[~right], 1)  # the known counterparts of wrong pairs are other entities
    return found, inside, Groups(NAMES, np.column_stack([np.arange(count), others]).astype(np.int32))


def test_probabilities_learned_from_one_half_are_right_on_the_other() -> None:
    rng = np.random.default_rng(0)
    score = rng.uniform(0.01, 0.99, 4000)
    right = rng.random(4000) < score**3  # scores that are too high
    found, inside, known = pairs_of_score(score, right)
    half = np.arange(4000) < 2000
    learned = calibrate(found.take(half), inside[half], known)
    rest = Calibration(learned.coefficients, 0.0, learned.examples).apply(found.take(~half), inside[~half])
    assert scores_of_confidence(rest, known)["ece"] < 0.05
    plain = Calibration().apply(found.take(~half), inside[~half])
    assert scores_of_confidence(plain, known)["ece"] > 0.15


def test_the_threshold_drops_groups_that_are_mostly_wrong() -> None:
    rng = np.random.default_rng(1)
    score = np.concatenate([rng.uniform(0.6, 0.9, 200), rng.uniform(0.05, 0.2, 200)])
    right = np.arange(400) < 200
    found, inside, known = pairs_of_score(score, right)
    kept = calibrate(found, inside, known).apply(found, inside)
    assert 190 <= len(kept.groups) <= 230
    assert (kept.confidence[:190] > 0.5).all()


@pytest.mark.parametrize("with_evidence", [False, True])
def test_the_f1_on_validation_seeds_is_that_of_the_groups_at_the_threshold(with_evidence: bool) -> None:
    """With evidence the threshold is never below 0.35, although a lower one has a better F1 here."""
    score = np.concatenate([np.full(30, 0.9), np.full(50, 0.02)])
    right = np.concatenate([np.ones(30, dtype=bool), np.arange(50) < 15])
    found, inside, known = pairs_of_score(score, right)
    calibration = calibrate(found, inside, known, with_evidence=with_evidence)
    kept = calibration.apply(found, inside).groups
    assert calibration.validation_f1 == pytest.approx(scores_of_pairs(kept, known)["f1"])
    assert calibration.validation_groups == 80


def test_without_known_groups_the_score_itself_is_the_confidence() -> None:
    found, inside, _ = pairs_of_score(np.array([0.2, 0.7]), np.array([True, True]))
    calibration = calibrate(found, inside, Groups.empty(NAMES))
    assert calibration == Calibration()
    np.testing.assert_allclose(calibration.apply(found, inside).confidence[:, 0], [0.7, 0.2], rtol=1e-5)


def test_a_doubtful_member_is_dropped_and_the_group_stays() -> None:
    groups = Groups(("a", "b", "c"), np.array([[0, 0, 0]], dtype=np.int32))
    inside = np.full((1, 3, 3), np.nan, dtype=np.float32)
    for a, b, score in ((0, 1, 0.9), (0, 2, 0.1), (1, 2, 0.05)):
        inside[0, a, b] = inside[0, b, a] = score
    found = Calibration(threshold=0.3).apply(groups, inside)
    assert found.groups.members.tolist() == [[0, 0, -1]]
    np.testing.assert_allclose(found.confidence, [[0.9, 0.9, 0]], rtol=1e-5)


def test_without_known_groups_good_pairs_are_kept_where_they_score_lower_than_those_it_was_calibrated_on() -> None:
    """The scores of the last round and of the final embeddings differ: a threshold between them drops right groups."""
    found, inside, _ = pairs_of_score(np.full(20, 0.8), np.ones(20, dtype=bool))
    calibration = calibrate(found, inside, Groups.empty(NAMES), with_evidence=True)
    assert calibration.examples == 0
    lower = calibration.apply(found, inside * 0.8)
    assert len(lower.groups) == 20


def test_without_known_groups_pairs_that_would_lower_the_expected_f1_are_dropped() -> None:
    score = np.concatenate([np.full(20, 0.8), np.full(20, 0.02)])
    found, inside, _ = pairs_of_score(score, np.ones(40, dtype=bool))
    kept = calibrate(found, inside, Groups.empty(NAMES), with_evidence=True).apply(found, inside)
    assert sorted(kept.groups.members[:, 0].tolist()) == list(range(20))


def test_a_low_uncontested_score_lowers_a_confidence_by_its_share() -> None:
    score = np.full(40, 0.9)
    found, inside, known = pairs_of_score(score, np.ones(40, dtype=bool))
    uncontested = np.where(np.arange(40)[:, None, None] < 20, 1.0, 0.1) * np.ones_like(inside)
    learned = calibrate(found, inside, known, with_evidence=True)
    assert len(set(learned.apply(found, inside, None, uncontested).confidence.ravel())) == 1
    unjudged = calibrate(found, inside, Groups.empty(NAMES), with_evidence=True)
    unjudged = replace(unjudged, uncontested_share=1 / 3)
    lowered = unjudged.apply(found, inside, None, uncontested)
    clear = lowered.groups.members[:, 0] < 20
    np.testing.assert_allclose(lowered.confidence[~clear] / lowered.confidence[clear], 0.7, rtol=1e-6)


def test_uncontested_scores_drop_nobody() -> None:
    found, inside, _ = pairs_of_score(np.linspace(0.05, 0.9, 40), np.ones(40, dtype=bool))
    calibration = calibrate(found, inside, Groups.empty(NAMES), with_evidence=True)
    calibration = replace(calibration, uncontested_share=0.5)
    before, after = (calibration.apply(found, inside, None, one) for one in (None, np.zeros_like(inside)))
    assert sorted(after.groups.members[:, 0]) == sorted(before.groups.members[:, 0])
    np.testing.assert_allclose(np.sort(after.confidence, axis=0), np.sort(before.confidence, axis=0) / 2)
