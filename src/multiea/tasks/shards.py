"""Shards: named sets of arrays that tasks write and read, in memory or in a folder."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
Arrays = dict[str, Array]
Form = tuple[tuple[int, ...], DTypeLike]  # shape and type of an array


class Shards(Protocol):
    """Arrays by the name of their shard, such as `lists/en-fr/3`. A shard is there completely or not at all."""

    def put(self, name: str, arrays: Mapping[str, Array]) -> None:
        """Writes a shard; one of the same name is replaced."""
        ...

    def writing(self, name: str, forms: Mapping[str, Form]) -> AbstractContextManager[Arrays]:
        """Arrays to fill block by block; they become the shard when the context ends without an error."""
        ...

    def get(self, name: str) -> Arrays:
        """The arrays of a shard, read-only; those in a folder are memory-mapped."""
        ...

    def rows(self, name: str, array: str, start: int, stop: int) -> Array:
        """Some rows of an array, read-only; nothing else of it comes into memory."""
        ...

    def drop(self, name: str) -> None:
        """Removes a shard, if it is there; a runner would make it again."""
        ...

    def __contains__(self, name: str) -> bool: ...


class MemoryShards:
    """Shards in the memory of this process."""

    def __init__(self) -> None:
        self._shards: dict[str, Arrays] = {}

    def put(self, name: str, arrays: Mapping[str, Array]) -> None:
        """Keeps the arrays themselves, not copies."""
        self._shards[name] = {key: _read_only(array) for key, array in arrays.items()}

    @contextmanager
    def writing(self, name: str, forms: Mapping[str, Form]) -> Iterator[Arrays]:
        """Arrays that become the shard when the context ends without an error."""
        arrays = {key: np.zeros(shape, dtype) for key, (shape, dtype) in forms.items()}
        yield arrays
        self.put(name, arrays)

    def get(self, name: str) -> Arrays:
        """The arrays of a shard, read-only."""
        return dict(self._shards[name])

    def rows(self, name: str, array: str, start: int, stop: int) -> Array:
        """Some rows of an array, not copied."""
        return self._shards[name][array][start:stop]

    def drop(self, name: str) -> None:
        """Removes a shard, if it is there."""
        self._shards.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self._shards


def _read_only(array: Array) -> Array:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def let_go(array: Array) -> None:
    """Takes the pages of a memory-mapped array out of the memory of this process; they stay in their file."""
    base: Any = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    if base is not None and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)
