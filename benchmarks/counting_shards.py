"""Shards that count what is read and written.

An array counts as read as a whole, once for each task, when the task takes it out of its shard; rows count as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from multiea.tasks.shards import Array, Arrays, Form, Shards


class CountingShards:
    """The same shards; counts the bytes read and written since the last `start`, and what is there by kind."""

    def __init__(self, shards: Shards) -> None:
        self._shards, self._sizes = shards, dict[str, int]()
        self.start()

    def start(self) -> None:
        """Forgets what was counted."""
        self.written, self._rows, self._whole = 0, 0, dict[tuple[str, str], int]()

    @property
    def read(self) -> int:
        """The bytes read."""
        return self._rows + sum(self._whole.values())

    def sizes(self) -> dict[str, int]:
        """The bytes of the shards that are there, by kind: `round0/lists/a-b/0` is one of the lists."""
        total = Counter[str]()
        for name, size in self._sizes.items():
            total[kind_of(name)] += size
        return dict(total)

    def put(self, name: str, arrays: Mapping[str, Array]) -> None:
        """Writes a shard."""
        self._shards.put(name, arrays)
        self._note(name, sum(np.asarray(array).nbytes for array in arrays.values()))

    @contextmanager
    def writing(self, name: str, forms: Mapping[str, Form]) -> Iterator[Arrays]:
        """Arrays to fill."""
        with self._shards.writing(name, forms) as arrays:
            yield arrays
            size = sum(array.nbytes for array in arrays.values())
        self._note(name, size)

    def get(self, name: str) -> Arrays:
        """The arrays of a shard, which count when they are taken."""
        return _Counted(self._shards.get(name), self._whole, name)

    def rows(self, name: str, array: str, start: int, stop: int) -> Array:
        """Some rows of an array."""
        found = self._shards.rows(name, array, start, stop)
        self._rows += found.nbytes
        return found

    def drop(self, name: str) -> None:
        """Removes a shard."""
        self._shards.drop(name)
        self._sizes.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self._shards

    def _note(self, name: str, size: int) -> None:
        self.written += size
        self._sizes[name] = size


class _Counted(dict[str, Array]):
    """Arrays by name that count when one is taken."""

    def __init__(self, arrays: Arrays, counted: dict[tuple[str, str], int], shard: str) -> None:
        super().__init__(arrays)
        self._counted, self._shard = counted, shard

    def __getitem__(self, key: str) -> Array:
        array = super().__getitem__(key)
        self._counted[self._shard, key] = array.nbytes
        return array

    def __iter__(self) -> Iterator[str]:  # with an own one, `**` takes the arrays by __getitem__
        return super().__iter__()


def kind_of(shard: str) -> str:
    """`round0/lists/a-b/0` is one of the lists, `edges/0` one of the edges."""
    parts = shard.split("/")
    return parts[1] if parts[0] == "final" or parts[0].startswith("round") else parts[0]
