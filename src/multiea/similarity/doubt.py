"""Doubt: which similarity by names and attributes a candidate has that is as probably wrong as right."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
import torch

from multiea.similarity.block_scores import BlockScores

Pair = tuple[int, int]
RIVAL_QUANTILE = 0.9  # of the similarities of second best candidates
MATCH_QUANTILE = 0.75  # of the similarities of best candidates
LEAST_MATCH = 0.55  # what good best candidates have at least, of what they would have where all agrees
# How much of the rivals, of what matches are above them, and of what matches lack. With structure, names may be weak.
SHARES, SHARES_WITH_STRUCTURE = (0.85, 0.1, 0.8), (1.0, 0.3, 0.0)
CAUTION = 0.5  # of the log-odds against a doubtful candidate; the rest is left to calibration
ODDS_AGAINST = 1.0  # log-odds against a candidate that is just doubtful
HALF_CONFIDENCE = 1.0  # log-odds below which what is doubtful has a confidence of a half without seeds
CAUTION_ABOVE_CHANCE = 3.0  # log-odds by which a candidate must be better than the best that chance brings
SURPLUS = 2  # candidates for each that chance brings
LEAST_SURPLUS = 4.0  # entities with candidates that chance does not explain: fewer may be chance as well
REPEATED = 0.8  # similarity inside a KG from which two entities may be the same
DEVIATIONS = 2.0  # standard deviations by which chance may bring more than it did among lookalikes
MANY_NAMESAKES = 0.2  # share of equal names: with so many what is doubtful follows from lookalikes alone
ROUNDS = 5  # in which the share of entities without a counterpart is estimated
ENOUGH = 1 / 3  # share of all entities of a small table: that many beyond chance are no chance, significant or not


def doubtful_similarity(added: sp.csr_array, most: float, *, with_structure: bool) -> float | None:
    """Of a candidate whose names and attributes are doubtful, and whose embedding agrees in nothing.

    By all kinds but the embeddings it is about as similar as a high second best candidate: a best one below is probably
    wrong, unless its embedding speaks for it. Where even good best candidates are hardly similar, there may be no
    counterparts at all, and more is asked for. None where no pair has such evidence. added: the similarities by all
    kinds but the embeddings; most: what they are where all agrees. with_structure: whether embeddings are compared.
    """
    best = [_two_best(side) for side in (added, added.T.tocsr())]
    first, second = (np.concatenate([side[place] for side in best]) for place in (0, 1))
    first, second = first[first > 0], second[second > 0]
    if not len(first):
        return None
    rival = float(np.quantile(second, RIVAL_QUANTILE)) if len(second) else 0.0
    match = float(np.quantile(first, MATCH_QUANTILE))
    parts = rival, max(match - rival, 0.0), max(LEAST_MATCH * most - match, 0.0)
    return float(np.dot(parts, SHARES_WITH_STRUCTURE if with_structure else SHARES))


def similarity_by_chance(
    candidates: sp.csr_array, lookalikes: tuple[sp.csr_array, sp.csr_array], *, with_names: bool
) -> float | None:
    """What the best candidates reach by chance, if none of them are better than chance: else None.

    Two entities of one KG are not the same, so what the best of them have in common is chance: namesakes, a shared
    date, a near number. If entities of two KGs find candidates no better than an entity finds inside its own KG, there
    are probably no counterparts. Counted from the most similar on, candidates have to be clearly more than twice as
    many as lookalikes. One of the KGs may repeat entities: in the other they do stand out. Where both do, lookalikes
    that agree in nearly everything, names included, are not counted. candidates: the similarities of entities of two
    KGs; lookalikes: the same of some entities of each KG to its others.
    """
    best = [_two_best(side)[0] for side in (candidates, candidates.T.tocsr())]
    others = map(_unequal, lookalikes) if with_names else lookalikes
    inside = [_two_best(side)[0] for side in [*others][::-1]]  # entities of a look among those of b
    if not all(map(len, (*best, *inside))):
        return None
    if any(_stand_out(found, chance) for found, chance in zip(best, inside, strict=True)):  # one KG may repeat entities
        return None
    return float(max(one.max() for one in inside))


def similarity_half_by_chance(candidates: sp.csr_array, lookalikes: tuple[sp.csr_array, sp.csr_array]) -> float | None:
    """The similarity at which chance explains half of the best candidates, though others stand out; None if unknown.

    Two sources with few entities in common have namesakes among their best candidates, about as many as inside them.
    Counted from the most similar on, mutual best candidates less twice what chance brings grow until half of them are
    chance. Only entities without a counterpart, in both KGs, are left to chance.
    """
    mutual, sizes = _mutual_best(candidates), candidates.shape
    inside = [_two_best(_unequal(side))[0] for side in lookalikes][::-1]
    if not len(mutual) or not all(map(len, inside)):
        return None
    value = np.unique(np.concatenate([mutual, *inside]))
    found = _as_high(mutual, value)
    by_side = [_as_high(side, value) * (size / len(side)) for side, size in zip(inside, sizes, strict=True)]
    chance = (by_side[0] + by_side[1]) / 2
    place, alone = 0, 1.0
    for _ in range(ROUNDS):
        place = int((found - SURPLUS * alone * chance).argmax())
        right = max(float((found - alone * chance)[place]), 0.0)
        alone = float(np.prod([1 - min(right / size, 1.0) for size in sizes]))
    return float(value[place])


def _as_high(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """How many values are at least as high as each limit."""
    return np.asarray(len(values) - np.searchsorted(np.sort(values), limits))


def _mutual_best(matrix: sp.csr_array) -> np.ndarray:
    """The similarities of pairs that are each other's best."""
    entries = matrix.tocoo()
    highest = [np.zeros(size) for size in matrix.shape]
    for best, ends in zip(highest, (entries.row, entries.col), strict=True):
        np.maximum.at(best, ends, entries.data)
    is_best = (entries.data > 0) & (entries.data == highest[0][entries.row]) & (entries.data == highest[1][entries.col])
    return np.asarray(entries.data[is_best])


