"""Search: the pairs of entities of two KGs with the most similar features, without comparing all pairs.

Only rows that share a token can be similar. The rarest tokens are followed first, up to a number of products per row,
so that the cost grows with the number of rows and not with its square; the similarities are then made exact.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
import torch
from sparse_dot_topn import sp_matmul_topn

from multiea.evidence.features import Features, crossed
from multiea.evidence.vector_search import nearest_vectors
from multiea.graph.sparse_rows import no_entries

CANDIDATES = 20  # of each row and of each column
LEAST_SIMILARITY = 0.1
PRODUCTS_PER_ROW = 5_000  # four times as many find no more counterparts on DBP15K and musicbrainz
PAIRS_AT_ONCE = 1 << 18
DENSE_NUMBERS = 1 << 24
MOST_SHARING = 50  # entities that may share a row, such as a name, for it to propose candidates


def similar_pairs(left: Features, right: Features) -> sp.csr_array:
    """The similarity of the most similar pairs, (left entities, right entities); the best of their rows counts."""
    shape = (left.entities, right.entities)
    if not left.rows.shape[0] or not right.rows.shape[0]:
        return no_entries(shape)
    if isinstance(left.rows, np.ndarray) and isinstance(right.rows, np.ndarray):
        row, column, value = nearest_vectors(left.rows, right.rows, CANDIDATES, LEAST_SIMILARITY)
    else:
        row, column, value = _sparse_pairs(left, right)
    owners, other_owners = left.entities_of_rows, right.entities_of_rows
    kept = _proposed(row, column, value, owners.counts, other_owners.counts)
    row, column, value = row[kept], column[kept], value[kept]
    pair, entity, other = crossed(owners, other_owners, row, column)
    return _highest(entity.astype(np.int64) * shape[1] + other, value[pair], shape)


def _proposed(
    row: np.ndarray, column: np.ndarray, value: np.ndarray, owners: np.ndarray, other_owners: np.ndarray
) -> np.ndarray:
    """Which pairs of rows propose all entities that share them; owners: how many share each row, on both sides.

    A row that too many share proposes nobody, and neither does one that is less similar than it. Of all others those
    that have the most similar entities of either side, as many as candidates are wanted.
    """
    is_common = np.maximum(owners[row], other_owners[column]) > MOST_SHARING
    hidden = np.zeros(len(owners)), np.zeros(len(other_owners))
    for highest, side in zip(hidden, (row, column), strict=True):
        np.maximum.at(highest, side[is_common], value[is_common])
    kept = np.flatnonzero(~is_common & (value >= hidden[0][row]) & (value >= hidden[1][column]))
    near = [
        _before(side[kept], value[kept], sizes[others[kept]]) < CANDIDATES
        for side, others, sizes in ((row, column, other_owners), (column, row, owners))
    ]
    return np.asarray(kept[near[0] | near[1]])


def _before(group: np.ndarray, value: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each entry the sizes, added up, of all entries of its group with a higher value; values: at least zero."""
    bits = value.astype(np.float32).view(np.int32).astype(np.int64)  # floats from zero on sort like their bits
    order = np.argsort((group.astype(np.int64) << 32) | (0x7FFFFFFF - bits))
    group, value = group[order], value[order]
    total = np.cumsum(sizes[order]) - sizes[order]
    is_new = np.r_[True, group[1:] != group[:-1]] if len(group) else np.zeros(0, dtype=bool)
    is_lower = is_new.copy()
    is_lower[1:] |= value[1:] != value[:-1]
    first_lower, first_new = (
        np.maximum.accumulate(np.where(one, np.arange(len(one)), 0)) for one in (is_lower, is_new)
    )
    result = np.empty(len(order), dtype=total.dtype)
    result[order] = total[first_lower] - total[first_new]
    return result


def similarities_of(left: Features, right: Features, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The similarities of some pairs of entities, by the best of their rows; zero where one has none."""
    result = np.zeros(len(one), dtype=np.float32)
    pair, row, column = crossed(left.rows_of_entities, right.rows_of_entities, one, other)
    np.maximum.at(result, pair, _products(left.rows, right.rows, row, column))
    return result


def _highest(keys: np.ndarray, value: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """A matrix with the highest of the values of each key, which is a row and a column."""
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, dtype=np.int64)
    highest = np.maximum.reduceat(value[order], first) if len(keys) else value
    row, column = np.divmod(keys[first], max(shape[1], 1))
    starts = np.searchsorted(row, np.arange(shape[0] + 1))
    return sp.csr_array((highest.astype(np.float32), column, starts), shape=shape)


def _sparse_pairs(left: Features, right: Features) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of rows, each once, with their products."""
    one, other = left.rows, right.rows
    assert isinstance(one, sp.csr_array)
    assert isinstance(other, sp.csr_array)
    kept = _affordable_columns(one, other)
    is_exact = bool(kept.all())
    some, others = (one, other) if is_exact else (_with_columns(one, kept), _with_columns(other, kept))
    forward, backward = _top(some, others), _top(others, some)
    row, column = np.r_[forward[0], backward[1]], np.r_[forward[1], backward[0]]
    keys, once = np.unique(row.astype(np.int64) * other.shape[0] + column, return_index=True)
    row, column = np.divmod(keys, other.shape[0])
    if is_exact:
        return row, column, np.r_[forward[2], backward[2]][once]
    value = _products(one, other, row, column)
    enough = value >= LEAST_SIMILARITY
    return row[enough], column[enough], value[enough]


def _affordable_columns(left: sp.csr_array, right: sp.csr_array) -> np.ndarray:
    """Which tokens are followed: the rarest ones, up to a number of products per row."""
    cost = np.prod([np.bincount(side.indices, minlength=side.shape[1]).astype(np.float64) for side in (left, right)], 0)
    order = np.argsort(cost, kind="stable")
    most = PRODUCTS_PER_ROW * float(max(left.shape[0], right.shape[0]))
    kept = np.empty(len(cost), dtype=bool)
    kept[order] = np.cumsum(cost[order]) <= most
    return kept


def _with_columns(matrix: sp.csr_array, kept: np.ndarray) -> sp.csr_array:
    data = np.where(kept[matrix.indices], matrix.data, 0)
    result = sp.csr_array((data, matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)
    result.eliminate_zeros()
    return result


def _top(left: sp.csr_array, right: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each row its best rows of the other matrix: row, other row, product."""
    transposed = sp.csr_matrix(right.T.tocsr())
    threads = torch.get_num_threads()
    best = sp_matmul_topn(
        sp.csr_matrix(left), transposed, top_n=CANDIDATES, threshold=LEAST_SIMILARITY, n_threads=threads
    ).tocoo()
    return best.row, best.col, best.data


def _products(
    left: sp.csr_array | np.ndarray, right: sp.csr_array | np.ndarray, row: np.ndarray, column: np.ndarray
) -> np.ndarray:
    """The products of some pairs of rows."""
    size = max(1, DENSE_NUMBERS // left.shape[1]) if isinstance(left, np.ndarray) else PAIRS_AT_ONCE

    def part(start: int) -> np.ndarray:
        one, other = left[row[start : start + size]], right[column[start : start + size]]
        product = one * other if isinstance(one, np.ndarray) else one.multiply(other)
        return np.asarray(product.sum(axis=1)).ravel()

    with ThreadPoolExecutor(torch.get_num_threads()) as threads:  # scipy and numpy let other threads run
        return np.concatenate([np.empty(0, dtype=np.float32), *threads.map(part, range(0, len(row), size))])
