"""Reliability of confidences: expected calibration error, precision and recall by threshold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.judging import judged_pairs

BINS = 10
POINTS = 20  # of the precision-recall curve


def scores_of_confidence(found: FoundGroups, held_out: Groups) -> dict[str, Any]:
    """Predicted against observed precision, and precision against recall, of the pairs that can be judged.

    The confidence of a pair is the mean of its two members'. reliability: one row per tenth of confidence, with the
    number of pairs, their mean confidence and the share that is right. ece: the mean distance of these two, weighted by
    pairs (expected calibration error). curve: precision and recall of the pairs above a confidence, highest first.
    """
    confidence, right = _judged(found, held_out)
    known = int(np.triu(held_out.overlap(), 1).sum())
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    rows = []
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            rows.append({"pairs": int(inside.sum()), "predicted": float(confidence[inside].mean()),
                         "observed": float(right[inside].mean())})  # fmt: skip
    error = sum(row["pairs"] * abs(row["predicted"] - row["observed"]) for row in rows) / max(len(right), 1)
    return {"ece": float(error), "reliability": rows, "curve": _curve(confidence, right, known)}


def share_unmatched(found: Groups, without_counterpart: Sequence[np.ndarray]) -> float | None:
    """The share of dangling entities that are in no found group; without_counterpart: for each KG their positions."""
    unmatched = total = 0
    for members, dangling in zip(found.members.T, without_counterpart, strict=True):
        unmatched += int((~np.isin(dangling, members[members != ABSENT])).sum())
        total += len(dangling)
    return unmatched / total if total else None


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
    sorted_confidence, right_so_far = confidence[order], np.cumsum(right[order])
    differs_from_next = np.append(sorted_confidence[1:] != sorted_confidence[:-1], True)
    last = np.flatnonzero(differs_from_next)  # equal confidences are one point of the curve
    chosen = last[np.unique(np.linspace(0, len(last) - 1, POINTS).astype(int))]
    return [
        {
            "confidence": float(sorted_confidence[at]),
            "precision": float(right_so_far[at] / (at + 1)),
            "recall": float(right_so_far[at] / known),
        }
        for at in chosen
    ]


def _pairs(groups: Groups) -> list[tuple[int, int]]:
    return list(combinations(range(len(groups.kg_names)), 2))
