"""Sinkhorn on sparse scores: only the entries are scaled; all other candidates are represented by an estimate."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from multiea.engines.embeddings import Embeddings
from multiea.graph.sparse import csr
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.matrices import BLOCK_NUMBERS

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
    def of(cls, left: Embeddings, right: Embeddings, count: int = SAMPLE) -> OtherCandidates:
        """Sampled from the embeddings of both sides; count: of the sample."""
        return cls(_sampled(left, right, count), _sampled(right, left, count))

    @classmethod
    def of_products(cls, products: Tensor, left: Embeddings, right: Embeddings, count: int = SAMPLE) -> OtherCandidates:
        """The same, where the products of all pairs are there."""
        rows, columns = slice(None, None, _step(left, count)), slice(None, None, _step(right, count))
        return cls(
            left.as_cosines(products[:, columns].clone(memory_format=torch.contiguous_format), right[columns]),
            right.as_cosines(products[rows].t().clone(memory_format=torch.contiguous_format), left[rows]),
        )

    @classmethod
    def of_block(cls, block: Tensor, count: int) -> OtherCandidates:
        """The same, where the cosines of all pairs are there."""
        rows, columns = block.shape
        return cls(block[:, :: max(1, columns // count)].clone(), block[:: max(1, rows // count)].t().clone())

    def masses(
        self, lowest: tuple[Tensor, Tensor], unlisted: tuple[Tensor, Tensor], highest: float, temperature: float
    ) -> tuple[Tensor, Tensor]:
        """For each row and for each column the mass of all candidates without entry.

        lowest: of the entries of each; unlisted: the number of candidates without entry. highest: the score whose mass
        is one.
        """
        sides = []
        for sampled, least, count in zip((self.rows, self.columns), lowest, unlisted, strict=True):
            mass = mean_mass(sampled, least, highest, temperature) * count
            if self.no_counterpart is not None:  # by structure it is as similar as others are on average
                level = self.no_counterpart - highest + sampled.mean(1, dtype=torch.float64)
                mass = mass + (level / temperature).clamp(max=700.0).exp()
            sides.append(mass)
        return sides[0], sides[1]


def normalise(scores: BlockScores, sweeps: int, rest: Tensor | None = None) -> BlockScores:
    """Scales rows and columns of all blocks at the same time, each by half of the required factor.

    The order of KGs thus has no effect. rest: the mass of each candidate in each KG that belongs to no entry, before
    scaling, (candidates, KGs).
    """
    segments, values = scores.segments, scores.score.double()
    shape = (segments.count, segments.count)
    index = torch.int32 if max(segments.count, len(values)) < 2**31 else torch.int64  # the former is twice as fast
    halves = [
        csr(half.starts.to(index), half.mate.to(index), values.index_select(0, half.entry), shape)
        for half in segments.halves
    ]
    factors = values.new_ones(segments.candidates, segments.kgs)
    is_filled = segments.counts > 0
    means = _Means(segments.kg, is_filled)
    for _ in range(sweeps):
        sums = sum((half @ factors.view(-1) for half in halves), start=factors.new_zeros(())).view_as(factors)
        if rest is not None:  # the rest is scaled by the geometric mean of the factors of the other side
            sums += rest * means.of(factors.log()).t().exp().index_select(0, segments.kg)
        factors = torch.where(is_filled, (factors / sums.clamp(min=1e-200)).sqrt(), 1.0)
    first, second = (factors.view(-1).index_select(0, part) for part in (segments.first, segments.second))
    return scores.with_values((values * first * second).float())


class _Means:
    """Means over the candidates of each KG that have entries in each other KG. kg: of each candidate."""

    def __init__(self, kg: Tensor, is_filled: Tensor) -> None:
        self._kg, self._weights = kg, is_filled.double()
        self._counts = self._sums(self._weights).clamp(min=1)

    def of(self, numbers: Tensor) -> Tensor:
        """numbers: (candidates, KGs) -> (KGs, KGs)."""
        return self._sums(numbers * self._weights) / self._counts

    def _sums(self, numbers: Tensor) -> Tensor:
        kgs = numbers.shape[1]
        return numbers.new_zeros(kgs, kgs).index_add_(0, self._kg, numbers)


def _sampled(left: Embeddings, right: Embeddings, count: int) -> Tensor:
    """The cosines of each row with a sample of the columns."""
    sample = right[:: _step(right, count)]
    size = max(1, BLOCK_NUMBERS // max(1, len(sample)))
    return torch.cat([left[start : start + size].cosines(sample) for start in range(0, max(len(left), 1), size)])


def _step(embeddings: Embeddings, count: int) -> int:
    """Every how many embeddings one belongs to a sample."""
    return max(1, len(embeddings) // count)


def mean_mass(sampled: Tensor, lowest: Tensor, highest: float, temperature: float) -> Tensor:
    """For each row the mean mass of the columns that are not its candidates, estimated from a sample, (rows,)."""
    parts = []
    size = max(1, BLOCK_NUMBERS // max(1, sampled.shape[1]))
    for start in range(0, len(sampled), size):
        rows = slice(start, start + size)
        cosines = torch.minimum(sampled[rows], lowest[rows, None])
        if temperature < LOWEST_SINGLE_TEMPERATURE:
            cosines = cosines.double()
        parts.append(cosines.sub_(highest).div_(temperature).exp_().mean(1))
    return torch.cat(parts).double()
