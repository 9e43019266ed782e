"""The weights of kinds of evidence: a conditional logit over candidates, learned from known pairs.

Among the candidates of an entity the counterpart has probability exp(score) / sum of exp(score), where the score is
the weighted sum of the similarities. A weight is thus in units of log-odds: with a weight of 15 for names, a candidate
whose name is more similar by 0.1 is exp(1.5) times as probable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from multiea.evidence.evidence import ATTRIBUTES, MODEL, NAMES, NEIGHBOURS, STRUCTURE, Pair

# About what validation seeds teach on graphs and tables of several kinds.
DEFAULT_WEIGHTS = {STRUCTURE: 28.0, NEIGHBOURS: 1.0, NAMES: 15.0, ATTRIBUTES: 18.0, MODEL: 13.0}
LEAST_WEIGHT = 0.5
SHARED_DEVIATION, PAIR_DEVIATION = (
    10.0,
    5.0,
)  # how far weights lie from the defaults, and those of a pair from shared ones


@dataclass(frozen=True)
class Mixing:
    """How scores are mixed where there are third KGs.

    is_softer: whether the temperature of Sinkhorn is at least that of the settings, though the evidence would allow a
    lower one. direct_share: of direct scores, the rest is for paths through third KGs; None for the settings.
    """

    is_softer: bool = False
    direct_share: float | None = None


UNJUDGED = Mixing(direct_share=0.6)  # where no known pairs choose
MIXINGS = (UNJUDGED, Mixing(), Mixing(is_softer=True), Mixing(is_softer=True, direct_share=0.6))


@dataclass(frozen=True)
class Weights:
    """The weight of each kind of evidence for each pair of KGs (a < b); the defaults where nothing was learned.

    by_chance: of pairs of KGs without counterparts, as it seems, the similarity that chance explains; None where that
    was not asked.
    """

    of_pair: Mapping[Pair, Mapping[str, float]] = field(default_factory=dict)
    examples: int = 0
    mixing: Mixing = field(default_factory=Mixing)
    by_chance: Mapping[Pair, float] | None = None

    def get(self, pair: Pair, kinds: Sequence[str]) -> np.ndarray:
        """The weights of some kinds for a pair of KGs, (kinds,)."""
        own = DEFAULT_WEIGHTS | dict(self.of_pair.get(pair, {}))
        return np.array([own[kind] for kind in kinds])


@dataclass(frozen=True)
class Examples:
    """Candidates of entities whose counterpart is known, for one pair of KGs.

    kinds: of evidence; features: (candidates, kinds); query: the entity to which each candidate belongs, rising from 0
    without gaps; is_right: which candidate is the counterpart, exactly one per query. values: what conflicting
    values and equal identifiers say, in log-odds, whatever the weights are; 0 for nothing.
    """

    kinds: tuple[str, ...]
    features: np.ndarray
    query: np.ndarray
    is_right: np.ndarray
    values: np.ndarray | float = 0.0

    def of_structure(self) -> Examples:
        """The same candidates by structure alone: its kinds with their default weights, in units of the first."""
        own = [kind for kind in (STRUCTURE, NEIGHBOURS) if kind in self.kinds]
        weights = np.array([DEFAULT_WEIGHTS[kind] for kind in own]) / DEFAULT_WEIGHTS[STRUCTURE]
        features = self.features[:, [self.kinds.index(kind) for kind in own]] @ weights
        return Examples((STRUCTURE,), features[:, None], self.query, self.is_right)


def learn_weights(examples: Mapping[Pair, Examples]) -> Weights:
    """Weights of each pair of KGs, drawn towards those that all pairs share, and these towards the defaults."""
    filled = {pair: some for pair, some in examples.items() if some.is_right.any()}
    if not filled:
        return Weights()
    kinds = sorted({kind for some in filled.values() for kind in some.kinds})
    default = np.array([DEFAULT_WEIGHTS[kind] for kind in kinds])
    shared = dict(zip(kinds, _fit(list(filled.values()), kinds, default, SHARED_DEVIATION), strict=True))
    of_pair = {}
    for pair, some in examples.items():
        prior = np.array([shared.get(kind, DEFAULT_WEIGHTS[kind]) for kind in some.kinds])
        learned = _fit([some], some.kinds, prior, PAIR_DEVIATION) if pair in filled else prior
        of_pair[pair] = {kind: float(weight) for kind, weight in zip(some.kinds, learned, strict=True)}
    return Weights(of_pair, int(sum(some.is_right.sum() for some in filled.values())))


def learn_weight_of_structure(examples: Mapping[Pair, Examples], mixing: Mixing) -> Weights:
    """How much structure counts, from pairs that were found by other evidence; all other weights are the defaults.

    Such pairs cannot tell how much the other evidence counts, since they were chosen by it. Structure is therefore
    judged alone, as if it were independent of the rest. Its kinds keep their proportion.
    """
    of_structure = {pair: some.of_structure() for pair, some in examples.items() if STRUCTURE in some.kinds}
    share = {
        pair: own[STRUCTURE] / DEFAULT_WEIGHTS[STRUCTURE] for pair, own in learn_weights(of_structure).of_pair.items()
    }
    return Weights(
        {pair: {kind: one * DEFAULT_WEIGHTS[kind] for kind in (STRUCTURE, NEIGHBOURS)} for pair, one in share.items()},
        mixing=mixing,
    )


def _fit(parts: Sequence[Examples], kinds: Sequence[str], prior: np.ndarray, deviation: float) -> np.ndarray:
    """The most probable weights given a normal prior; the likelihood is concave, weights have a lower bound."""
    from scipy.optimize import minimize  # deferred: needed only where there are known pairs

    columns = [[list(kinds).index(kind) for kind in part.kinds] for part in parts]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        total = float(((weights - prior) ** 2).sum()) / 2 / deviation**2
        gradient = (weights - prior) / deviation**2
        for part, own in zip(parts, columns, strict=True):
            likelihood, slope = _log_likelihood(part, weights[own])
            total -= likelihood
            gradient[own] -= slope
        return total, gradient

    start = np.maximum(prior.astype(float), LEAST_WEIGHT)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(LEAST_WEIGHT, None)] * len(start)).x)


def _log_likelihood(part: Examples, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The log-likelihood and its gradient."""
    starts = np.flatnonzero(np.r_[True, part.query[1:] != part.query[:-1]])
    score = part.features @ weights + part.values
    highest = np.maximum.reduceat(score, starts)
    odds = np.exp(score - highest[part.query])
    totals = np.add.reduceat(odds, starts)
    share = odds / totals[part.query]
    expected = share @ part.features
    likelihood = score[part.is_right].sum() - (np.log(totals) + highest).sum()
    return float(likelihood), part.features[part.is_right].sum(axis=0) - expected
