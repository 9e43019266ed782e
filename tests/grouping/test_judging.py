"""Judging found groups by known ones."""

from __future__ import annotations

import numpy as np
import pytest

from multiea import Groups
from multiea.grouping.judging import judged_groups, judged_pairs, scores_of_groups, scores_of_pairs


def groups(*rows: tuple[int, int, int]) -> Groups:
    return Groups(("a", "b", "c"), np.array(rows, dtype=np.int32).reshape(-1, 3))


def test_pairs_are_judged_only_where_something_is_known() -> None:
    held_out = groups((0, 0, 0), (1, 1, -1), (2, -1, 2))
    found = groups(
        (0, 0, 5),  # a-b right; a-c and b-c wrong: c's counterpart is 0
        (1, 9, 9),  # a-b wrong; a-c and b-c unknown
        (7, 7, 7),  # nothing known
        (2, 8, 2),  # a-c right; a-b unknown; b-c unknown
    )
    scores = scores_of_pairs(found, held_out)
    assert scores["precision"] == pytest.approx(2 / 5)
    assert scores["recall"] == pytest.approx(2 / 5)  # 3 + 1 + 1 pairs are known


def test_a_group_is_right_if_it_equals_a_held_out_group_on_its_known_kgs() -> None:
    held_out = groups((0, 0, 0), (1, 1, -1), (2, -1, 2), (3, 3, 3))
    found = groups(
        (0, 0, 0),  # right
        (1, 1, 8),  # right: c is not known
        (2, 5, -1),  # wrong: c is missing
        (3, -1, 9),  # wrong
        (6, 6, -1),  # not judged
    )
    scores = scores_of_groups(found, held_out)
    assert scores["precision"] == pytest.approx(2 / 4)
    assert scores["recall"] == pytest.approx(2 / 4)


def test_nothing_found_scores_zero() -> None:
    assert scores_of_pairs(groups(), groups((0, 0, 0)))["f1"] == 0
    assert scores_of_groups(groups(), groups((0, 0, 0)))["f1"] == 0


def test_weights_make_the_share_of_right_groups_unbiased_where_few_groups_are_known() -> None:
    """Eighty of a hundred pairs are right; the other twenty entities of each KG are paired wrongly among themselves."""
    count, wrong = 5000, 1000
    there = np.arange(count)
    back = np.r_[there[:-wrong], np.roll(there[-wrong:], 1)]
    found = Groups(("a", "b"), np.column_stack([there, back]).astype(np.int32))
    known = Groups(("a", "b"), np.column_stack([there, there]).astype(np.int32))
    few = known.take(np.random.default_rng(0).permutation(count)[: count // 10])
    for judge in (judged_pairs, judged_groups):
        judged, right = judge(found, few)
        assert (judged * right).sum() / judged.sum() == pytest.approx(0.8, abs=0.03)
        assert right.sum() / (judged > 0).sum() < 0.72  # without weights wrong pairs would count nearly twice
