"""The embeddings of a run: written block by block, and read from the folder as far as they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from multiea.data.task import Task
from multiea.engines.embeddings import NUMBERS_AT_ONCE, Embeddings
from multiea.foundation.mapped_arrays import release_pages
from multiea.foundation.offsets import offsets
from multiea.graph.canonical_order import CanonicalOrder
from multiea.grouping.alignment import AlignmentResult
from multiea.runs.layout import EMBEDDING_SCALE
from multiea.runs.tensor_files import Blocks

ROWS_AT_ONCE = 1 << 14  # of a file that is read, or of embeddings on a GPU
BLOCK_BYTES = 256 << 20  # each block passes once over the embeddings of a KG


class StoredEmbeddings(Embeddings):
    """Embeddings in a file, memory-mapped; some rows are read when they are asked for, all where all are needed.

    parts: of each KG, in the order of the file. rows: where each embedding is in all parts together, (n,).
    """

    def __init__(self, parts: Sequence[Tensor], scale: Tensor | None, rows: Tensor) -> None:
        self._parts, self._rows = parts, rows
        self._all: Tensor | None = None
        self.scale = None if scale is None else scale[rows]
        self.factors = None

    @property
    def numbers(self) -> Tensor:  # type: ignore[override]
        """All of them, in memory from now on."""
        if self._all is None:
            self._all = self._read(self._rows)
        return self._all

    @property
    def shape(self) -> tuple[int, int]:
        """How many embeddings, and their dimensions."""
        return len(self._rows), self._parts[0].shape[1]

    @property
    def device(self) -> torch.device:
        """The CPU."""
        return torch.device("cpu")

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: slice | Tensor) -> Embeddings:
        if not isinstance(rows, slice):
            part = Embeddings(self._read(self._rows[rows]), None if self.scale is None else self.scale[rows])
            part.factors = None if self.factors is None else self.factors[rows]
            return part
        some = copy(self)
        some._rows, some._all = self._rows[rows], None
        some.scale = None if self.scale is None else self.scale[rows]
        some.factors = None if self.factors is None else self.factors[rows]
        return some

    def are_known(self) -> Tensor:
        """Which embeddings are not zero, (n,)."""
        if self.scale is not None:
            return super().are_known()
        starts = range(0, len(self), ROWS_AT_ONCE)
        blocks = (self._read(self._rows[start : start + ROWS_AT_ONCE]) for start in starts)
        return torch.cat([torch.zeros(0, dtype=torch.bool), *((block != 0).any(dim=1) for block in blocks)])

    def _read(self, rows: Tensor) -> Tensor:
        """The numbers in some rows of the file, which are read in the order of the file."""
        found = torch.empty((len(rows), self.shape[1]), dtype=torch.float32 if self.scale is None else torch.int8)
        ordered, place = rows.sort()
        for part, (start, end) in zip(self._parts, pairwise(offsets(map(len, self._parts)).tolist()), strict=True):
            first, last = torch.searchsorted(ordered, torch.tensor([start, end])).tolist()
            for here in range(first, last, ROWS_AT_ONCE):
                some = slice(here, min(here + ROWS_AT_ONCE, last))
                found.numpy()[place[some].numpy()] = part.numpy()[(ordered[some] - start).numpy()]
                release_pages()
        return found


def read_embeddings(tensors: Mapping[str, Tensor], task: Task) -> Embeddings:
    """The embeddings among the tensors of a run, in canonical order."""
    scales = [tensors[name + EMBEDDING_SCALE] for name in task.kg_names if name + EMBEDDING_SCALE in tensors]
    parts, rows = [tensors[name] for name in task.kg_names], torch.from_numpy(CanonicalOrder.of(task).given_ids())
    return StoredEmbeddings(parts, torch.cat(scales) if scales else None, rows)


def embedding_tensors(alignment: AlignmentResult) -> dict[str, Tensor | Blocks]:
    """The embeddings of each KG in given order, with their scales where they are in 8 bits."""
    tensors: dict[str, Tensor | Blocks] = {}
    ids, whole = alignment.order.canonical_ids(), alignment.canonical_embeddings
    for name, (a, b) in zip(alignment.task.kg_names, pairwise(alignment.task.entity_offsets), strict=True):
        rows, dtype = ids[a:b], torch.int8
        if whole.scale is not None:
            tensors[name + EMBEDDING_SCALE] = whole.scale[torch.from_numpy(rows).to(whole.scale.device)].cpu()
        else:
            dtype = torch.float16 if _are_exact_in_half(whole, rows) else torch.float32
        tensors[name] = Blocks(dtype, (len(rows), whole.shape[1]), partial(_blocks, whole, rows, dtype))
    return tensors


def _blocks(whole: Embeddings, rows: np.ndarray, dtype: torch.dtype) -> Iterator[Tensor]:
    """Some embeddings in blocks. Each is read in the order of `whole`, which may be mapped from a file."""
    size = max(1, BLOCK_BYTES // max(1, whole.shape[1] * dtype.itemsize))
    for start in range(0, len(rows), size):
        wanted = rows[start : start + size]
        block = torch.empty((len(wanted), whole.shape[1]), dtype=dtype)
        numbers = block.numpy()  # threads gain nothing in copying rows
        order = np.argsort(wanted, kind="stable")
        for place, some in _few_at_once(whole, wanted[order]):
            numbers[order[place]] = some.to(dtype).cpu().numpy()
            release_pages()
        yield block


def _are_exact_in_half(whole: Embeddings, rows: np.ndarray) -> bool:
    """Whether half precision loses nothing."""
    return all(torch.equal(some.half().float(), some.float()) for _, some in _few_at_once(whole, np.sort(rows)))


def _few_at_once(whole: Embeddings, rows: np.ndarray) -> Iterator[tuple[slice, Tensor]]:
    """Places among some rows, and the numbers of these; on a CPU few at a time take no fresh memory."""
    is_on_cpu = whole.device.type == "cpu"
    size = max(1, NUMBERS_AT_ONCE // max(1, whole.shape[1])) if is_on_cpu else ROWS_AT_ONCE
    for start in range(0, len(rows), size):
        place = slice(start, start + size)
        yield place, whole[torch.from_numpy(rows[place]).to(whole.device)].numbers
