"""Doubt: which similarity by names and attributes a candidate has that is as probably wrong as right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from multiea.evidence.conflicts import OpposedPairs
from multiea.graph.sparse_rows import values_at

RIVAL_QUANTILE = 0.9  # of the similarities of second best candidates
MATCH_QUANTILE = 0.75  # of the similarities of best candidates
DOUBTFUL_SHARE = 0.3  # of the way from the one to the other
SHARE_OF_CONFLICTS = 0.5  # that counts against rivals: with all of it, those with missing values would seem good
UNOPPOSED = 4.0  # log-odds above which a best match without rivals is nearly certain
LEAST_TOTAL = -0.5  # conflicts alone make a pair doubtful; they do not exclude it, since values may be wrong


@dataclass(frozen=True)
class Doubt:
    """similarity: of a candidate whose names and attributes are doubtful, and whose embedding agrees in nothing.

    By all kinds but the embeddings it lies between high second best candidates and good best ones: a best one below is
    probably wrong, unless its embedding speaks for it. match: of a good best candidate.
    """

    similarity: float
    match: float

    @classmethod
    def of(cls, added: sp.csr_array) -> Doubt | None:
        """added: the similarities by all kinds but the embeddings. None where no pair has such evidence."""
        best = [_two_best(side) for side in (added, added.T.tocsr())]
        first, second = (np.concatenate([side[place] for side in best]) for place in (0, 1))
        first, second = first[first > 0], second[second > 0]
        if not len(first):
            return None
        rival = float(np.quantile(second, RIVAL_QUANTILE)) if len(second) else 0.0
        match = float(np.quantile(first, MATCH_QUANTILE))
        return cls(rival + DOUBTFUL_SHARE * max(match - rival, 0.0), match)

    @property
    def without_rivals(self) -> float:
        """The similarity at which two entities that have only each other are a doubtful match.

        Sinkhorn scales both until they are nearly each other's, unless they are as far below the doubtful candidate as
        a good match is above it: having no counterpart is scaled as good matches are.
        """
        return 2 * self.similarity - self.match


def weighed_conflicts(added: sp.csr_array, opposed: OpposedPairs, total: float) -> tuple[sp.csr_array, Doubt | None]:
    """What conflicts take from the log-odds of candidates, below zero; and the doubt.

    A conflict is subtracted. However similar the names are, a pair then has at most the log-odds that all its values
    have, relative to a doubtful match. added: the similarities; total: what they are multiplied by to be log-odds.
    """
    half = (added + opposed.against * np.float32(SHARE_OF_CONFLICTS / total)).tocsr()
    doubt = Doubt.of(half)
    if doubt is None:
        return opposed.against, None
    entries = opposed.against.tocoo()
    own = values_at(added, entries.row, entries.col) * total
    said = np.maximum(values_at(opposed.total, entries.row, entries.col), LEAST_TOTAL)
    most = doubt.without_rivals * total + UNOPPOSED + said
    taken = np.minimum(own + entries.data, most) - own
    return sp.csr_array((taken.astype(np.float32), (entries.row, entries.col)), shape=added.shape), doubt


def _two_best(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The highest and the second highest value of each row, zero without one."""
    counts = np.diff(matrix.indptr)
    row = np.repeat(np.arange(matrix.shape[0]), counts)
    ordered = matrix.data[np.lexsort((-matrix.data, row))]
    first, second = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[0])
    first[counts > 0] = ordered[matrix.indptr[:-1][counts > 0]]
    second[counts > 1] = ordered[matrix.indptr[:-1][counts > 1] + 1]
    return first, second
