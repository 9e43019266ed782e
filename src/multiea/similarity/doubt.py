"""Doubt: which similarity by names and attributes a candidate has that is as probably wrong as right."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

RIVAL_QUANTILE = 0.9  # of the similarities of second best candidates
MATCH_QUANTILE = 0.75  # of the similarities of best candidates
DOUBTFUL_SHARE = 0.3  # of the way from the one to the other


def doubtful_similarity(added: sp.csr_array) -> float | None:
    """Of a candidate whose names and attributes are doubtful, and whose embedding agrees in nothing.

    By all kinds but the embeddings it lies between high second best candidates and good best ones: a best one below is
    probably wrong, unless its embedding speaks for it. None where no pair has such evidence. added: the similarities by
    all kinds but the embeddings.
    """
    best = [_two_best(side) for side in (added, added.T.tocsr())]
    first, second = (np.concatenate([side[place] for side in best]) for place in (0, 1))
    first, second = first[first > 0], second[second > 0]
    if not len(first):
        return None
    rival = float(np.quantile(second, RIVAL_QUANTILE)) if len(second) else 0.0
    return rival + DOUBTFUL_SHARE * max(float(np.quantile(first, MATCH_QUANTILE)) - rival, 0.0)


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
