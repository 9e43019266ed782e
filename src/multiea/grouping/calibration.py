"""Calibration: scores become probabilities, learned from validation seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.judging import judged_pairs
from multiea.grouping.matching import Scores
from multiea.grouping.uncontested import best_chains
from multiea.similarity.block_scores import BlockScores

LEAST_SCORE = 1e-4
THRESHOLDS = np.arange(0.0, 0.65, 0.025)
PRIOR = np.array([0.0, 1.0, 0.0])  # the score itself is the probability
# Where names or attributes are compared as well, scores are too cautious: measured without seeds on tables and graphs.
PRIOR_WITH_EVIDENCE = np.array([2.0, 2.0, 0.0])
PRIOR_WEIGHT = 1.0
NUMBERS_AT_ONCE = 1 << 23  # pairs of members: their features take several times as much memory
MOST_UNJUDGED = 0.995  # where no seed judges names and attributes, nothing is certain, however clear it looks
# The share of a confidence without seeds that depends on the uncontested score: measured on graphs of which nearly all
# entities have counterparts, and on ontologies and catalogues with many lookalikes, some of which have none.
UNCONTESTED_SHARE = 1 / 3
LEAST_CONFIDENCE = 0.35  # of a member where names or attributes are compared as well; seeds rarely judge weaker ones


@dataclass(frozen=True)
class Calibration:
    """How a score becomes a probability, and the least confidence with which a member stays in its group.

    coefficients: of the constant, of the pair's score and of the mean score of its group, both as logits. examples: the
    number of pairs it was learned from; with none, no seed judged it. validation_f1: of pairs, on the validation
    seeds and at the threshold, where there are examples. validation_groups: the number of validation seeds behind it,
    0 in runs that did not count them. most: the highest probability there is. uncontested_share: the share of a
    confidence that depends on the uncontested score, 0 where confidences are not lowered.
    """

    coefficients: tuple[float, ...] = (0.0, 1.0, 0.0)
    threshold: float = 0.0
    examples: int = 0
    validation_f1: float | None = None
    validation_groups: int = 0
    most: float = 1.0
    uncontested_share: float = 0.0

    @classmethod
    def unjudged(cls, *, with_evidence: bool) -> Calibration:
        """Where no seed judges: the prior."""
        if with_evidence:
            return cls(tuple(PRIOR_WITH_EVIDENCE.tolist()), most=MOST_UNJUDGED)
        return cls(tuple(PRIOR.tolist()))

    def probabilities(self, inside: np.ndarray) -> np.ndarray:
        """The probability of each pair of members to be right, (groups, M, M), NaN where one is absent.

        Limited by the number of examples: even if all of them are right, the next pair may be wrong.
        """
        most = (self.examples + 1) / (self.examples + 2) if self.examples else self.most
        at_once = max(1, NUMBERS_AT_ONCE // max(1, inside[:1].size))
        parts = [inside[start : start + at_once] for start in range(0, max(len(inside), 1), at_once)]
        logits = [_features(part) @ np.array(self.coefficients) for part in parts]
        return np.concatenate([most / (1 + np.exp(-part)) for part in logits])

    def score_at(self, probability: float) -> float:
        """The score of a pair that is right with this probability, in a group of pairs like it."""
        constant, *slopes = self.coefficients
        logit = (np.log(probability / (1 - probability)) - constant) / max(sum(slopes), 1e-6)
        return float(1 / (1 + np.exp(-np.clip(logit, -50, 50))))

    def lowering(self, scores: Scores) -> Calibration:
        """The same, with confidences lowered where uncontested scores were made; scores: those to be grouped."""
        is_lowered = isinstance(scores, BlockScores) and scores.uncontested is not None
        return replace(self, uncontested_share=UNCONTESTED_SHARE if is_lowered else 0.0)

    def lowered(self, probabilities: np.ndarray, uncontested: np.ndarray) -> np.ndarray:
        """Probabilities of pairs, less where they are clear only because others took their rivals.

        Without seeds nobody knows whether these others are right. uncontested: of each pair, between 0 and 1; NaN where
        it is not known, and the probability stays.
        """
        lost = self.uncontested_share * (1 - uncontested)
        return np.asarray(probabilities * (1 - np.where(np.isnan(lost), 0, lost)))

    def apply(
        self,
        groups: Groups,
        inside: np.ndarray,
        matched: np.ndarray | None = None,
        uncontested: np.ndarray | None = None,
        *,
        one_by_one: bool = False,
    ) -> FoundGroups:
        """The groups with each member's confidence: its mean probability to be the same as another member.

        Members below the threshold are dropped, and groups with one member left. one_by_one: each group loses its
        member first, since it may be what weakens the others. inside: the scores of all pairs of
        members. matched: which pairs are each other's best match; all by default. uncontested: the uncontested scores
        of all pairs, NaN where unknown; they lower the confidences of members that stay, and drop nobody.
        """
        kept = self._members_kept(groups.present, inside, one_by_one=one_by_one)
        members = np.where(kept, groups.members, ABSENT)
        both = kept[:, :, None] & kept[:, None, :]
        enough = kept.sum(axis=1) > 1
        pair_confidence = self.probabilities(np.where(both, inside, np.nan))
        if uncontested is not None and self.uncontested_share:
            pair_confidence = self.lowered(pair_confidence, best_chains(np.where(both, uncontested, np.nan)))
        confidence = np.where(kept, _member_means(pair_confidence), 0)[enough]
        sizes = np.maximum(kept[enough].sum(axis=1), 1)
        order = np.argsort(-(confidence.sum(axis=1) / sizes), kind="stable")
        chosen = np.flatnonzero(enough)[order]
        known = ~np.isnan(pair_confidence[chosen])
        return FoundGroups(
            Groups(groups.kg_names, members[chosen]),
            confidence[order],
            pair_confidence[chosen],
            known if matched is None else known & matched[chosen],
        )

    def _members_kept(self, present: np.ndarray, inside: np.ndarray, *, one_by_one: bool) -> np.ndarray:
        """Which members stay, (groups, M)."""
        kept = present.copy()
        if not one_by_one:
            return np.asarray(kept & (_member_means(self.probabilities(inside)) >= self.threshold))
        for _ in range(present.shape[1]):
            within = np.where(kept[:, :, None] & kept[:, None, :], inside, np.nan)
            confidence = np.where(kept, _member_means(self.probabilities(within)), np.inf)
            weakest = confidence.min(axis=1, initial=np.inf)
            is_dropped = (confidence == weakest[:, None]) & (weakest[:, None] < self.threshold)
            if not is_dropped.any():
                break
            kept &= ~is_dropped
        return kept


def calibrate(groups: Groups, inside: np.ndarray, known: Groups, *, with_evidence: bool = False) -> Calibration:
    """Learned from groups that were found without the validation seeds: logistic regression with a prior.

    inside: the scores of all pairs of members. known: the validation seeds. with_evidence: whether names or attributes
    were compared as well. The prior is the score itself, or more where there is such evidence. The threshold is the one
    with the best F1 on the known groups; where none can be judged, with the best F1 that the prior expects.
    """
    prior = PRIOR_WITH_EVIDENCE if with_evidence else PRIOR
    judged, right = judged_pairs(groups, known)
    upper = np.triu(np.ones(inside.shape[1:], dtype=bool), 1)
    weight, judged = judged[(judged > 0) & upper].astype(float), (judged > 0) & upper
    if not judged.any():
        unjudged = Calibration.unjudged(with_evidence=with_evidence)
        return replace(unjudged, threshold=_expected_threshold(unjudged, inside)) if with_evidence else unjudged
    features, truth = _features(inside)[judged], right[judged].astype(float)
    coefficients = prior.copy()
    for _ in range(50):  # Newton's method; the prior keeps it finite where all pairs are right
        guess = 1 / (1 + np.exp(-features @ coefficients))
        gradient = features.T @ (weight * (guess - truth)) + PRIOR_WEIGHT * (coefficients - prior)
        slope = weight * guess * (1 - guess)
        curvature = (features * slope[:, None]).T @ features + PRIOR_WEIGHT * np.eye(len(prior))
        step = np.linalg.solve(curvature, gradient)
        coefficients = coefficients - step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    learned = Calibration(tuple(coefficients.tolist()), 0.0, int(judged.sum()))
    member_confidence = _member_means(learned.probabilities(inside))
    lower = np.minimum(member_confidence[:, :, None], member_confidence[:, None, :])
    level = lower[judged]  # a pair is kept if both members are kept
    pairs_known = int(np.triu(known.overlap(), 1).sum())

    def f1_at(thresholds: np.ndarray) -> np.ndarray:
        kept = level[:, None] >= thresholds
        return np.asarray(2 * (weight * truth @ kept) / (weight @ kept + pairs_known))

    f1 = f1_at(THRESHOLDS)
    threshold = float(THRESHOLDS[f1 >= f1.max() - 1e-9].mean())
    threshold = max(threshold, LEAST_CONFIDENCE) if with_evidence else threshold
    reached = float(f1_at(np.array([threshold]))[0])  # less than the best F1 where the threshold had to be raised
    count = int((known.sizes > 1).sum())
    return replace(learned, threshold=threshold, validation_f1=reached, validation_groups=count)


def _expected_threshold(calibration: Calibration, inside: np.ndarray) -> float:
    """The least confidence of a member for which the expected F1 of pairs is best.

    It is half of the best F1: a pair above it raises F1, one below lowers it. The confidence of the last pair that is
    kept here would be too strict for other scores, where all pairs are good.
    """
    member = _member_means(calibration.probabilities(inside))
    lower = np.minimum(member[:, :, None], member[:, None, :])
    known = ~np.isnan(inside) & np.triu(np.ones(inside.shape[1:], dtype=bool), 1)
    level = np.sort(lower[known])[::-1]
    if not len(level):
        return 0.0
    right = np.cumsum(level)
    f1 = 2 * right / (np.arange(1, len(level) + 1) + right[-1])
    return float(f1.max() / 2)


def _features(inside: np.ndarray) -> np.ndarray:
    """(groups, M, M) -> (groups, M, M, 3)."""
    clipped = np.clip(inside.astype(float), LEAST_SCORE, 1 - LEAST_SCORE)
    logit = np.log(clipped / (1 - clipped))
    present = ~np.isnan(inside)
    counts = np.maximum(present.sum(axis=(1, 2), keepdims=True), 1)
    mean = np.where(present, logit, 0).sum(axis=(1, 2), keepdims=True) / counts
    return np.stack([np.ones_like(logit), logit, np.broadcast_to(mean, logit.shape)], axis=-1)


def _member_means(probabilities: np.ndarray) -> np.ndarray:
    """The mean over the pairs of each member, (groups, M), zero without any."""
    present = ~np.isnan(probabilities)
    return np.asarray(np.where(present, probabilities, 0).sum(axis=2) / np.maximum(present.sum(axis=2), 1))