def _stand_out(best: np.ndarray, inside: np.ndarray) -> bool:
    """Whether best candidates in a KG are clearly more similar than entities inside it are to each other."""
    value = np.concatenate([best, inside])
    order = np.argsort(-value, kind="stable")
    is_candidate = order < len(best)
    found, chance = np.cumsum(is_candidate), np.cumsum(~is_candidate) * (len(best) / len(inside))
    deviation = DEVIATIONS * np.sqrt(2 * chance) + DEVIATIONS**2  # by which it may bring more; pairs count twice
    needed = np.minimum(LEAST_SURPLUS + SURPLUS * deviation, ENOUGH * len(best))
    is_last = np.r_[np.diff(value[order]) != 0, True]  # equal values count together
    return bool((found - SURPLUS * chance >= needed)[is_last].any())


def _unequal(similarity: sp.csr_array) -> sp.csr_array:
    """Without pairs that agree in nearly everything: these may be one entity twice."""
    return sp.csr_array(
        (np.where(similarity.data < REPEATED, similarity.data, 0), similarity.indices, similarity.indptr),
        shape=similarity.shape,
    )


def lower_doubtful(
    scores: BlockScores,
    similarities: BlockScores,
    doubtful: Mapping[Pair, float | None],
    temperatures: Mapping[Pair, float],
) -> BlockScores:
    """Lower scores of entities whose best candidate is doubtful; scores: made from these similarities by Sinkhorn.

    Sinkhorn compares the candidates of an entity with each other: of several that all are poor, one may still get a
    high score. A score is lowered by the doubt about the best candidate of its two ends, of which the more doubtful
    one counts. doubtful, temperatures: of pairs of KGs (a < b); without a doubtful similarity, a pair stays as it is.
    """
    segments = similarities.segments
    best = similarities.score.new_full((segments.count,), -torch.inf)
    for ends in (segments.first, segments.second):
        best.scatter_reduce_(0, ends, similarities.score, "amax")
    level = best.new_full((segments.kgs, segments.kgs), -torch.inf, dtype=torch.float64)
    scale = torch.ones_like(level)
    for (a, b), one in doubtful.items():
        if one is not None:
            level[a, b] = level[b, a] = one
            scale[a, b] = scale[b, a] = temperatures[a, b]
    best = best.view(segments.candidates, segments.kgs).double()
    log_odds = (best - level[segments.kg]) / scale[segments.kg] - ODDS_AGAINST
    factor = torch.sigmoid(log_odds.nan_to_num(nan=0.0) * CAUTION).flatten()
    both = torch.minimum(*(factor.index_select(0, ends) for ends in (segments.first, segments.second)))
    return scores.with_values((scores.score.double() * both).float())


def _two_best(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The highest and the second highest value of each row, zero without one or if it is negative."""
    counts = np.diff(matrix.indptr)
    filled = counts > 0
    first, second = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[0])
    if filled.any():
        starts = matrix.indptr[:-1][filled]
        highest = np.maximum.reduceat(matrix.data, starts)
        is_highest = matrix.data == np.repeat(highest, counts[filled])
        is_shared = np.add.reduceat(is_highest.astype(np.int64), starts) > 1
        others = np.maximum.reduceat(np.where(is_highest, 0, matrix.data), starts)
        first[filled], second[filled] = np.maximum(highest, 0), np.maximum(np.where(is_shared, highest, others), 0)
    return first, second
