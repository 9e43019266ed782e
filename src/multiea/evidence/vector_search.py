"""Nearest vectors: the most similar pairs of the vectors of a name model.

Up to a size all pairs are compared, block by block. Above it vectors are divided into cells, each around one of them,
and a vector is compared with those of the cells nearest to it (an inverted file): the cost grows as n ** 1.5.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from multiea.graph.top_entries import top_entries

EXACT_PAIRS = 2e9  # up to this many pairs all are compared: about a minute on two cores
BLOCK_NUMBERS = 1 << 24
NEAREST_CELLS = 16  # that a vector is compared with
QUERIES_AT_ONCE = 1 << 16

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def nearest_vectors(left: np.ndarray, right: np.ndarray, count: int, least: float) -> Pairs:
    """For each row of either matrix the `count` most similar rows of the other: row, other row, product.

    Each pair comes once. least: the lowest product that counts.
    """
    one, other = torch.from_numpy(np.asarray(left)), torch.from_numpy(np.asarray(right))
    is_exact = len(one) * len(other) <= EXACT_PAIRS
    rows, columns, values = [], [], []
    for flipped, (queries, targets) in enumerate(((one, other), (other, one))):
        found = _of_all(queries, targets, count) if is_exact else _of_cells(queries, targets, count)
        for query, target, value in found:
            kept = value >= least
            ends = query[kept].numpy(), target[kept].numpy()
            rows.append(ends[flipped])
            columns.append(ends[1 - flipped])
            values.append(value[kept].numpy())
    row, column = np.concatenate(rows), np.concatenate(columns)
    _, once = np.unique(row.astype(np.int64) * len(other) + column, return_index=True)
    return row[once], column[once], np.concatenate(values)[once]


def _of_all(queries: Tensor, targets: Tensor, count: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The best targets of all queries: query, target, product, block by block."""
    size = max(1, BLOCK_NUMBERS // len(targets))
    for start in range(0, len(queries), size):
        top = (queries[start : start + size] @ targets.t()).topk(min(count, len(targets)), dim=1)
        query = torch.arange(start, start + len(top.values))[:, None].expand_as(top.indices)
        yield query, top.indices, top.values


def _of_cells(queries: Tensor, targets: Tensor, count: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The same among the targets of the nearest cells."""
    centres = targets[:: max(1, round(len(targets) ** 0.5))]
    cell_of_targets = torch.cat([top[:, 0] for _, top, _ in _of_all(targets, centres, 1)])
    members, starts = _by_cell(cell_of_targets, len(centres))
    for first in range(0, len(queries), QUERIES_AT_ONCE):
        some = queries[first : first + QUERIES_AT_ONCE]
        near = torch.cat([top for _, top, _ in _of_all(some, centres, NEAREST_CELLS)])  # (queries, cells)
        asking, query_starts = _by_cell(near.flatten(), len(centres))
        asking //= near.shape[1]
        parts = []
        for cell in range(len(centres)):
            own = members[starts[cell] : starts[cell + 1]]
            who = asking[query_starts[cell] : query_starts[cell + 1]]
            if len(own) and len(who):
                found = _of_all(some[who], targets[own], count)
                parts += [
                    (who[query].flatten(), own[target].flatten(), value.flatten()) for query, target, value in found
                ]
        query, target, value = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
        matrix = sp.csr_array((np.maximum(value, 0), (query, target)), shape=(len(some), len(targets)))
        row, column, product = top_entries(matrix, count)
        yield torch.from_numpy(row + first), torch.from_numpy(column), torch.from_numpy(product)


def _by_cell(cells: Tensor, count: int) -> tuple[Tensor, list[int]]:
    """The places of each of so many cells in a list of cells, cell after cell, and where those of each begin."""
    ends: list[int] = torch.bincount(cells, minlength=count).cumsum(0).tolist()
    return torch.argsort(cells, stable=True), [0, *ends]
