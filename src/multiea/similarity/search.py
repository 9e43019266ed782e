"""Search: for each entity its most similar candidates in another KG, without a whole similarity matrix.

Up to a size every pair is compared, block by block. Above it, blocking selects the pairs to compare: two entities whose
signatures share no mark would hardly be similar.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from multiea.engines.embeddings import Embeddings
from multiea.graph.sparse import csr, sampled_products
from multiea.similarity.blocking import pairs_sharing_marks
from multiea.similarity.many_kgs import best_of_block
from multiea.similarity.matrices import BLOCK_NUMBERS
from multiea.similarity.signatures import Signatures
from multiea.similarity.sparse_scores import SparseScores

SMALL_NUMBERS = 1 << 19  # pairs that are compared at once, without estimates
ALL_ROWS_UP_TO, EVERY_NTH_ROW, MOST_ROWS = 512, 8, 2048  # the sample of rows that estimates column thresholds
EXACT_PAIRS = {"cpu": 1e9, "cuda": 1e10}  # up to this many pairs, comparing all of them is faster
SHARED_VALUES = "shared values"
SEARCHES = {
    "exact": "every pair of entities is compared",
    SHARED_VALUES: "only entities that share words or values are compared",
    "restricted": "blocking: only entities that share nearby marks are compared, since the KGs are large",
}
# Pairs that blocking proposes for each entity, and where other evidence proposes some as well. Once most entities have
# marks, 50 contain 99.9% of the right ones that an exact search ranks first.
SHARED, SHARED_WITH_EVIDENCE = 50, 25
FEW_OF_MANY = 64  # topk is fast where a row has so many times as many values as are wanted
COLUMNS_AT_ONCE = 256  # that are compared as floating-point numbers


def is_exact(sizes: Sequence[int], device: torch.device) -> bool:
    """Whether all pairs of candidates are compared, for KGs of these sizes."""
    second, largest = sorted(sizes)[-2:]
    return largest * second <= EXACT_PAIRS.get(device.type, EXACT_PAIRS["cpu"])


def search(
    left: Embeddings,
    right: Embeddings,
    count: int,
    signatures: tuple[Signatures, Signatures] | None = None,
    added: sp.csr_array | None = None,
    whole: Tensor | None = None,
) -> SparseScores:
    """Cosines of about `count` best candidates of each row and of each column; only positive ones are kept.

    added: what other evidence adds to the cosines of some pairs; all these are candidates. whole: the cosines of all
    pairs, where they are one block and have been computed; they are not kept.
    """
    if signatures is not None and not is_exact((len(left), len(right)), left.device):
        count = min(count, SHARED if added is None else SHARED_WITH_EVIDENCE)
        keys = pairs_sharing_marks(signatures, count, left.device)
        return _cosines_of(left, right, keys, added).best_of_rows_and_columns(count)
    return _search_all_pairs(left, right, count, added, whole)


def sparse_scores(matrix: sp.csr_array, device: torch.device) -> SparseScores:
    """The entries of a scipy matrix as scores; only positive ones are kept."""
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    keys = torch.from_numpy(row * matrix.shape[1] + matrix.indices).to(device)
    return SparseScores.distinct(keys, torch.from_numpy(matrix.data.astype(np.float32)).to(device), matrix.shape)


def _entries(matrix: sp.csr_array, device: torch.device) -> SparseScores:
    """All entries: where conflicts make one negative, structure may outweigh it."""
    matrix = matrix.sorted_indices()
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    column, values = matrix.indices.astype(np.int64), matrix.data.astype(np.float32)
    parts = [torch.from_numpy(part).to(device) for part in (row, column, values)]
    return SparseScores(parts[0], parts[1], parts[2], matrix.shape)


def _search_all_pairs(
    left: Embeddings, right: Embeddings, count: int, added: sp.csr_array | None, whole: Tensor | None
) -> SparseScores:
    shape = (len(left), len(right))
    size = _rows_of_block(right)
    if whole is None and is_one_block(left, right):
        whole = left.cosines(right)
    thresholds = _column_thresholds(left, right, count, whole)
    keys, values = [], []
    other = None if added is None else _entries(added, left.device)
    for start in range(0, shape[0], size):
        block = left[start : start + size].cosines(right) if whole is None else whole
        places = None
        if other is not None:
            entries = slice(int(other.starts[start]), int(other.starts[start + len(block)]))
            places = (other.row[entries] - start) * shape[1] + other.column[entries]
            block.view(-1)[places] += other.values[entries]
        kept = best_of_rows_or_above(block, min(count, shape[1]), thresholds)
        if places is not None:
            kept.view(-1)[places] = True
        own = kept.view(-1).nonzero()[:, 0]
        found = block.view(-1).index_select(0, own)
        positive = torch.nonzero(found > 0)[:, 0]
        keys.append(own.index_select(0, positive) + start * shape[1])
        values.append(found.index_select(0, positive))
    every = torch.cat(keys)
    return SparseScores(every // shape[1], every % shape[1], torch.cat(values), shape)


def best_of_rows_or_above(block: Tensor, count: int, thresholds: Tensor) -> Tensor:
    """Which values are among the highest of their row or above the threshold of their column; zeros may be as well."""
    above = block > thresholds
    if block.device.type != "cpu" or count * FEW_OF_MANY <= block.shape[1]:
        return above.scatter_(1, block.topk(count, dim=1).indices, True)
    lowest = highest_of_rank(block, count)
    best = block >= lowest[:, None]
    tied = torch.nonzero((best.sum(1) > count) & (lowest > 0))[:, 0]  # which of equal values are chosen, topk decides
    best[tied] = torch.zeros_like(best[tied]).scatter_(1, block[tied].topk(count, dim=1).indices, True)
    return best.logical_or_(above)


def is_one_block(left: Embeddings, right: Embeddings) -> bool:
    """Whether the cosines of all pairs are computed at once."""
    return len(left) <= _rows_of_block(right)


def _rows_of_block(right: Embeddings) -> int:
    return max(1, BLOCK_NUMBERS // max(1, len(right)))


def is_small(left: Embeddings, right: Embeddings) -> bool:
    """Whether all cosines fit into one small block."""
    return len(left) < 2 * ALL_ROWS_UP_TO and len(left) * len(right) <= SMALL_NUMBERS


def search_block(block: Tensor, count: int, added: sp.csr_array | None = None) -> SparseScores:
    """About the same as search, where the cosines of all pairs are there: the best by cosine and what is added."""
    kept = None
    if added is not None:
        other = _entries(added, block.device)
        block = block.clone()
        block[other.row, other.column] += other.values
        kept = torch.zeros_like(block, dtype=torch.bool)
        kept[other.row, other.column] = True
    best = best_of_block(block, count)
    best = best if kept is None else best | (kept & (block > 0))
    row, column = best.nonzero(as_tuple=True)
    return SparseScores(row, column, block[row, column], (block.shape[0], block.shape[1]))


def _column_thresholds(left: Embeddings, right: Embeddings, count: int, whole: Tensor | None) -> Tensor:
    """For each column the cosine that about `count` rows exceed, estimated from a sample of rows; at least zero.

    whole: the cosines of all pairs, where they have been computed already.
    """
    step = max(1, min(len(left) // ALL_ROWS_UP_TO, EVERY_NTH_ROW), len(left) // MOST_ROWS)
    sample = left[::step]
    rank = count * len(sample) // len(left) + 1
    if rank > len(sample):
        return torch.zeros(len(right), device=right.device)
    parts = []
    size = max(1, BLOCK_NUMBERS // max(1, len(sample)))
    for start in range(0, len(right), size):
        columns = slice(start, start + size)
        block = right[columns].cosines(sample) if whole is None else whole[::step, columns].t().contiguous()
        parts.append(highest_of_rank(block, rank).clamp(min=0))
    return torch.cat(parts)


def highest_of_rank(block: Tensor, rank: int) -> Tensor:
    """The value of this rank in each row, (rows,); rank: 1 is the highest."""
    if block.device.type != "cpu":
        return block.topk(rank, dim=1).values[:, -1]
    place = block.shape[1] - rank

    def part(rows: np.ndarray) -> np.ndarray:  # several times as fast as topk
        return np.partition(rows, place, axis=1)[:, place].copy()

    count = torch.get_num_threads()
    if count == 1:
        return torch.from_numpy(part(block.numpy()))
    with ThreadPoolExecutor(count) as threads:
        return torch.from_numpy(np.concatenate([*threads.map(part, np.array_split(block.numpy(), count))]))


def _cosines_of(left: Embeddings, right: Embeddings, keys: Tensor, added: sp.csr_array | None) -> SparseScores:
    """Cosines of some pairs, which may repeat, with what is added; only positive ones are kept."""
    shape = (len(left), len(right))
    keys = keys.to(left.device)
    other = None if added is None else _entries(added, left.device)
    if other is not None:
        keys = torch.cat([keys, other.keys])
    pairs = SparseScores.distinct(keys, torch.ones(len(keys), device=left.device), shape)
    values = _cosines(left, right, pairs)
    if other is not None:
        values[torch.searchsorted(pairs.keys, other.keys)] += other.values
    return pairs.with_values(values).take(torch.nonzero(values > 0)[:, 0])


def _cosines(left: Embeddings, right: Embeddings, pairs: SparseScores) -> Tensor:
    """The cosine of each entry."""
    if left.scale is not None and right.scale is not None:
        from multiea.kernels.shared_marks import cosines_of_pairs  # deferred: numba, and small KGs need none

        sides = [
            (part.numbers.numpy(), part.multipliers.numpy()) for part in (left, right) if part.multipliers is not None
        ]
        return torch.from_numpy(cosines_of_pairs(sides[0], sides[1], pairs.row.numpy(), pairs.column.numpy()))
    entries = csr(pairs.starts, pairs.column, pairs.values, pairs.shape)
    values = torch.zeros_like(pairs.values)
    for start in range(0, left.shape[1], COLUMNS_AT_ONCE):
        some = slice(start, start + COLUMNS_AT_ONCE)
        values += sampled_products(entries, left.columns(some), right.columns(some))
    for factors, place in ((left.multipliers, pairs.row), (right.multipliers, pairs.column)):
        values = values if factors is None else values * factors.index_select(0, place)
    return values
