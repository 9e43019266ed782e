"""Cosines of many pairs at once, by whole numbers where the processor multiplies those several times faster."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

LARGEST = 127  # of a whole number of eight bits
ROWS = 4096  # turned at a time
FEWEST = 16  # numbers of an embedding for which whole ones are near enough


class Comparable:
    """Embeddings of unit length, (n, d), ready to be compared.

    As whole numbers from -127 to 127, times a scale for each: a cosine of two dense embeddings of a thousand numbers is
    then right to about 0.0002, and sums are exact, so that entities that are alike stay alike.
    """

    def __init__(self, embeddings: Tensor) -> None:
        self.embeddings = embeddings
        self.device = embeddings.device
        self._scale: Tensor | None = None
        if embeddings.device.type == "cpu" and embeddings.shape[1] >= FEWEST and multiplies_whole_numbers():
            lowest, highest = torch.aminmax(embeddings, dim=1) if embeddings.numel() else (embeddings.sum(1),) * 2
            self._scale = (torch.maximum(-lowest, highest) / LARGEST).clamp(min=1e-30)
            self._whole = torch.empty(embeddings.shape, dtype=torch.int8)
            for start in range(0, len(embeddings), ROWS):
                some = slice(start, start + ROWS)
                self._whole[some] = (embeddings[some] / self._scale[some, None]).round_()

    def __len__(self) -> int:
        return len(self.embeddings)

    def __getitem__(self, which: slice) -> Comparable:
        part = Comparable.__new__(Comparable)
        part.embeddings, part.device, part._scale = self.embeddings[which], self.device, None
        if self._scale is not None:
            part._scale, part._whole = self._scale[which], self._whole[which]
        return part

    def cosines(self, other: Comparable) -> Tensor:
        """Of all pairs, (n, m)."""
        if self._scale is None or other._scale is None or not len(self) or not len(other):
            return self.embeddings @ other.embeddings.t()
        whole = torch._int_mm(self._whole, other._whole.t())
        return whole.float().mul_(other._scale).mul_(self._scale[:, None])


@cache
def multiplies_whole_numbers() -> bool:
    """Whether this processor has instructions for products of bytes, and torch a way to them."""
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    fast = any(capabilities.get(name, False) for name in ("avx512_vnni", "avx_vnni", "amx_int8"))
    return fast and hasattr(torch, "_int_mm")
