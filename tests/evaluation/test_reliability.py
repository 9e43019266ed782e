"""Reliability of confidences, and the share of dangling entities that stay unmatched."""

from __future__ import annotations

import numpy as np
import pytest

from multiea import Groups
from multiea.evaluation.reliability import scores_of_confidence, share_unmatched
from multiea.grouping.found_groups import FoundGroups

NAMES = ("a", "b")


def test_reliability_error_and_curve_match_a_count_by_hand() -> None:
    groups = Groups(NAMES, np.array([[0, 0], [1, 1], [2, 2], [3, 3]], dtype=np.int32))
    confidence = np.repeat([[0.95], [0.91], [0.35], [0.31]], 2, axis=1)
    known = Groups(NAMES, np.array([[0, 0], [1, 9], [2, 2], [3, 8], [5, 5]], dtype=np.int32))
    scores = scores_of_confidence(FoundGroups.from_members(groups, confidence), known)
    assert [row["pairs"] for row in scores["reliability"]] == [2, 2]
    assert scores["ece"] == pytest.approx((abs(0.33 - 0.5) + abs(0.93 - 0.5)) / 2)
    assert [point["precision"] for point in scores["curve"]] == pytest.approx([1, 1 / 2, 2 / 3, 2 / 4])
    assert [point["recall"] for point in scores["curve"]] == pytest.approx([1 / 5, 1 / 5, 2 / 5, 2 / 5])


def test_the_share_of_unmatched_entities_counts_those_in_no_group() -> None:
    found = Groups(NAMES, np.array([[0, 0], [1, 1]], dtype=np.int32))
    assert share_unmatched(found, [np.array([1, 2, 3]), np.array([5])]) == pytest.approx(3 / 4)
    assert share_unmatched(found, [np.array([], dtype=int)] * 2) is None
