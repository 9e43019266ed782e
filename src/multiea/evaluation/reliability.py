"""Whether confidences can be believed: reliability, expected calibration error, precision and recall by threshold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.grouping.judging import judged_pairs

if TYPE_CHECKING:
    from multiea.grouping.matching import FoundGroups

BINS = 10
POINTS = 20  # of the precision-recall curve


def scores_of_confidence(found: FoundGroups, held_out: Groups) -> dict[str, Any]:
    """Of the pairs inside found groups that can be judged: predicted against observed, and precision against recall.

    The confidence of a pair is the mean of its two members'. reliability: a row a tenth of confidence, with the pairs
    in it, their mean confidence and the share that is right; ece: the mean distance of the two, weighted by pairs.
    curve: precision and recall of the pairs from a confidence on, the surest first.
    """
    confidence, right = _judged(found, held_out)
    known = sum(int((held_out.present[:, a] & held_out.present[:, b]).sum()) for a, b in _pairs(held_out))
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    rows = []
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            rows.append({"pairs": int(inside.sum()), "predicted": float(confidence[inside].mean()),
                         "observed": float(right[inside].mean())})  # fmt: skip
    error = sum(row["pairs"] * abs(row["predicted"] - row["observed"]) for row in rows) / max(len(right), 1)
    return {"ece": float(error), "reliability": rows, "curve": _curve(confidence, right, known)}


def share_left_alone(found: Groups, without_counterpart: Sequence[np.ndarray]) -> float | None:
    """Of entities known to have no counterpart, for each KG their positions: the share that is in no found group."""
    alone = total = 0
    for members, lonely in zip(found.members.T, without_counterpart, strict=True):
        alone += int((~np.isin(lonely, members[members != ABSENT])).sum())
        total += len(lonely)
    return alone / total if total else None


def _judged(found: FoundGroups, held_out: Groups) -> tuple[np.ndarray, np.ndarray]:
    judged, right = judged_pairs(found.groups, held_out)
    confidences, rights = [np.empty(0)], [np.empty(0, bool)]
    for a, b in _pairs(held_out):
        rows = judged[:, a, b] > 0
        confidences.append((found.confidence[rows, a] + found.confidence[rows, b]) / 2)
        rights.append(right[rows, a, b])
    return np.concatenate(confidences), np.concatenate(rights)


def _curve(confidence: np.ndarray, right: np.ndarray, known: int) -> list[dict[str, float]]:
    if not len(right) or not known:
        return []
    order = np.argsort(-confidence, kind="stable")
    sure, good = confidence[order], np.cumsum(right[order])
    last = np.flatnonzero(np.append(sure[1:] != sure[:-1], True))  # equally sure ones come together
    chosen = last[np.unique(np.linspace(0, len(last) - 1, POINTS).astype(int))]
    return [
        {"confidence": float(sure[at]), "precision": float(good[at] / (at + 1)), "recall": float(good[at] / known)}
        for at in chosen
    ]


def _pairs(groups: Groups) -> list[tuple[int, int]]:
    return list(combinations(range(len(groups.kg_names)), 2))
