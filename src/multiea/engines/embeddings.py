"""Embeddings of unit length and their cosines; on a CPU in 8-bit integers, which take a quarter of the memory.

Many processors multiply 8-bit integers several times faster than floating-point numbers, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cache

import numpy as np
import torch
from torch import Tensor

LARGEST_INT8 = 127
LEAST_SCALE = 1e-30  # of embeddings that are zero
LEAST_LENGTH = 1e-12  # of rows that are scaled to unit length
NUMBERS_AT_ONCE = 1 << 18  # blocks of rows this small stay in the cache of a processor and take no fresh memory
FIRST_COLUMNS = 64  # that tell of most embeddings that they are not zero
FEWEST_DIMENSIONS = 16  # below this, 8 bits are not accurate enough


class Embeddings:
    """Embeddings of unit length, (n, d); zero where nothing is known of an entity.

    numbers: (n, d), floating-point numbers, or integers from -127 to 127 with one scale per embedding. A cosine of two
    embeddings with a thousand dimensions is then accurate to about 0.0002. Sums of integers are exact, so equal
    embeddings stay equal. factors: what the cosines of each embedding are multiplied by, (n,); None for nothing.
    """

    def __init__(self, numbers: Tensor, scale: Tensor | None = None) -> None:
        self.numbers, self.scale = numbers, scale
        self.factors: Tensor | None = None

    @classmethod
    def empty_in_8_bits(cls, count: int, width: int) -> Embeddings:
        """To be filled by `write`; on the CPU."""
        return cls(torch.zeros(count, width, dtype=torch.int8), torch.zeros(count))

    @classmethod
    def joined(cls, parts: Sequence[Embeddings]) -> Embeddings:
        """Several embeddings in a row, of one kind and without factors; in the same memory if they are there so."""
        scales = [part.scale for part in parts if part.scale is not None]
        return cls(_joined([part.numbers for part in parts]), torch.cat(scales) if scales else None)

    def write(self, start: int, rows: Tensor) -> None:
        """Replaces some embeddings of these 8-bit ones."""
        assert self.scale is not None
        for place in row_blocks(rows):
            some = rows[place].float()
            here = slice(start + place.start, start + place.stop)
            self.scale[here] = scale = _scales(some)
            self.numbers[here] = (some / scale[:, None]).round_()

    def in_8_bits(self) -> Embeddings:
        """The same in 8 bits, where that makes cosines faster."""
        if self.scale is not None or not self._is_faster_in_8_bits:
            return self
        converted = Embeddings.empty_in_8_bits(*self.shape)
        converted.factors = self.factors
        converted.write(0, self.numbers)
        return converted

    def rows_in_8_bits(self, rows: Tensor) -> Embeddings:
        """Some rows, in 8 bits where that makes cosines faster; few at a time are taken as floating-point numbers."""
        if self.scale is not None or self.factors is not None or not self._is_faster_in_8_bits:
            return self[rows].in_8_bits()
        converted = Embeddings.empty_in_8_bits(len(rows), self.shape[1])
        for place in row_blocks(converted.numbers):
            converted.write(place.start, self[rows[place]].numbers)
        return converted

    @property
    def _is_faster_in_8_bits(self) -> bool:
        """Whether 8 bits make cosines faster: not on a GPU, in few dimensions, or on some processors."""
        return self.device.type == "cpu" and self.shape[1] >= FEWEST_DIMENSIONS and has_fast_int8_products()

    def as_stored(self) -> Embeddings:
        """As a run folder stores them: in 8 bits, or rounded to half precision, in the same memory."""
        if self.scale is None:
            for place in row_blocks(self.numbers):
                self.numbers[place] = self.numbers[place].half()
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """How many embeddings, and their dimensions."""
        return self.numbers.shape[0], self.numbers.shape[1]

    @property
    def device(self) -> torch.device:
        """The device that they are on."""
        return self.numbers.device

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: slice | Tensor) -> Embeddings:
        part = copy(self)
        part.numbers = self.numbers[rows]
        part.scale = None if self.scale is None else self.scale[rows]
        part.factors = None if self.factors is None else self.factors[rows]
        return part

    def split(self, sizes: Iterable[int]) -> list[Embeddings]:
        """Parts of these sizes, one after the other, in the same memory."""
        parts, start = [], 0
        for size in sizes:
            parts.append(self[start : start + size])
            start += size
        return parts

    def float(self) -> Tensor:
        """As floating-point numbers, (n, d), without factors."""
        return self.numbers.float() if self.scale is None else self.numbers * self.scale[:, None]

    def columns(self, which: slice) -> Tensor:
        """Some columns, before they are scaled."""
        return self.numbers[:, which].float().contiguous()

    def are_known(self) -> Tensor:
        """Which embeddings are not zero, (n,), on the CPU."""
        if self.scale is not None:  # no need to read the numbers
            return (self.scale > LEAST_SCALE).cpu()
        known = (self.numbers[:, :FIRST_COLUMNS] != 0).any(dim=1)
        left = torch.nonzero(~known)[:, 0]  # hardly any but those that are zero
        known[left] = (self.numbers[left] != 0).any(dim=1)
        return known.cpu()

    def times(self, factors: Tensor) -> Embeddings:
        """The same embeddings, whose cosines are multiplied by factors."""
        scaled = copy(self)
        scaled.factors = factors if self.factors is None else self.factors * factors
        return scaled

    @property
    def multipliers(self) -> Tensor | None:
        """What products of the numbers are multiplied by to become cosines, (n,); None for one."""
        if self.scale is None or self.factors is None:
            return self.scale if self.factors is None else self.factors
        return self.scale * self.factors

    def products(self, other: Embeddings) -> Tensor:
        """The products of the numbers of all pairs, (n, m); times the multipliers of both they are cosines."""
        is_int8 = self.numbers.dtype == torch.int8 and other.numbers.dtype == torch.int8
        if is_int8 and has_fast_int8_products() and len(self) and len(other):
            products: Tensor = torch._int_mm(self.numbers, other.numbers.t())
            return products
        return self.numbers.float() @ other.numbers.float().t()

    def cosines(self, other: Embeddings) -> Tensor:
        """The cosines of all pairs, (n, m)."""
        return self.as_cosines(self.products(other).float(), other)

    def as_cosines(self, products: Tensor, other: Embeddings) -> Tensor:
        """Products of the numbers of all pairs, as floating-point numbers, in whose memory the cosines then are."""
        own, others = self.multipliers, other.multipliers
        products = products if others is None else products.mul_(others)
        return products if own is None else products.mul_(own[:, None])


def row_blocks(matrix: Tensor) -> list[slice]:
    """Places of a few rows at a time, on a CPU; elsewhere of all at once."""
    rows, width = matrix.shape
    size = max(1, NUMBERS_AT_ONCE // max(1, width)) if matrix.device.type == "cpu" else max(1, rows)
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


def normalise_rows(rows: Tensor, out: Tensor | None = None) -> Tensor:
    """Gives rows unit length, in their own memory or in `out`; zero stays zero."""
    return torch.div(rows, rows.norm(dim=1, keepdim=True).clamp_min_(LEAST_LENGTH), out=rows if out is None else out)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    """Tensors in a row; what split one tensor is undone without a copy."""
    first, start = parts[0], parts[0].storage_offset()
    for part in parts:
        is_next = part.storage_offset() == start and part.is_contiguous() and part.dtype == first.dtype
        if not is_next or part.untyped_storage().data_ptr() != first.untyped_storage().data_ptr():
            return torch.cat(list(parts))
        start += part.numel()
    in_a_row = first.as_strided((start - first.storage_offset(),), (1,))  # one row may have the stride of a view
    return in_a_row.view(sum(map(len, parts)), *first.shape[1:])


def tensor_of(array: np.ndarray) -> Tensor:
    """An array as a tensor in the same memory, which nobody may write to if the array is read-only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about arrays that are read-only
        return torch.from_numpy(array)


def _scales(rows: Tensor) -> Tensor:
    if not rows.numel():
        return rows.new_full((len(rows),), LEAST_SCALE)
    lowest, highest = rows.amin(dim=1), rows.amax(dim=1)  # torch.aminmax takes ten times as long
    return (torch.maximum(-lowest, highest) / LARGEST_INT8).clamp(min=LEAST_SCALE)


@cache
def has_fast_int8_products() -> bool:
    """Whether this processor has instructions for int8 products, and torch can use them."""
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    fast = any(capabilities.get(name, False) for name in ("avx512_vnni", "avx_vnni", "amx_int8"))
    return fast and hasattr(torch, "_int_mm")
