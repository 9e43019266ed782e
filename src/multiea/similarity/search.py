"""Search: for each entity the few candidates of another KG that resemble it most, without a whole matrix.

Up to a size every pair is compared, block by block. Above it only entities that share a label near them are: those
labels are an entity's signature, and two entities without a common one would hardly resemble each other.
"""

from __future__ import annotations

import logging

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import normalize

from multiea.data.groups import ABSENT
from multiea.engines.signatures import Signatures, strongest_of_rows
from multiea.similarity.matrices import BLOCK_NUMBERS
from multiea.similarity.sparse_scores import SparseScores
from multiea.sparse import Pattern, dot_products

log = logging.getLogger("multiea")

GUIDE_PAYS = 3  # a guide must be so many times shorter
FEW_PAIRS = 4e6  # here a guide saves nothing
EXACT_PAIRS = {"cpu": 2e8, "cuda": 1e10}  # up to so many pairs, comparing all is the faster way
PATHS_A_BLOCK = 1 << 26
LEAST_IN_COMMON = 0.01  # of signatures, whose products are at most one


def is_exact(left: Tensor, right: Tensor) -> bool:
    """Whether all pairs are compared."""
    return len(left) * len(right) <= EXACT_PAIRS.get(left.device.type, EXACT_PAIRS["cpu"])


def search(
    left: Tensor,
    right: Tensor,
    count: int,
    guide: int | None = None,
    signatures: tuple[Signatures, Signatures] | None = None,
) -> SparseScores:
    """Cosines of each row's and each column's best candidates; only those above zero are kept.

    left, right: embeddings of unit length, (n, d) and (m, d). guide: how many of the first numbers find candidates well
    enough; their cosines are then those of whole embeddings.
    """
    if signatures is not None and not is_exact(left, right):
        return _scored(left, right, _that_share_labels(signatures, count))
    few = len(left) * len(right) <= FEW_PAIRS
    if guide is None or few or GUIDE_PAYS * guide > left.shape[1]:
        return _among_all(left, right, count)
    found = _among_all(normalize(left[:, :guide]), normalize(right[:, :guide]), count)
    return _scored(left, right, found.keys)


def _among_all(left: Tensor, right: Tensor, count: int) -> SparseScores:
    shape = (len(left), len(right))
    keys, values = [], []
    best_values, best_rows = left.new_empty(shape[1], 0), torch.empty(shape[1], 0, dtype=torch.int64).to(left.device)
    size = max(1, BLOCK_NUMBERS // max(1, shape[1]))
    for start in range(0, shape[0], size):
        block = left[start : start + size] @ right.t()
        top = block.topk(min(count, shape[1]), dim=1)
        row = torch.arange(start, start + len(block), device=left.device)[:, None]
        keys.append((row * shape[1] + top.indices).flatten())
        values.append(top.values.flatten())
        top = block.t().contiguous().topk(min(count, len(block)), dim=1)
        best_values = torch.cat([best_values, top.values], 1)
        best_rows = torch.cat([best_rows, top.indices + start], 1)
        best_values, order = best_values.topk(min(count, best_values.shape[1]), dim=1)
        best_rows = best_rows.gather(1, order)
    keys.append((best_rows * shape[1] + torch.arange(shape[1], device=left.device)[:, None]).flatten())
    values.append(best_values.flatten())
    return _each_once(torch.cat(keys), torch.cat(values), shape)


def _each_once(keys: Tensor, values: Tensor, shape: tuple[int, int]) -> SparseScores:
    some = values > 0
    keys, order = torch.sort(keys[some])
    new = torch.ones_like(keys, dtype=torch.bool)
    new[1:] = keys[1:] != keys[:-1]
    keys = keys[new]
    return SparseScores(keys // shape[1], keys % shape[1], values[some][order][new], shape)


def _scored(left: Tensor, right: Tensor, keys: Tensor) -> SparseScores:
    """Cosines of some pairs, each of them given once or twice."""
    shape = (len(left), len(right))
    wanted = keys.to(left.device)
    pattern = Pattern(wanted // shape[1], wanted % shape[1], shape)
    row, column = pattern.coordinates()
    values = dot_products(pattern, left, right)
    some = values > 0
    return SparseScores(row[some], column[some], values[some], shape)


def _that_share_labels(signatures: tuple[Signatures, Signatures], count: int) -> Tensor:
    """Pairs whose signatures have most in common, as keys: row * columns + column."""
    columns = len(signatures[1].labels)
    labels = 1 + max(int(signature.labels.max(initial=ABSENT)) for signature in signatures)
    one, other = (signature.matrix(max(labels, 1)) for signature in signatures)
    there, back = _shared(one, other, count), _shared(other, one, count)
    return torch.from_numpy(np.concatenate([there[0] * columns + there[1], back[1] * columns + back[0]]))


def _shared(one: sp.csr_array, other: sp.csr_array, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row of one matrix the rows of the other with which it shares most, as (row, other's row)."""
    turned = other.T.tocsr()
    paths = np.cumsum(_paths(one, turned))
    rows, others = [], []
    start = 0
    while start < one.shape[0]:
        before = paths[start - 1] if start else 0.0
        stop = max(start + 1, int(np.searchsorted(paths, before + PATHS_A_BLOCK, side="right")))
        product = (one[start:stop] @ turned).tocsr()
        product.data[product.data < LEAST_IN_COMMON] = 0
        product.eliminate_zeros()
        row, column, _ = strongest_of_rows(product, count)
        rows.append(row + start)
        others.append(column)
        start = stop
    return np.concatenate(rows), np.concatenate(others)


def _paths(one: sp.csr_array, turned: sp.csr_array) -> np.ndarray:
    """How many multiplications each row will take."""
    pattern = sp.csr_array((np.ones(one.nnz), one.indices, one.indptr), shape=one.shape)
    return np.asarray(pattern @ np.diff(turned.indptr).astype(np.float64))
