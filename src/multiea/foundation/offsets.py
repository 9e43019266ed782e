"""Offsets of parts that share one joint id space."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def offsets(sizes: Iterable[int]) -> NDArray[np.int64]:
    """The first id of each of M parts in their joint id space, and at the end the total size, (M + 1,).

    >>> offsets([3, 2])
    array([0, 3, 5])
    """
    return np.cumsum([0, *sizes], dtype=np.int64)
