"""Similarities of all pairs of KGs, with paths through third KGs, for any number of KGs (eqs. 15-17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby, pairwise, permutations

import numpy as np
import torch
from torch import Tensor

from multiea.settings.enhancement import Enhancement
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.direct_scores import Comparison, KnownPairs, compare, direct_scores
from multiea.similarity.many_kgs import are_compared_at_once
from multiea.similarity.matrices import (
    Cosines,
    Dense,
    EuclideanSimilarities,
    Matrix,
    blocks,
    dense_if_small,
    multiply_rows,
)
from multiea.similarity.paths import with_paths, with_paths_mixed
from multiea.similarity.sinkhorn import sinkhorn
from multiea.similarity.weights import MIXINGS, Weights

Pair = tuple[int, int]
Pairs = Mapping[Pair, Matrix]
MOST_KEPT = 1 << 22  # scores up to which those of the best mixing so far are kept


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
    if comparison.large is not None:
        from multiea.similarity.large_similarities import large_similarities  # deferred: small KGs need no numba

        return large_similarities(comparison.large, enhancement), comparison.weights
    if _are_compared_at_once(comparison, enhancement):
        from multiea.similarity.many_pairs import many_similarities  # deferred: few KGs need no numba

        return many_similarities(comparison, enhancement, comparison.weights.mixing.direct_share), comparison.weights
    compared, weights = compare(comparison, enhancement)
    known, keeps_rest = comparison.known, comparison.evidence is not None
    is_chosen = comparison.chooses_mixing and len(comparison.sizes) > 2 and enhancement.mode == "sharpened"
    if known is None or not keeps_rest or not is_chosen:
        with_uncontested = comparison.with_uncontested
        direct = direct_scores(compared, enhancement, weights.mixing, with_uncontested=with_uncontested)
        return with_paths(direct, enhancement, weights.mixing, keeps_rest=keeps_rest), weights
    best, highest, of_best = MIXINGS[0], -1.0, None
    for _, group in groupby(MIXINGS, key=lambda mixing: mixing.is_softer):
        mixings = list(group)
        direct = direct_scores(compared, enhancement, mixings[0])
        several = with_paths_mixed(direct, enhancement, mixings, keeps_rest=keeps_rest)
        for mixing, scores in zip(mixings, several, strict=True):
            share = _share_ranked_first(scores, known)
            if share > highest:
                best, highest = mixing, share
                of_best = scores if mixing == MIXINGS[-1] or len(scores.score) <= MOST_KEPT else None
    if of_best is None:  # computed again: to keep the scores of two mixings takes much memory
        direct = direct_scores(compared, enhancement, best)
        of_best = with_paths(direct, enhancement, best, keeps_rest=keeps_rest)
    return of_best, replace(weights, mixing=best)


def _are_compared_at_once(comparison: Comparison, enhancement: Enhancement) -> bool:
    """Whether kernels compare each KG with all later ones: where KGs and candidates are many, by structure alone."""
    if comparison.evidence is not None or comparison.signatures is not None or comparison.device.type != "cpu":
        return False
    has_paths = enhancement.mode == "sharpened" and len(enhancement.weights) == 2 and enhancement.weights[1] > 0
    return has_paths and are_compared_at_once(comparison.sizes)


def _share_ranked_first(scores: BlockScores, known: KnownPairs) -> float:
    """The share of known pairs that rank first, ties counted by half, in both directions."""
    starts = scores.segments.offsets
    ends = [(rows + starts[a], columns + starts[b]) for (a, b), (rows, columns) in known.items()]
    left, right = (torch.from_numpy(np.concatenate([pair[side] for pair in ends])) for side in (0, 1))
    better, tied = scores.better_and_tied(torch.cat([left, right]), torch.cat([right, left]))
    return float(((better == 0) / tied).sum()) / max(len(better), 1)


def _euclidean(candidates: Sequence[Tensor]) -> Pairs:
    ordered = permutations(range(len(candidates)), 2)
    return _dense_both_ways({(a, b): EuclideanSimilarities(candidates[a], candidates[b]) for a, b in ordered})


def _sinkhorn_of_pairs(candidates: Sequence[Tensor], enhancement: Enhancement) -> Pairs:
    pairs: dict[Pair, Matrix] = {}
    for a, b in combinations(range(len(candidates)), 2):
        cosines = dense_if_small(Cosines(candidates[a], candidates[b]), among=1)
        matrix = sinkhorn(cosines, enhancement.temperature, enhancement.sweeps)
        transposed = matrix.transposed(Cosines(candidates[b], candidates[a]))
        pairs |= _dense_both_ways({(a, b): matrix, (b, a): transposed}, kgs=len(candidates))
    return pairs


def _dense_both_ways(pairs: Pairs, kgs: int = 0) -> dict[Pair, Matrix]:
    """Small matrices made dense, once for both directions: one is the transpose of the other."""
    kgs = kgs or 1 + max((pair[0] for pair in pairs), default=0)
    result = dict(pairs)
    for (a, b), matrix in pairs.items():
        if a < b and isinstance(dense := dense_if_small(matrix, among=kgs * (kgs - 1) // 2), Dense):
            result[a, b], result[b, a] = dense, dense.transposed()
    return result


def _row_lengths(matrix: Matrix) -> Tensor:
    return torch.cat([block.norm(dim=1) for _, block in blocks(matrix)]).clamp(min=1e-12)
