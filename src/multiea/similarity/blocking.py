"""Blocking: pairs of entities whose signatures share marks; all other pairs are never compared."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, starmap

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.graph.top_entries import keep_top_entries, top_entries
from multiea.similarity.signatures import Signatures

PRODUCTS_PER_BLOCK, MOST_THREADS = 1 << 24, 8  # about 0.4 GB each
ENTITIES_PER_MARK = 128  # the entities for which a mark counts most
LEAST_IN_COMMON = 0.01  # of two signatures, whose product is at most one


def pairs_sharing_marks(signatures: tuple[Signatures, Signatures], count: int) -> Tensor:
    """The pairs whose signatures have most in common, about `count` per entity, as keys: row * columns + column."""
    columns = len(signatures[1].marks)
    marks = 1 + max(int(signature.marks.max(initial=ABSENT)) for signature in signatures)
    left, right = (signature.matrix(max(marks, 1)) for signature in signatures)
    forward, backward = _most_in_common(left, right, count), _most_in_common(right, left, count)
    return torch.from_numpy(np.concatenate([forward[0] * columns + forward[1], backward[1] * columns + backward[0]]))


def _most_in_common(left: sp.csr_array, right: sp.csr_array, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row of one matrix the rows of the other with the largest product, as (row, other row)."""
    transposed = keep_top_entries(right.T.tocsr(), ENTITIES_PER_MARK)

    def block(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        product = (left[rows] @ transposed).tocsr()
        product.data[product.data < LEAST_IN_COMMON] = 0
        product.eliminate_zeros()
        row, column, _ = top_entries(product, count)
        return row + rows.start, column

    number_of_block = np.cumsum(_multiplications(left, transposed)) // PRODUCTS_PER_BLOCK
    starts = [0, *(np.flatnonzero(np.diff(number_of_block)) + 1), left.shape[0]]
    with ThreadPoolExecutor(min(torch.get_num_threads(), MOST_THREADS)) as threads:
        row, column = zip(*threads.map(block, starmap(slice, pairwise(starts))), strict=True)
    return np.concatenate(row), np.concatenate(column)


def _multiplications(left: sp.csr_array, transposed: sp.csr_array) -> np.ndarray:
    """How many multiplications each row needs."""
    pattern = sp.csr_array((np.ones(left.nnz), left.indices, left.indptr), shape=left.shape)
    return np.asarray(pattern @ np.diff(transposed.indptr).astype(np.float64))
