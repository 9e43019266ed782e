"""Search: for each entity the few candidates of another KG that resemble it most, without a whole matrix.

Up to a size every pair is compared, block by block. Above it only entities that share a label near them are: those
labels are an entity's signature, and two entities without a common one would hardly resemble each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, starmap

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.graph.sparse import csr, sampled
from multiea.similarity.int8_embeddings import Comparable
from multiea.similarity.matrices import BLOCK_NUMBERS
from multiea.similarity.signatures import Signatures, strongest, strongest_of_rows
from multiea.similarity.sparse_scores import SparseScores, best_first

FEW_ROWS, ONE_OF, MANY_ROWS = 512, 8, 2048  # rows that tell how good a column's best are: all, if few; one of eight
EXACT_PAIRS = {"cpu": 1e9, "cuda": 1e10}  # up to so many pairs, comparing all is the faster way
SEARCHES = {
    "exact": "every pair of entities is compared",
    "restricted": "KGs are so large that only entities that share labels near them are compared",
}
PATHS_A_BLOCK, MOST_THREADS = 1 << 24, 8  # about 0.4 GB each
ENTITIES_OF_LABEL = 128  # that are found by it: those for which it counts most
SHARED = 2  # times as many candidates share labels as are kept for their cosines
LEAST_IN_COMMON = 0.01  # of signatures, whose products are at most one


def is_exact(sizes: Sequence[int], device: torch.device) -> bool:
    """Whether all pairs of candidates are compared, of KGs of these sizes."""
    second, largest = sorted(sizes)[-2:]
    return largest * second <= EXACT_PAIRS.get(device.type, EXACT_PAIRS["cpu"])


def search(
    left: Comparable, right: Comparable, count: int, signatures: tuple[Signatures, Signatures] | None = None
) -> SparseScores:
    """Cosines of each row's best candidates and of each column's, about so many; only those above zero are kept."""
    if signatures is not None and not is_exact((len(left), len(right)), left.device):
        return _best(_scored(left, right, _that_share_labels(signatures, SHARED * count)), count)
    return _among_all(left, right, count)


def _among_all(left: Comparable, right: Comparable, count: int) -> SparseScores:
    shape = (len(left), len(right))
    size = max(1, BLOCK_NUMBERS // max(1, shape[1]))
    whole = left.cosines(right) if shape[0] <= size else None
    least = _reached_by(left, right, count, whole)
    keys, values = [], []
    for start in range(0, shape[0], size):
        block = left[start : start + size].cosines(right) if whole is None else whole
        top = block.topk(min(count, shape[1]), dim=1)
        row = torch.arange(start, start + len(block), device=left.device)[:, None]
        keys.append((row * shape[1] + top.indices).flatten())
        values.append(top.values.flatten())
        of_columns = (block > least).flatten().nonzero()[:, 0]
        keys.append(of_columns + start * shape[1])
        values.append(block.flatten().index_select(0, of_columns))
    return _each_once(torch.cat(keys), torch.cat(values), shape)


def _reached_by(left: Comparable, right: Comparable, count: int, whole: Tensor | None) -> Tensor:
    """For each column the cosine that about so many rows reach, told by a sample of them; at least zero.

    whole: the cosines of all pairs, where they are at hand.
    """
    step = max(1, min(len(left) // FEW_ROWS, ONE_OF), len(left) // MANY_ROWS)
    some = left[::step]
    rank = count * len(some) // len(left) + 1
    if rank > len(some):
        return right.embeddings.new_zeros(len(right))
    parts = []
    size = max(1, BLOCK_NUMBERS // max(1, len(some)))
    for start in range(0, len(right), size):
        few = slice(start, start + size)
        block = right[few].cosines(some) if whole is None else whole[::step, few].t().contiguous()
        parts.append(block.topk(rank, dim=1).values[:, -1].clamp(min=0))
    return torch.cat(parts)


def _each_once(keys: Tensor, values: Tensor, shape: tuple[int, int]) -> SparseScores:
    some = values > 0
    keys, order = torch.sort(keys[some])
    new = torch.ones_like(keys, dtype=torch.bool)
    new[1:] = keys[1:] != keys[:-1]
    keys = keys[new]
    return SparseScores(keys // shape[1], keys % shape[1], values[some].index_select(0, order)[new], shape)


def _scored(left: Comparable, right: Comparable, keys: Tensor) -> SparseScores:
    """Cosines of some pairs, each of them given once or twice; only those above zero are kept."""
    shape = (len(left), len(right))
    pairs = _each_once(keys.to(left.device), torch.ones(len(keys), device=left.device), shape)
    values = sampled(csr(pairs.starts, pairs.column, pairs.values, shape), left.embeddings, right.embeddings)
    some = torch.nonzero(values > 0)[:, 0]
    return pairs.with_values(values).take(some)


def _best(scores: SparseScores, count: int) -> SparseScores:
    """The best candidates of each row and of each column."""
    kept = torch.zeros(len(scores.values), dtype=torch.bool, device=scores.row.device)
    for ends in (scores.row, scores.column):
        kept[best_first(ends, scores.values, count)[0]] = True
    return scores.take(torch.nonzero(kept)[:, 0])


def _that_share_labels(signatures: tuple[Signatures, Signatures], count: int) -> Tensor:
    """Pairs whose signatures have most in common, as keys: row * columns + column."""
    columns = len(signatures[1].labels)
    labels = 1 + max(int(signature.labels.max(initial=ABSENT)) for signature in signatures)
    one, other = (signature.matrix(max(labels, 1)) for signature in signatures)
    there, back = _shared(one, other, count), _shared(other, one, count)
    return torch.from_numpy(np.concatenate([there[0] * columns + there[1], back[1] * columns + back[0]]))


def _shared(one: sp.csr_array, other: sp.csr_array, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row of one matrix the rows of the other with which it shares most, as (row, other's row)."""
    turned = strongest(other.T.tocsr(), ENTITIES_OF_LABEL)

    def of_block(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        product = (one[rows] @ turned).tocsr()
        product.data[product.data < LEAST_IN_COMMON] = 0
        product.eliminate_zeros()
        row, column, _ = strongest_of_rows(product, count)
        return row + rows.start, column

    paths = _paths(one, turned)
    block = np.cumsum(paths) // PATHS_A_BLOCK
    starts = [0, *(np.flatnonzero(np.diff(block)) + 1), one.shape[0]]
    with ThreadPoolExecutor(min(torch.get_num_threads(), MOST_THREADS)) as threads:
        row, column = zip(*threads.map(of_block, starmap(slice, pairwise(starts))), strict=True)
    return np.concatenate(row), np.concatenate(column)


def _paths(one: sp.csr_array, turned: sp.csr_array) -> np.ndarray:
    """How many multiplications each row will take."""
    pattern = sp.csr_array((np.ones(one.nnz), one.indices, one.indptr), shape=one.shape)
    return np.asarray(pattern @ np.diff(turned.indptr).astype(np.float64))
