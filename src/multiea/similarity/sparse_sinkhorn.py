"""Sinkhorn on sparse scores: only the entries are scaled; all other candidates are represented by an estimate."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from multiea.graph.sparse import csr
from multiea.similarity.int8_embeddings import Int8Embeddings
from multiea.similarity.matrices import BLOCK_NUMBERS
from multiea.similarity.sparse_scores import SparseScores

LOWEST_SINGLE_TEMPERATURE = 0.02  # below, exponentials may vanish in single precision
SAMPLE = 256  # candidates from which the mass of all others is estimated


@dataclass(frozen=True)
class OtherCandidates:
    """Cosines with a sample of all candidates, from which the mass of those without a score is estimated.

    rows, columns: of each row and of each column with a sample of the others, (n, sample) each. no_counterpart: of one
    more candidate, which stands for having no counterpart, the similarity beside structure; None for no such candidate.
    """

    rows: Tensor
    columns: Tensor
    no_counterpart: float | None = None

    @classmethod
    def of(cls, left: Int8Embeddings, right: Int8Embeddings) -> OtherCandidates:
        """Sampled from the embeddings of both sides."""
        return cls(_sampled(left, right), _sampled(right, left))


def sinkhorn_sparse(scores: SparseScores, others: OtherCandidates, temperature: float, sweeps: int) -> SparseScores:
    """exp(score / temperature), rows and columns scaled towards a sum of one.

    The mass that all other candidates would take is estimated from a sample and given to no entry: an entity with only
    weak candidates is certain of none.
    """
    highest = max(float(scores.values.amax()) if len(scores.values) else 0.0, 0.0)
    row_rest = _rest(scores, others.rows, highest, temperature)
    column_rest = _rest(scores.transposed(), others.columns, highest, temperature)
    if others.no_counterpart is not None:  # by structure it is as similar as others are on average
        level = others.no_counterpart - highest
        row_rest = row_rest + _mass(level + others.rows.double().mean(1), temperature)
        column_rest = column_rest + _mass(level + others.columns.double().mean(1), temperature)
    exponential = scores.with_values(torch.exp((scores.values.double() - highest) / temperature))
    return normalise(exponential, sweeps, (row_rest, column_rest))


def normalise(scores: SparseScores, sweeps: int, rest: tuple[Tensor, Tensor] | None = None) -> SparseScores:
    """Scales rows and columns at the same time, each by half of the required factor, so that KG order has no effect.

    rest: the mass of each row and of each column that belongs to no entry, before scaling.
    """
    transposed = scores.transposed()
    values = scores.values.double()
    row_rest, column_rest = rest if rest is not None else (values.new_zeros(1), values.new_zeros(1))
    matrix = csr(scores.starts, scores.column, values, scores.shape)
    transposed_matrix = csr(transposed.starts, transposed.column, transposed.values.double(), transposed.shape)
    row_factors, column_factors = values.new_ones(scores.shape[0]), values.new_ones(scores.shape[1])
    row_shares, column_shares = _shares(scores), _shares(transposed)
    for _ in range(sweeps):  # the rest is scaled by the geometric mean of the factors
        row_sums = matrix @ column_factors + row_rest * (column_factors.log() @ column_shares).exp()
        column_sums = transposed_matrix @ row_factors + column_rest * (row_factors.log() @ row_shares).exp()
        row_factors = torch.where(row_shares > 0, (row_factors / row_sums.clamp(min=1e-200)).sqrt(), 1.0)
        column_factors = torch.where(column_shares > 0, (column_factors / column_sums.clamp(min=1e-200)).sqrt(), 1.0)
    return scores.with_values(
        (values * row_factors.index_select(0, scores.row) * column_factors.index_select(0, scores.column)).float()
    )


def _sampled(left: Int8Embeddings, right: Int8Embeddings) -> Tensor:
    """The cosines of each row with a sample of the columns."""
    sample = right[:: max(1, len(right) // SAMPLE)]
    size = max(1, BLOCK_NUMBERS // max(1, len(sample)))
    return torch.cat([left[start : start + size].cosines(sample) for start in range(0, max(len(left), 1), size)])


def _rest(scores: SparseScores, sampled: Tensor, highest: float, temperature: float) -> Tensor:
    """For each row the estimated mass of all columns that are not its candidates, (rows,)."""
    counts = scores.starts[1:] - scores.starts[:-1]
    lowest = scores.values.new_full((scores.shape[0],), torch.inf).scatter_reduce(0, scores.row, scores.values, "amin")
    parts = []
    size = max(1, BLOCK_NUMBERS // max(1, sampled.shape[1]))
    for start in range(0, len(sampled), size):
        rows = slice(start, start + size)
        cosines = torch.minimum(sampled[rows], lowest[rows, None])
        if temperature < LOWEST_SINGLE_TEMPERATURE:
            cosines = cosines.double()
        parts.append(cosines.sub_(highest).div_(temperature).exp_().mean(1))
    return torch.cat(parts).double() * (scores.shape[1] - counts)


def _mass(score: Tensor, temperature: float) -> Tensor:
    return (score / temperature).clamp(max=700.0).exp()


def _shares(scores: SparseScores) -> Tensor:
    """The weight of each row in a mean over the rows that have candidates."""
    has_candidates = (scores.starts[1:] > scores.starts[:-1]).double()
    return has_candidates / has_candidates.sum().clamp(min=1)
