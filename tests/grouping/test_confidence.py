"""Confidences: learned from groups held back, honest about what is right, and able to leave entities alone."""

import numpy as np
import pytest

from multiea import Groups
from multiea.evaluation.reliability import scores_of_confidence, share_left_alone
from multiea.grouping.calibration import Calibration, calibrate
from multiea.grouping.matching import FoundGroups

NAMES = ("a", "b")


def pairs_of_score(score: np.ndarray, right: np.ndarray) -> tuple[Groups, np.ndarray, Groups]:
    """Found pairs with a score each, and known groups that say which of them are right."""
    count = len(score)
    found = Groups(NAMES, np.column_stack([np.arange(count), np.arange(count)]).astype(np.int32))
    inside = np.full((count, 2, 2), np.nan, dtype=np.float32)
    inside[:, 0, 1] = inside[:, 1, 0] = score
    others = np.arange(count)
    others[~right] = np.roll(others[~right], 1)  # the wrong ones belong to each other in another way
    return found, inside, Groups(NAMES, np.column_stack([np.arange(count), others]).astype(np.int32))


def test_probabilities_learned_from_one_half_hold_on_the_other() -> None:
    rng = np.random.default_rng(0)
    score = rng.uniform(0.01, 0.99, 4000)
    right = rng.random(4000) < score**3  # scores that promise too much
    found, inside, known = pairs_of_score(score, right)
    half = np.arange(4000) < 2000
    learned = calibrate(found.take(half), inside[half], known)
    rest = Calibration(learned.coefficients, 0.0, learned.examples).found(found.take(~half), inside[~half])
    assert scores_of_confidence(rest, known)["ece"] < 0.05
    plain = Calibration().found(found.take(~half), inside[~half])
    assert scores_of_confidence(plain, known)["ece"] > 0.15


def test_a_threshold_leaves_alone_what_is_mostly_wrong() -> None:
    rng = np.random.default_rng(1)
    score = np.concatenate([rng.uniform(0.6, 0.9, 200), rng.uniform(0.05, 0.2, 200)])
    right = np.arange(400) < 200
    found, inside, known = pairs_of_score(score, right)
    kept = calibrate(found, inside, known).found(found, inside)
    assert 190 <= len(kept.groups) <= 230
    assert (kept.confidence[:190] > 0.5).all()


def test_with_nothing_to_learn_from_the_score_itself_is_the_confidence() -> None:
    found, inside, _ = pairs_of_score(np.array([0.2, 0.7]), np.array([True, True]))
    calibration = calibrate(found, inside, Groups.empty(NAMES))
    assert calibration == Calibration()
    np.testing.assert_allclose(calibration.found(found, inside).confidence[:, 0], [0.7, 0.2], rtol=1e-5)


def test_a_doubtful_member_is_dropped_and_the_group_stays() -> None:
    groups = Groups(("a", "b", "c"), np.array([[0, 0, 0]], dtype=np.int32))
    inside = np.full((1, 3, 3), np.nan, dtype=np.float32)
    for a, b, score in ((0, 1, 0.9), (0, 2, 0.1), (1, 2, 0.05)):
        inside[0, a, b] = inside[0, b, a] = score
    found = Calibration(threshold=0.3).found(groups, inside)
    assert found.groups.members.tolist() == [[0, 0, -1]]
    np.testing.assert_allclose(found.confidence, [[0.9, 0.9, 0]], rtol=1e-5)


def test_reliability_error_and_curve_against_a_count_by_hand() -> None:
    groups = Groups(NAMES, np.array([[0, 0], [1, 1], [2, 2], [3, 3]], dtype=np.int32))
    confidence = np.repeat([[0.95], [0.91], [0.35], [0.31]], 2, axis=1)
    known = Groups(NAMES, np.array([[0, 0], [1, 9], [2, 2], [3, 8], [5, 5]], dtype=np.int32))
    scores = scores_of_confidence(FoundGroups.of_members(groups, confidence), known)
    assert [row["pairs"] for row in scores["reliability"]] == [2, 2]
    assert scores["ece"] == pytest.approx((abs(0.33 - 0.5) + abs(0.93 - 0.5)) / 2)
    assert [point["precision"] for point in scores["curve"]] == pytest.approx([1, 1 / 2, 2 / 3, 2 / 4])
    assert [point["recall"] for point in scores["curve"]] == pytest.approx([1 / 5, 1 / 5, 2 / 5, 2 / 5])


def test_the_share_left_alone_counts_entities_in_no_group() -> None:
    found = Groups(NAMES, np.array([[0, 0], [1, 1]], dtype=np.int32))
    assert share_left_alone(found, [np.array([1, 2, 3]), np.array([5])]) == pytest.approx(3 / 4)
    assert share_left_alone(found, [np.array([], dtype=int)] * 2) is None
