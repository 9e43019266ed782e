"""Cosines of many pairs at once, in 8-bit integers where the processor multiplies those several times faster."""

from __future__ import annotations

from copy import copy
from functools import cache

import torch
from torch import Tensor

LARGEST_INT8 = 127
ROWS_AT_ONCE = 4096
FEWEST_DIMENSIONS = 16  # below this, 8 bits are not accurate enough


class Int8Embeddings:
    """Embeddings of unit length, (n, d), prepared for cosines.

    They are stored as integers from -127 to 127, with one scale per embedding. A cosine of two dense embeddings with a
    thousand dimensions is then accurate to about 0.0002. Sums of integers are exact, so equal embeddings stay equal.
    Where the processor has no fast int8 products, cosines are computed in floating point.
    factors: what the cosines of each embedding are multiplied by, (n,); None for nothing.
    """

    def __init__(self, embeddings: Tensor) -> None:
        self.embeddings = embeddings
        self.device = embeddings.device
        self.factors: Tensor | None = None
        self._scale: Tensor | None = None
        if embeddings.device.type == "cpu" and embeddings.shape[1] >= FEWEST_DIMENSIONS and has_fast_int8_products():
            lowest, highest = torch.aminmax(embeddings, dim=1) if embeddings.numel() else (embeddings.sum(1),) * 2
            self._scale = (torch.maximum(-lowest, highest) / LARGEST_INT8).clamp(min=1e-30)
            self._integers = torch.empty(embeddings.shape, dtype=torch.int8)
            for start in range(0, len(embeddings), ROWS_AT_ONCE):
                rows = slice(start, start + ROWS_AT_ONCE)
                self._integers[rows] = (embeddings[rows] / self._scale[rows, None]).round_()

    def __len__(self) -> int:
        return len(self.embeddings)

    def __getitem__(self, rows: slice) -> Int8Embeddings:
        part = copy(self)
        part.embeddings = self.embeddings[rows]
        part.factors = None if self.factors is None else self.factors[rows]
        if self._scale is not None:
            part._scale, part._integers = self._scale[rows], self._integers[rows]
        return part

    def times(self, factors: Tensor) -> Int8Embeddings:
        """The same embeddings, whose cosines are multiplied by factors."""
        scaled = copy(self)
        scaled.factors = factors if self.factors is None else self.factors * factors
        return scaled

    def cosines(self, other: Int8Embeddings) -> Tensor:
        """The cosines of all pairs, (n, m)."""
        if self._scale is None or other._scale is None or not len(self) or not len(other):
            products, own, others = self.embeddings @ other.embeddings.t(), self.factors, other.factors
        else:
            products = torch._int_mm(self._integers, other._integers.t()).float()
            own, others = _product(self._scale, self.factors), _product(other._scale, other.factors)
        products = products if others is None else products.mul_(others)
        return products if own is None else products.mul_(own[:, None])


def _product(scale: Tensor, factors: Tensor | None) -> Tensor:
    return scale if factors is None else scale * factors


@cache
def has_fast_int8_products() -> bool:
    """Whether this processor has instructions for int8 products, and torch can use them."""
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    fast = any(capabilities.get(name, False) for name in ("avx512_vnni", "avx_vnni", "amx_int8"))
    return fast and hasattr(torch, "_int_mm")
