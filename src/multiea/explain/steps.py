"""Steps: the log-odds of a confidence, part by part, for one pair or for many."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from multiea.evidence.evidence import Pair
from multiea.explain.candidate_scores import CandidateScores, logit
from multiea.explain.contributions import Contributions
from multiea.explain.explanation import CALIBRATION, COMPETITION, STEP_NAMES, THIRD_KGS
from multiea.grouping.alignment import AlignmentResult

NEARLY_CERTAIN = 1e-12  # how close a confidence may come to zero and one


def log_odds_of(confidence: np.ndarray) -> np.ndarray:
    """Confidences as log-odds."""
    clipped = np.clip(confidence, NEARLY_CERTAIN, 1 - NEARLY_CERTAIN)
    return np.asarray(np.log(clipped / (1 - clipped)))


def steps_of_pairs(
    contributions: Contributions,
    scores: CandidateScores,
    pair: Pair,
    ends: tuple[np.ndarray, np.ndarray],
    confidence: np.ndarray,
) -> dict[str, np.ndarray]:
    """The log-odds of each step for some pairs of entities of two KGs (a < b); they add up to the confidence's.

    Where an entity is no candidate, its scores are unknown: competition then stands for all that evidence does not say.
    """
    found = {STEP_NAMES[one.kind]: one.log_odds for one in contributions.of(pair, *ends)}
    evidence = np.sum(list(found.values()), axis=0) if found else np.zeros(len(confidence))
    total = log_odds_of(confidence)
    direct, enhanced = (logit(scores.at(part, pair, *ends)) for part in (scores.direct, scores.enhanced))
    has_score = ~np.isnan(direct)
    found[COMPETITION] = np.where(has_score, direct, total) - evidence
    if len(scores.pools) > 2:
        found[THIRD_KGS] = np.where(has_score, enhanced - direct, 0.0)
    found[CALIBRATION] = np.where(has_score, total - enhanced, 0.0)
    return found


def steps_of_groups(alignment: AlignmentResult, rows: np.ndarray) -> list[dict[str, float]]:
    """For some found groups the log-odds of each step, as means over the pairs of their members."""
    contributions, scores = Contributions(alignment), CandidateScores.of(alignment)
    order, found = alignment.order, alignment.found.take(rows)
    groups, given = order.groups_to_canonical(found.groups), order.given_columns
    sums: list[dict[str, float]] = [{} for _ in rows]
    counts = np.zeros(len(rows))
    for a, b in combinations(range(len(given)), 2):
        both = np.flatnonzero(groups.present[:, a] & groups.present[:, b])
        ends = groups.members[both, a].astype(np.int64), groups.members[both, b].astype(np.int64)
        confidence = found.pair_confidence[both, given[a], given[b]]
        counts[both] += 1
        for name, values in steps_of_pairs(contributions, scores, (a, b), ends, confidence).items():
            for group, value in zip(both.tolist(), values.tolist(), strict=True):
                sums[group][name] = sums[group].get(name, 0.0) + value
    return [
        {name: value / count for name, value in of_group.items()} for of_group, count in zip(sums, counts, strict=True)
    ]
