"""Conflicts: corresponding values that differ count against a pair of entities, as much as anchors say.

How often the values of two properties agree at each level is counted in anchors (m) and between any two of their
entities (u); a level says log(m / u) (Fellegi and Sunter, 1969). Where values of the same entity often differ, m is
hardly below u, and a conflict says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from multiea.evidence.anchors import Anchors
from multiea.evidence.correspondence import UNKNOWN, ComparableValues, Correspondence
from multiea.evidence.keys import agreeing_properties
from multiea.evidence.numbers import FEWEST_ANCHORS, LEAST_AGREEMENT, some_anchors

SHARE_OF_RIGHT, ROUNDS = 0.9, 20  # of anchors, at first; rounds of expectation maximisation
SMOOTHING = 1.0  # anchors that are added to each level, so that few say little
LEAST_CONFLICT = float(np.log(3.0))  # log-odds of a conflict that counts
MOST_AGAINST = 10.0  # log-odds against a pair
Pair = tuple[int, int]


@dataclass(frozen=True)
class Conflicts:
    """What the corresponding properties of two KGs say; weights: the log-odds of each level of each correspondence."""

    correspondences: Sequence[Correspondence] = ()
    weights: Sequence[np.ndarray] = ()

    def at(self, row: np.ndarray, column: np.ndarray, shape: Pair) -> sp.csr_array:
        """What conflicts say about some pairs of entities, in log-odds, below zero; nothing for all others."""
        against = np.zeros(len(row))
        for correspondence, weights in zip(self.correspondences, self.weights, strict=True):
            against += np.minimum(np.r_[weights, 0.0][correspondence.levels(row, column)], 0.0)  # UNKNOWN is the last
        against = np.maximum(against, -MOST_AGAINST).astype(np.float32)
        some = against < 0
        return sp.csr_array((against[some], (row[some], column[some])), shape=shape)

    def inside(self, side: int) -> Conflicts:
        """The same between the entities of one of the two KGs."""
        own = [replace(one, values=(one.values[side], one.values[side])) for one in self.correspondences]
        return Conflicts(own, self.weights)


def find_conflicts(
    values: ComparableValues, anchors: Anchors, namesakes: Mapping[Pair, float] | None = None
) -> dict[Pair, Conflicts]:
    """For each pair of KGs the corresponding properties and what they say.

    namesakes: the share of anchors that are probably wrong, as far as it is known.
    """
    found = {}
    for pair, ends in sorted(anchors.items()):
        if len(ends[0]) < FEWEST_ANCHORS:
            found[pair] = Conflicts()
            continue
        some, wrong = some_anchors(*ends), (namesakes or {}).get(pair, 0.0)
        numeric = values.of_numbers(*pair)
        known = [{one.properties[side] for one in numeric} for side in (0, 1)]
        equal = [values.of_keys(pair, names) for names in _equal_properties(values, pair, some, known, wrong)]
        found[pair] = learn_conflicts([*numeric, *equal], some, wrong)
    return found


def learn_conflicts(
    correspondences: Sequence[Correspondence], anchors: tuple[np.ndarray, np.ndarray], wrong: float = 0.0
) -> Conflicts:
    """What each level of each correspondence says; wrong: the share of anchors that are wrong as far as it is known.

    Some anchors are wrong, such as two people with one name. They are told by the conflicts of several properties:
    expectation maximisation, where the levels of wrong anchors are those of any two entities. One property alone cannot
    tell wrong anchors from wrong values: there the known share of wrong ones stays.
    """
    left, right = anchors
    same = [one.levels(left, right) for one in correspondences]
    u = [_smoothed(one.chance(left, right) * len(left)) for one in correspondences]
    is_several, share = len(correspondences) > 1, 1 - wrong
    share = min(share, SHARE_OF_RIGHT) if is_several else share
    is_right, weights = np.full(len(left), share), list[np.ndarray]()
    for _ in range(ROUNDS if share < 1 else 1):
        m = [_shares(level, is_right, len(one)) for one, level in zip(u, same, strict=True)]
        weights = [np.log(one / other) for one, other in zip(m, u, strict=True)]
        if is_several:
            share = (is_right.sum() + SMOOTHING) / (len(is_right) + 2 * SMOOTHING)
        odds = np.full(len(left), float(np.log(share / (1 - share))) if share < 1 else np.inf)
        for one, level in zip(weights, same, strict=True):
            odds += np.r_[one, 0.0][level]
        is_right = 1 / (1 + np.exp(-odds))
    kept = [
        (correspondence, np.minimum.accumulate(one))
        for correspondence, one, level in zip(correspondences, weights, same, strict=True)
        if one[-1] <= -LEAST_CONFLICT and np.count_nonzero(level != UNKNOWN) >= FEWEST_ANCHORS
    ]
    return Conflicts([one for one, _ in kept], [one for _, one in kept])


def _shares(level: np.ndarray, weight: np.ndarray, levels: int) -> np.ndarray:
    """The share of each level."""
    known = level != UNKNOWN
    return _smoothed(np.bincount(level[known], weight[known], minlength=levels))


def _smoothed(counts: np.ndarray) -> np.ndarray:
    """Shares, none of them zero."""
    return np.asarray((counts + SMOOTHING) / (counts + SMOOTHING).sum())


def _equal_properties(
    values: ComparableValues,
    pair: Pair,
    anchors: tuple[np.ndarray, np.ndarray],
    known: Sequence[set[str]],
    wrong: float,
) -> list[tuple[str, str]]:
    """Pairs of properties with equal keys in many anchors that are not wrong, the best first; each property once."""
    keys, least = (values.keys[pair[0]], values.keys[pair[1]]), LEAST_AGREEMENT * (1 - wrong)
    found = agreeing_properties(keys, anchors, known, least * FEWEST_ANCHORS)
    shares = [
        (-agreeing / both, -both, one, other)
        for one, other, agreeing, both in found
        if both >= FEWEST_ANCHORS and agreeing / both >= least
    ]
    chosen: dict[str, str] = {}
    for _, _, one, other in sorted(shares):
        if one not in chosen and other not in chosen.values():
            chosen[one] = other
    return list(chosen.items())
