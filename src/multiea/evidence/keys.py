"""Keys: the values of all KGs that can be equal, as numbers, and which properties have equal ones in anchors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl

from multiea.foundation.offsets import offsets


@dataclass(frozen=True)
class Keys:
    """The keys of one KG. table: entity, property, kind, key and code, sorted by entity; equal keys of all KGs have
    equal codes.
    """

    table: pl.DataFrame

    @cached_property
    def properties(self) -> list[str]:
        """All properties, in alphabetical order."""
        return self.table["property"].unique().sort().to_list()

    @cached_property
    def _by_entity(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        places = pl.DataFrame({"property": self.properties}, schema={"property": pl.String}).with_row_index("place")
        of_rows = self.table.join(places, on="property", maintain_order="left")
        return tuple(of_rows[name].cast(pl.Int64).to_numpy() for name in ("entity", "place", "code"))  # type: ignore[return-value]

    def of_property(self, name: str) -> pl.DataFrame:
        """The keys of one property."""
        return self.table.filter(property=name)

    def of_entities(self, entities: np.ndarray, without: set[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The keys of some entities: the place of each among these, its property and its code.

        without: properties that do not count.
        """
        owner, of_row, code = self._by_entity
        first, end = (np.searchsorted(owner, entities, side) for side in ("left", "right"))
        into = np.repeat(np.arange(len(entities)), end - first)
        row = np.arange(len(into)) + np.repeat(first - (np.cumsum(end - first) - (end - first)), end - first)
        counts = np.array([name not in without for name in self.properties], dtype=bool)[of_row[row]]
        return into[counts], of_row[row][counts], code[row][counts]


def with_codes(tables: Sequence[pl.DataFrame]) -> list[Keys]:
    """Keys of all KGs with codes."""
    codes = pl.concat([table["key"] for table in tables]).cast(pl.Categorical).to_physical().cast(pl.Int64)
    ends = pairwise(offsets(map(len, tables)).tolist())
    return [Keys(table.with_columns(code=codes[start:end])) for table, (start, end) in zip(tables, ends, strict=True)]


def agreeing_properties(
    keys: tuple[Keys, Keys], anchors: tuple[np.ndarray, np.ndarray], without: Sequence[set[str]], least: float
) -> list[tuple[str, str, int, int]]:
    """Pairs of properties with equal keys in at least so many anchors: names, in how many, and how many have both."""
    sides = [own.of_entities(ends, some) for own, ends, some in zip(keys, anchors, without, strict=True)]
    (left, one, left_code), (right, other, right_code) = sides
    width = 1 + max(int(code.max(initial=0)) for code in (left_code, right_code))
    wanted, given = left * width + left_code, right * width + right_code
    order = np.argsort(given, kind="stable")
    first, end = (np.searchsorted(given[order], wanted, side) for side in ("left", "right"))
    into = np.repeat(np.arange(len(wanted)), end - first)
    place = np.arange(len(into)) + np.repeat(first - (np.cumsum(end - first) - (end - first)), end - first)
    counts = [max(len(own.properties), 1) for own in keys]
    both = one[into] * counts[1] + other[order][place]
    pairs = counts[0] * counts[1]
    found, agreeing = np.unique(np.unique(left[into] * pairs + both) % pairs, return_counts=True)
    found, agreeing = found[agreeing >= least], agreeing[agreeing >= least]
    stated = [
        _stated(*some[:2], len(anchors[0]), own) for some, own in zip(sides, divmod(found, counts[1]), strict=True)
    ]
    result = []
    for pair, count in zip(found.tolist(), agreeing.tolist(), strict=True):
        p, q = divmod(pair, counts[1])
        has_both = int(np.count_nonzero(stated[0][p] & stated[1][q]))
        result.append((keys[0].properties[p], keys[1].properties[q], count, has_both))
    return result


def _stated(anchor: np.ndarray, of_row: np.ndarray, anchors: int, properties: np.ndarray) -> dict[int, np.ndarray]:
    """Of some properties, in which anchors each has a key, (anchors,)."""
    result = {one: np.zeros(anchors, dtype=bool) for one in properties.tolist()}
    for one, has_key in result.items():
        has_key[anchor[of_row == one]] = True
    return result
