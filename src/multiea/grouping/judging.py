"""Judging groups against known ones: which pairs and groups are right, precision, recall and F1; pure functions."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from multiea.data.groups import ABSENT, Groups

NUMBERS_AT_ONCE = 1 << 22  # pairs of members that are judged at a time


def judged_pairs(found: Groups, known: Groups) -> tuple[np.ndarray, np.ndarray]:
    """For each found group and pair of KGs the weight with which its pair is judged, and whether it is right.

    (groups, M, M) each. A pair is right if both members are in one known group. It is judged where at least one of the
    two has a known counterpart in the other's KG, otherwise it is unknown and its weight is 0. The weight is 1 where
    both have a known counterpart and 0.5 where one has: where few groups are known, a wrong pair is noticed from either
    end, a right one from both at once, and only this weight makes the share of right pairs unbiased.
    """
    kgs = len(found.kg_names)
    judged, right = np.zeros((len(found), kgs, kgs), np.float32), np.zeros((len(found), kgs, kgs), bool)
    if not len(known):
        return judged, right
    of_found, of_known = known.rows_of(found.members), known.present
    at_once = max(1, NUMBERS_AT_ONCE // kgs**2)
    for start in range(0, len(found), at_once):
        some = slice(start, start + at_once)
        group, present = of_found[some], found.present[some]
        both = present[:, :, None] & present[:, None, :] & ~np.eye(kgs, dtype=bool)
        has_group = (group != ABSENT)[:, :, None]
        is_known = of_known[group] & has_group & both  # [group, a, b]: the known group of its member in a has one in b
        judged[some] = (is_known * np.float32(1) + is_known.transpose(0, 2, 1)) / 2
        right[some] = both & has_group & (group[:, :, None] == group[:, None, :])
    return judged, right


def scores_of_pairs(found: Groups, held_out: Groups) -> dict[str, float]:
    """Precision, recall and F1 of the pairs inside groups."""
    judged, right = judged_pairs(found, held_out)
    known = int(np.triu(held_out.overlap(), 1).sum())
    return _precision_recall(int(right.sum()) // 2, int((judged > 0).sum()) // 2, known)


def pairs_by_group(found: Groups, held_out: Groups) -> np.ndarray:
    """For each held-out group its right pairs, its judged pairs and its known pairs, (groups, 3).

    The sums of the columns give precision and recall of pairs. A judged pair counts half for each of its two groups
    where both members have a known counterpart in the other's KG, otherwise fully for the one that has.
    """
    right, judged, known = counts = np.zeros((3, len(held_out)))
    if not len(held_out):
        return counts.T
    of_found, of_known = held_out.rows_of(found.members), held_out.present
    for a, b in combinations(range(len(found.kg_names)), 2):
        known += of_known[:, a] & of_known[:, b]
        both = found.present[:, a] & found.present[:, b]
        groups = of_found[both][:, [a, b]]
        ends = (groups != ABSENT) & np.column_stack([of_known[groups[:, 0], b], of_known[groups[:, 1], a]])
        share = 1 / np.maximum(ends.sum(axis=1), 1)
        for end in (0, 1):
            seen = ends[:, end]
            judged += np.bincount(groups[seen, end], share[seen], minlength=len(held_out))
        is_right = (groups[:, 0] == groups[:, 1]) & (groups[:, 0] != ABSENT)
        right += np.bincount(groups[is_right, 0], minlength=len(held_out))
    return counts.T


def judged_groups(found: Groups, known: Groups, *, whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """For each found group the share of its members that are in known groups, and whether it contradicts none.

    A group that is a part of a known one does not contradict it; with `whole` it must contain all of it. Where few
    groups are known, weighting groups by this share makes the share of right groups unbiased.
    """
    of_found = known.rows_of(found.members)
    candidate = of_found.max(axis=1, initial=ABSENT)  # any of them; with two the group is wrong in any case
    judged = (of_found != ABSENT).sum(axis=1) / np.maximum(found.sizes, 1)
    if not len(known):
        return judged, judged > 0
    true = known.members[candidate]
    agrees = (found.members == true) | (true == ABSENT)
    if not whole:
        agrees |= found.members == ABSENT
    same = (of_found == ABSENT) | (of_found == candidate[:, None])
    return judged, (judged > 0) & agrees.all(axis=1) & same.all(axis=1)


def scores_of_groups(found: Groups, held_out: Groups) -> dict[str, float]:
    """Precision, recall and F1 of groups.

    A found group is right if it equals a held-out group on the KGs where that one is known. It is judged if it has a
    member of a held-out group.
    """
    judged, right = judged_groups(found, held_out, whole=True)
    return _precision_recall(int(right.sum()), int((judged > 0).sum()), len(held_out))


def groups_found_right(found: Groups, held_out: Groups) -> np.ndarray:
    """For each held-out group whether it was found, (groups,), as in the recall of groups."""
    _, right = judged_groups(found, held_out, whole=True)
    result = np.zeros(len(held_out), dtype=bool)
    result[held_out.rows_of(found.take(right).members).max(axis=1, initial=ABSENT)] = True
    return result


def _precision_recall(right: int, judged: int, known: int) -> dict[str, float]:
    precision = right / judged if judged else 0.0
    recall = right / known if known else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}
