"""Sparse matrix products with gradients, for a fixed sparsity pattern whose values change from step to step.

Each of the two operators is the gradient of the other, so training never builds a tensor of edges x dimensions.
"""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import torch
from torch import Tensor

with warnings.catch_warnings():  # torch warns once that its CSR tensors are in beta
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.tensor([0, 0]), torch.tensor([], dtype=torch.int64), torch.tensor([]), (1, 1))


class SparsityPattern:
    """The entries of a sparse (rows, columns) matrix, made from edges of which several may share an entry.

    entry: (edges,) the entry of each edge; entries are numbered row by row.
    """

    def __init__(self, row: Tensor, column: Tensor, shape: tuple[int, int]) -> None:
        keys, order, is_first = sorted_unique(row * shape[1] + column)
        self.entry = torch.empty_like(order).index_put_((order,), is_first.cumsum(0) - 1)
        rows, columns = keys // shape[1], keys % shape[1]
        self.shape = shape
        self._forward = _compressed(rows, columns, shape[0])
        self._repeated: dict[int, tuple[Tensor, Tensor, Tensor]] = {}  # by how often
        self._order = torch.argsort(columns, stable=True)
        self._backward = _compressed(columns[self._order], rows[self._order], shape[1])

    @property
    def entries(self) -> int:
        """The number of entries."""
        return len(self._forward[1])

    @property
    def starts(self) -> Tensor:
        """The first entry of each row, and at the end the number of entries."""
        return self._forward[0]

    def rows(self, start: int, stop: int) -> SparsityPattern:
        """Some rows, to multiply with; edges are not known to it."""
        part = copy(self)
        part.shape = (stop - start, self.shape[1])
        part._forward, part._repeated = _rows_of(*self._forward, start, stop), {}
        return part

    def sum_edges(self, values: Tensor) -> Tensor:
        """Values of edges, (edges,), summed per entry, (entries,)."""
        return values.new_zeros(self.entries).index_add(0, self.entry, values)

    def matrix(self, values: Tensor) -> Tensor:
        """The sparse matrix with these values."""
        return csr(*self._forward, values, self.shape)

    def repeated(self, values: Tensor) -> Tensor:
        """A matrix that multiplies `times` matrices, one below the other, by the pattern with values of their own.

        values: (times, entries). The product has the first row for each of them, then the second, and so on: seen as
        (rows, times * width), the products are side by side.
        """
        times, (rows, columns) = len(values), self.shape
        if times == 1:
            return self.matrix(values[0])
        if times not in self._repeated:
            self._repeated[times] = self._alternating(times)
        starts, places, source = self._repeated[times]
        return csr(starts, places, values.flatten().index_select(0, source), (times * rows, times * columns))

    def _alternating(self, times: int) -> tuple[Tensor, Tensor, Tensor]:
        """The row starts and columns of a repeated pattern, and for each entry its place among all values."""
        starts, places = self._forward
        counts = starts.diff().repeat_interleave(times)
        row = torch.repeat_interleave(counts)
        ends = counts.cumsum(0)
        block = row % times
        entry = torch.arange(len(row), device=row.device) + (starts[:-1].repeat_interleave(times) - ends + counts)[row]
        all_starts = torch.cat([starts[:1], ends])
        return all_starts, places[entry] + block * self.shape[1], block * self.entries + entry

    def transposed(self, values: Tensor) -> Tensor:
        """The transposed matrix with these values."""
        return csr(*self._backward, values[self._order], (self.shape[1], self.shape[0]))


def sorted_unique(keys: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct keys, rising; the order that sorts all keys; and in that order whether a key appears first."""
    keys, order = torch.sort(keys)
    is_first = torch.ones_like(keys, dtype=torch.bool)
    is_first[1:] = keys[1:] != keys[:-1]
    return keys[is_first], order, is_first


def multiply(pattern: SparsityPattern, values: Tensor, dense: Tensor) -> Tensor:
    """Sparse times dense: (rows, columns) x (columns, d) -> (rows, d)."""
    result: Tensor = _Multiply.apply(pattern, values, dense)  # type: ignore[no-untyped-call]
    return result


def dot_products(pattern: SparsityPattern, left: Tensor, right: Tensor) -> Tensor:
    """For each entry (r, c) the dot product of left[r] and right[c]: (rows, d), (columns, d) -> (entries,)."""
    result: Tensor = _DotProducts.apply(pattern, left, right)  # type: ignore[no-untyped-call]
    return result


def gather_rows(dense: Tensor, index: Tensor) -> Tensor:
    """Rows of a dense matrix: (rows, d), (...) -> (..., d); the gradient is one sparse product."""
    result: Tensor = _GatherRows.apply(dense, index)  # type: ignore[no-untyped-call]
    return result


def softmax_over_rows(row: Tensor, logits: Tensor, rows: int) -> Tensor:
    """Softmax over the edges of each row, (edges,)."""
    largest = logits.new_full((rows,), -torch.inf).scatter_reduce(0, row, logits.detach(), "amax")
    exponential = torch.exp(logits - largest[row])
    total = exponential.new_zeros(rows).index_add(0, row, exponential)
    return exponential / total[row]


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsityPattern, values: Tensor, dense: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(values, dense)
        return pattern.matrix(values) @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        values, dense = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        wanted = ctx.needs_input_grad
        return (
            None,
            sampled_products(ctx.pattern.matrix(values), gradient, dense) if wanted[1] else None,
            ctx.pattern.transposed(values) @ gradient if wanted[2] else None,
        )


class _DotProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsityPattern, left: Tensor, right: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(left, right)
        return sampled_products(pattern.matrix(left.new_zeros(pattern.entries)), left, right)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        left, right = ctx.saved_tensors
        gradient, wanted = gradients[0].contiguous(), ctx.needs_input_grad
        return (
            None,
            ctx.pattern.matrix(gradient) @ right if wanted[1] else None,
            ctx.pattern.transposed(gradient) @ left if wanted[2] else None,
        )


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.rows, ctx.width = dense.shape
        return dense[index]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        index = ctx.saved_tensors[0].flatten()
        gradient = gradients[0].reshape(len(index), ctx.width)
        row, order = torch.sort(index, stable=True)
        starts, _ = _compressed(row, row, ctx.rows)
        ones = gradient.new_ones(len(index))
        return csr(starts, order, ones, (ctx.rows, len(index))) @ gradient, None


def sampled_products(entries: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """For each entry (r, c) of a sparse matrix the dot product of left[r] and right[c]; its values must be finite."""
    products: Tensor = torch.sparse.sampled_addmm(entries, left, right.t(), beta=0.0).values()
    return products


def rows_of(matrix: Tensor, start: int, stop: int) -> Tensor:
    """Some rows of a CSR matrix, without a copy of its values."""
    starts, columns, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    own = _rows_of(starts, columns, start, stop)
    return csr(*own, values[int(starts[start]) : int(starts[stop])], (stop - start, matrix.shape[1]))


def _rows_of(starts: Tensor, columns: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
    first, last = int(starts[start]), int(starts[stop])
    return starts[start : stop + 1] - first, columns[first:last]


def _compressed(rows: Tensor, columns: Tensor, count: int) -> tuple[Tensor, Tensor]:
    starts = torch.zeros(count + 1, dtype=torch.int64, device=rows.device)
    starts[1:] = torch.bincount(rows, minlength=count).cumsum(0)
    return starts, columns


def csr(starts: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A CSR matrix from row starts, columns and values; nothing is checked."""
    return torch.sparse_csr_tensor(starts, columns, values, shape, check_invariants=False)
