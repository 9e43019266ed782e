"""Interning: turns entity and relation ids into integers, block by block."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.packed_triples import distinct_triples
from multiea.foundation.errors import InputError

MERGE_AFTER_BLOCKS = 16


class Interner:
    """Assigns integer codes to strings with polars' categories, so that no Python string is kept."""

    def __init__(self) -> None:
        self._dtype = pl.Categorical(pl.Categories.random())
        self._seen: list[pl.Series] = []

    def encode(self, strings: pl.Series) -> pl.Series:
        """The codes of these strings."""
        coded = strings.cast(pl.String).cast(self._dtype)
        self._seen.append(coded.unique())
        if len(self._seen) >= MERGE_AFTER_BLOCKS:  # blocks repeat the same strings
            self._seen = [pl.concat(self._seen).unique()]
        return coded.to_physical()

    def ordered(self, salt: str) -> tuple[pl.Series, NDArray[np.int32]]:
        """All distinct strings, and for each code the position of its string.

        The order depends only on the strings and the salt, never on the order of the input, and it is shuffled:
        neither the order of a source (often that of the gold alignment) nor the alphabet can influence ties.
        """
        coded = pl.concat(self._seen).unique() if self._seen else pl.Series([], dtype=self._dtype)
        codes, strings = coded.to_physical().to_numpy(), coded.cast(pl.String)
        order = strings.arg_sort().to_numpy()
        order = order[np.random.default_rng(zlib.crc32(salt.encode())).permutation(len(order))]
        position = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int32)
        position[codes[order]] = np.arange(len(order), dtype=np.int32)
        return strings.gather(order).alias("name"), position


@dataclass(frozen=True)
class InternedTriples:
    """The interned content of one KG.

    entities: (E,) ids. relations: (R,) ids. triples: (T, 3) positions, each triple once. duplicates: how many
    repetitions were dropped. position_of_code: for each entity code its position among the entities.
    """

    entities: pl.Series
    relations: pl.Series
    triples: NDArray[np.int32]
    duplicates: int
    position_of_code: NDArray[np.int32]


class TripleInterner:
    """Collects the triples of one KG, in any order and in any number of blocks, and interns them."""

    def __init__(self, kg_name: str) -> None:
        self._kg_name = kg_name
        self._entities, self._relations = Interner(), Interner()
        self._blocks: list[pl.DataFrame] = []

    def add_triples(self, heads: pl.Series, relations: pl.Series, tails: pl.Series) -> None:
        """Adds triples between entities."""
        self.add_coded_triples(self._entities.encode(heads), relations, tails)

    def add_coded_triples(self, heads: pl.Series, relations: pl.Series, tails: pl.Series) -> None:
        """Adds triples whose heads are codes that `add_entities` returned."""
        codes = {"relation": self._relations.encode(relations), "tail": self._entities.encode(tails)}
        self._blocks.append(pl.DataFrame({"head": heads, **codes}))

    def add_entities(self, entities: pl.Series) -> pl.Series:
        """Adds entities, which may have no triple, and returns their codes."""
        return self._entities.encode(entities)

    def finish(self, path: Path | None = None) -> InternedTriples:
        """The interned triples. A KG without any entity is an error, reported for this path."""
        entities, entity_position = self._entities.ordered(self._kg_name)
        relations, relation_position = self._relations.ordered(self._kg_name)
        if not len(entities):
            raise InputError(f"KG '{self._kg_name}' is empty", path=path, expected="at least one triple or record")
        total = sum(block.height for block in self._blocks)
        triples = np.empty((total, 3), dtype=np.int32)
        start = 0
        while self._blocks:  # each block is freed as soon as it is copied
            block = self._blocks.pop()
            rows = slice(start, start := start + block.height)
            triples[rows, 0] = entity_position[block["head"].to_numpy()]
            triples[rows, 1] = relation_position[block["relation"].to_numpy()]
            triples[rows, 2] = entity_position[block["tail"].to_numpy()]
        triples = distinct_triples(triples, len(relations), len(entities))
        return InternedTriples(entities, relations, triples, total - len(triples), entity_position)
