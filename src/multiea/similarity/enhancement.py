"""Similarities of all pairs of KGs, with paths through third KGs, for any number of KGs (eqs. 15-17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby, pairwise, permutations

import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.settings.engines import PROPAGATION_WEIGHTS
from multiea.settings.enhancement import Enhancement
from multiea.similarity.direct_scores import Comparison, KnownPairs, compare, direct_scores
from multiea.similarity.matrices import (
    Cosines,
    Dense,
    EuclideanSimilarities,
    Matrix,
    blocks,
    dense_if_small,
    multiply_rows,
)
from multiea.similarity.sinkhorn import sinkhorn
from multiea.similarity.sparse_scores import NEGLIGIBLE, SparseScores
from multiea.similarity.sparse_sinkhorn import normalise
from multiea.similarity.weights import MIXINGS, Mixing, Weights

Pair = tuple[int, int]
Pairs = dict[Pair, Matrix]
CANDIDATES_PER_STEP = 10  # candidates in a third KG from which paths continue
FINAL_SWEEPS = 10  # of Sinkhorn, after paths were added


def similarities(candidates: Sequence[Tensor], enhancement: Enhancement) -> Pairs:
    """For each ordered pair of KGs the scores of the candidates of one against those of the other.

    candidates: for each KG the embeddings of its candidates, (n, d), of unit length.
    """
    if enhancement.candidates is not None:
        return sparse_similarities(Comparison.of(candidates), enhancement)[0]
    if enhancement.mode in ("product", "profile"):  # their sums are too close for single precision
        candidates = [part.double() for part in candidates]
    direct = _sinkhorn_of_pairs(candidates, enhancement) if enhancement.mode == "sharpened" else _euclidean(candidates)
    if enhancement.mode == "none" or len(candidates) == 2:
        return direct
    first, last = direct, direct
    if enhancement.mode == "profile":
        lengths = {pair: _row_lengths(matrix) for pair, matrix in direct.items()}
        first = {pair: ScaledMatrix(matrix, 1 / lengths[pair], None) for pair, matrix in direct.items()}
        last = {(a, b): ScaledMatrix(matrix, None, 1 / lengths[b, a]) for (a, b), matrix in direct.items()}
    enhanced = {
        pair: EnhancedMatrix(pair, direct, first, last, enhancement.weights, len(candidates)) for pair in direct
    }
    return _dense_both_ways(dict(enhanced))


class EnhancedMatrix(Matrix):
    """The weighted sum of a pair's direct scores and of the scores of all paths through third KGs."""

    def __init__(
        self, pair: Pair, direct: Pairs, first: Pairs, last: Pairs, weights: Sequence[float], kgs: int
    ) -> None:
        self._direct, self.shape = direct[pair], direct[pair].shape
        thirds = [kg for kg in range(kgs) if kg not in pair]
        used = weights[: len(thirds) + 1]
        self._direct_weight = used[0] / sum(used)
        self._paths: list[tuple[float, list[Matrix]]] = []
        for length, weight in enumerate(used[1:], start=1):
            routes = [list(pairwise((pair[0], *route, pair[1]))) for route in permutations(thirds, length)]
            for route in routes:
                steps = [first[route[0]], *(direct[step] for step in route[1:-1]), last[route[-1]]]
                self._paths.append((weight / sum(used) / len(routes), steps))

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        total = self._direct.rows(which) * self._direct_weight
        for weight, (start, *steps) in self._paths:
            reached = start.rows(which)
            for step in steps:
                reached = multiply_rows(reached, step)
            total.add_(reached, alpha=weight)
        return total


class ScaledMatrix(Matrix):
    """A matrix whose rows and columns are multiplied by factors."""

    def __init__(self, matrix: Matrix, row_factors: Tensor | None, column_factors: Tensor | None) -> None:
        self._matrix, self._row_factors, self._column_factors = matrix, row_factors, column_factors
        self.shape = matrix.shape

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        block = self._matrix.rows(which)
        block = block if self._row_factors is None else block * self._row_factors[which, None]
        return block if self._column_factors is None else block * self._column_factors


def sparse_similarities(comparison: Comparison, enhancement: Enhancement) -> tuple[Pairs, Weights]:
    """The same with the best candidates of each entity only, by all evidence; and the weights of the evidence.

    Where known pairs teach the weights and there are third KGs, they also choose how direct scores and paths are mixed:
    the way that ranks most of their members first.
    """
    compared, weights = compare(comparison, enhancement)
    known, keeps_rest = comparison.known, comparison.evidence is not None
    if known is None or not keeps_rest or len(comparison.sizes) == 2 or enhancement.mode != "sharpened":
        direct = direct_scores(compared, comparison, enhancement, weights.mixing)
        return with_paths(direct, enhancement, weights.mixing, keeps_rest=keeps_rest), weights
    shares: dict[Mixing, float] = {}
    for _, mixings in groupby(MIXINGS, key=lambda mixing: mixing.is_softer):
        first, *others = mixings
        direct = direct_scores(compared, comparison, enhancement, first)
        for mixing in (first, *others):
            scores = with_paths(direct, enhancement, mixing, keeps_rest=keeps_rest)
            shares[mixing] = _share_ranked_first(scores, known)
    best = max(shares, key=lambda mixing: shares[mixing])
    if best != mixing:  # computed again: to keep the scores of two mixings takes much memory
        del scores
        direct = direct_scores(compared, comparison, enhancement, best)
        scores = with_paths(direct, enhancement, best, keeps_rest=keeps_rest)
    return scores, replace(weights, mixing=best)


