"""Arrays in files, mapped into memory: only the pages in use take memory, and they can be given back."""

from __future__ import annotations

import math
import mmap
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

_MAPPED: WeakValueDictionary[int, np.memmap[Any, Any]] = WeakValueDictionary()


def map_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...], offset: int = 0) -> NDArray[Any]:
    """An array in a file, from the given byte on. It must not be written to: what is written may be lost."""
    if not math.prod(shape):
        return np.empty(shape, dtype)
    return tracked(np.memmap(path, dtype, mode="c", offset=offset, shape=shape))  # torch warns of read-only arrays


def tracked(array: np.memmap[Any, Any]) -> np.memmap[Any, Any]:
    """The same memory-mapped array, whose pages release_pages gives back from now on."""
    _MAPPED[id(array)] = array
    return array


def release_pages() -> None:
    """Gives back the pages of all mapped arrays, which are read again where they are needed.

    Pages of a file count as memory of the process until the system needs them; a loop over blocks calls this after
    each of them.
    """
    advice = getattr(mmap, "MADV_DONTNEED", None)
    for array in list(_MAPPED.values()):
        file: mmap.mmap | None = getattr(array, "_mmap", None)
        if file is not None and advice is not None:
            file.madvise(advice)
