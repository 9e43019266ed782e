"""Scores of two large KGs: lists of candidates, Sinkhorn, and paths through third KGs, by kernels.

The same steps as for small KGs, one pair of KGs at a time; a candidate keeps fewer scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from multiea.kernels.compiling import use_threads
from multiea.kernels.pair_scores import (
    lowest_values,
    paths,
    scaled_rows,
    sorted_rows,
    sums_through,
    transposed,
    weighted_sums,
)
from multiea.settings.enhancement import Enhancement
from multiea.similarity.row_scores import Lists, RowScores, joint, sums_of_columns
from multiea.similarity.sides import Side
from multiea.similarity.sparse_scores import NEGLIGIBLE
from multiea.similarity.sparse_sinkhorn import mean_mass

ROWS_AT_ONCE = 1 << 14
FINAL_SWEEPS = 10  # of Sinkhorn, after paths were added


def sinkhorn(similarities: RowScores, left: Side, right: Side, enhancement: Enhancement, sample: int) -> RowScores:
    """exp(similarity / temperature), scaled towards rows and columns that sum to one; see sparse_sinkhorn.

    The mass of all candidates without entry is estimated from a sample of so many and given to no entry.
    """
    highest = float(similarities.values.max(initial=0.0))
    rest = [
        _rest(similarities, left, right, highest, enhancement.temperature, sample),
        _rest(similarities.transposed(), right, left, highest, enhancement.temperature, sample),
    ]
    exponential = np.exp((similarities.values - np.float32(highest)) / np.float32(enhancement.temperature))
    return normalised(similarities.with_values(exponential), enhancement.sweeps, rest)


def _rest(scores: RowScores, own: Side, others: Side, highest: float, temperature: float, sample: int) -> np.ndarray:
    """For each row the mass of all candidates without entry."""
    sampled = others.embeddings(slice(None, None, max(1, len(others) // sample)))
    lowest = torch.from_numpy(lowest_values(scores.starts, scores.values, np.inf))
    parts = [np.empty(0)]
    for start in range(0, len(own), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        cosines = own.embeddings(some).cosines(sampled)
        parts.append(mean_mass(cosines, lowest[some], highest, temperature).numpy())
    return np.asarray(np.concatenate(parts) * (len(others) - np.diff(scores.starts)))


def normalised(scores: RowScores, sweeps: int, rest: Sequence[np.ndarray]) -> RowScores:
    """Scales rows and columns at the same time, each by half of the required factor; rest: mass of no entry."""
    starts, row_of, place = transposed(scores.starts, scores.column, scores.shape[1])
    turned = scores.values[place]
    factors = [np.ones(size) for size in scores.shape]
    filled = [np.diff(scores.starts) > 0, np.diff(starts) > 0]
    for _ in range(sweeps if len(turned) else 0):
        sums = [
            weighted_sums(scores.starts, scores.column, scores.values, factors[1]),
            weighted_sums(starts, row_of, turned, factors[0]),
        ]
        means = [float(np.exp(np.log(factor[some]).mean())) for factor, some in zip(factors, filled, strict=True)]
        for side in (0, 1):
            total = np.maximum(sums[side] + rest[side] * means[1 - side], 1e-200)
            factors[side] = np.where(filled[side], np.sqrt(factors[side] / total), 1.0)
    values = scaled_rows(scores.starts, scores.column, scores.values, factors[0], factors[1])
    return scores.with_values(values).above(NEGLIGIBLE)


def with_paths(
    direct: RowScores, first: Sequence[Lists], second: Sequence[Lists], weights: tuple[float, float], kept: int
) -> RowScores:
    """Direct scores and paths through third KGs, normalised by Sinkhorn once more; weights: of both kinds.

    first: for each third KG the best steps of each row; second: those of its candidates into the columns. kept: how
    many scores of each row are kept; the mass of the others belongs to no entry.
    """
    use_threads()
    shares = np.float32(weights[0]), np.float32(weights[1] / len(first))
    columns = direct.shape[1]
    starts = np.cumsum([0, *(len(part[0]) for part in second)])
    stacked = np.stack([part[0] for part in first]), np.stack([part[1] for part in first])
    kept_columns, values, cut = paths(
        (direct.starts, direct.column, direct.values), shares, stacked, joint(second), starts, columns, kept
    )
    everything = shares[0] * sums_of_columns(direct)
    for one, other in zip(first, second, strict=True):
        reached = sums_through(*one, np.ones(len(one[0])), len(other[0]))
        everything += shares[1] * sums_through(*other, reached, columns)
    scores = RowScores(*sorted_rows(kept_columns, values), direct.shape)
    return normalised(scores, FINAL_SWEEPS, [cut, np.maximum(everything - sums_of_columns(scores), 0)])