def with_paths(
    direct: Mapping[Pair, SparseScores], enhancement: Enhancement, mixing: Mixing, *, keeps_rest: bool
) -> Pairs:
    """Direct scores with paths through third KGs added, where the mode asks for it.

    keeps_rest: whether the mass that goes to no candidate stays there: an entity with only weak candidates is then
    certain of none.
    """
    weights, kgs = enhancement.weights, sorted({kg for pair in direct for kg in pair})
    if enhancement.mode != "sharpened" or len(kgs) == 2 or len(weights) == 1 or not weights[1]:
        return dict(direct)
    best = {pair: scores.top(CANDIDATES_PER_STEP, above=NEGLIGIBLE) for pair, scores in direct.items()}
    direct_weight, weight = (part / sum(weights) for part in weights)
    if mixing.direct_share is not None and weights == PROPAGATION_WEIGHTS:  # otherwise the user has decided
        direct_weight, weight = mixing.direct_share, 1 - mixing.direct_share
    enhanced: Pairs = {}
    for a, b in combinations(kgs, 2):
        thirds = [kg for kg in kgs if kg not in (a, b) and direct[a, kg].shape[1]]
        shape = direct[a, b].shape
        paths = [two_step_paths(best[a, via], best[via, b], shape[1]) for via in thirds]
        keys = torch.cat([direct[a, b].keys, *(keys for keys, _ in paths)])
        through_thirds = [values * (weight / len(thirds)) for _, values in paths]
        values = torch.cat([direct[a, b].values * direct_weight, *through_thirds])
        rest = None
        if keeps_rest:
            shares = (direct_weight, weight / max(len(thirds), 1))
            rest = (_rest(direct, best, (a, b), thirds, shares), _rest(direct, best, (b, a), thirds, shares))
        scores = normalise(SparseScores.summed(keys, values, shape), FINAL_SWEEPS, rest)
        enhanced |= {(a, b): scores, (b, a): scores.transposed()}
    return enhanced


def _rest(
    direct: Mapping[Pair, SparseScores],
    best: Mapping[Pair, tuple[Tensor, Tensor]],
    pair: Pair,
    thirds: Sequence[int],
    shares: tuple[float, float],
) -> Tensor:
    """For each row the mass that reaches no candidate: directly, or in a third KG from where no path goes on.

    A third KG in which the row has no counterpart says nothing. shares: of direct scores, and of each third KG.
    """
    rest = shares[0] * (1 - _row_sums(direct[pair])).clamp(min=0)
    for via in thirds:
        column, score = best[pair[0], via]
        goes_on = best[via, pair[1]][1].sum(1).double()[column.clamp(min=0)].clamp(max=1)
        rest += shares[1] * (score.double() * (1 - goes_on)).sum(1).clamp(min=0)
    return rest


def _row_sums(scores: SparseScores) -> Tensor:
    return scores.values.new_zeros(scores.shape[0], dtype=torch.float64).index_add_(
        0, scores.row, scores.values.double()
    )


def _share_ranked_first(scores: Pairs, known: KnownPairs) -> float:
    """The share of known pairs that rank first, ties counted by half, in both directions."""
    first = total = 0.0
    for (a, b), ends in known.items():
        rows, columns = (torch.from_numpy(part) for part in ends)
        for matrix, one, other in ((scores[a, b], rows, columns), (scores[b, a], columns, rows)):
            better, tied = matrix.better_and_tied(one, other)
            first += float(((better == 0) / tied.clamp(min=1)).sum())
            total += len(one)
    return first / max(total, 1.0)


def two_step_paths(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], columns: int) -> tuple[Tensor, Tensor]:
    """Paths through a third KG: keys and values of the product of two matrices, each given by its best columns.

    first: for each row its best candidates in the third KG and their scores, (rows, n) each; second: for each of those
    the best candidates in the target. Keys may repeat; their values are to be summed.
    """
    via, score = first
    target, second_score = (part[via.clamp(min=0)] for part in second)  # (rows, n, n)
    value = score[:, :, None] * second_score
    row = torch.arange(len(via), device=via.device)[:, None, None]
    kept = (via[:, :, None] != ABSENT) & (target != ABSENT) & (value > NEGLIGIBLE)
    return (row * columns + target)[kept], value[kept]


def _euclidean(candidates: Sequence[Tensor]) -> Pairs:
    ordered = permutations(range(len(candidates)), 2)
    return _dense_both_ways({(a, b): EuclideanSimilarities(candidates[a], candidates[b]) for a, b in ordered})


def _sinkhorn_of_pairs(candidates: Sequence[Tensor], enhancement: Enhancement) -> Pairs:
    pairs: Pairs = {}
    for a, b in combinations(range(len(candidates)), 2):
        cosines = dense_if_small(Cosines(candidates[a], candidates[b]), among=1)
        matrix = sinkhorn(cosines, enhancement.temperature, enhancement.sweeps)
        transposed = matrix.transposed(Cosines(candidates[b], candidates[a]))
        pairs |= _dense_both_ways({(a, b): matrix, (b, a): transposed}, kgs=len(candidates))
    return pairs


def _dense_both_ways(pairs: Pairs, kgs: int = 0) -> Pairs:
    """Small matrices made dense, once for both directions: one is the transpose of the other."""
    kgs = kgs or 1 + max((pair[0] for pair in pairs), default=0)
    result = dict(pairs)
    for (a, b), matrix in pairs.items():
        if a < b and isinstance(dense := dense_if_small(matrix, among=kgs * (kgs - 1) // 2), Dense):
            result[a, b], result[b, a] = dense, dense.transposed()
    return result


def _row_lengths(matrix: Matrix) -> Tensor:
    return torch.cat([block.norm(dim=1) for _, block in blocks(matrix)]).clamp(min=1e-12)
