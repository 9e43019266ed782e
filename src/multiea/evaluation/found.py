"""Precision, recall and F1 of the groups found, as sets of pairs and as whole groups; pure functions on arrays."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from multiea.data.groups import ABSENT, Groups


def scores_of_pairs(found: Groups, held_out: Groups) -> dict[str, float]:
    """A found pair is right if both sit in one held-out group.

    It is judged where at least one of the two has a known counterpart in the other's KG, and left out otherwise.
    """
    right = judged = known = 0
    of_found, of_held = _held_group_of(found, held_out), held_out.present
    for a, b in combinations(range(len(found.kg_names)), 2):
        both = found.present[:, a] & found.present[:, b]
        group_a, group_b = of_found[both, a], of_found[both, b]
        a_known = (group_a != ABSENT) & of_held[group_a, b]
        b_known = (group_b != ABSENT) & of_held[group_b, a]
        judged += int(np.count_nonzero(a_known | b_known))
        right += int(np.count_nonzero((group_a == group_b) & (group_a != ABSENT)))
        known += int(np.count_nonzero(of_held[:, a] & of_held[:, b]))
    return _precision_recall(right, judged, known)


def scores_of_groups(found: Groups, held_out: Groups) -> dict[str, float]:
    """A found group is right if it equals a held-out group on the KGs where that one is known.

    It is judged where it has a member of a held-out group.
    """
    of_found = _held_group_of(found, held_out)
    candidate = of_found.max(axis=1, initial=ABSENT)  # any one; if there are two the group is wrong in any case
    judged = candidate != ABSENT
    true = held_out.members[candidate]
    right = judged & ((found.members == true) | (true == ABSENT)).all(axis=1) if len(held_out) else judged
    right &= ((of_found == ABSENT) | (of_found == candidate[:, None])).all(axis=1)
    return _precision_recall(int(right.sum()), int(judged.sum()), len(held_out))


def _held_group_of(found: Groups, held_out: Groups) -> np.ndarray:
    """For each member found the held-out group it is in, (groups, M), -1 where it is in none."""
    result = np.full(found.members.shape, ABSENT, dtype=np.int64)
    for kg, (members, held) in enumerate(zip(found.members.T, held_out.members.T, strict=True)):
        size = max(members.max(initial=ABSENT), held.max(initial=ABSENT)) + 2  # the last place is for -1
        group_of = np.full(size, ABSENT, dtype=np.int64)
        known = held != ABSENT
        group_of[held[known]] = np.flatnonzero(known)
        result[:, kg] = group_of[members]
    return result


def _precision_recall(right: int, judged: int, known: int) -> dict[str, float]:
    precision = right / judged if judged else 0.0
    recall = right / known if known else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}
