"""Names to numbers: collects named triples block by block and turns them into a KnowledgeGraph."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph, no_literals
from multiea.foundation.errors import InputError

# Properties whose literals serve as display names, the preferred first.
NAME_PROPERTIES = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
)


ROWS = 1 << 18
BLOCKS_TO_MERGE = 16
Triples = np.ndarray[tuple[int, int], np.dtype[np.int32]]


class _Names:
    """Numbers names as they come, in polars' own dictionary, so that no Python string is kept for any of them."""

    def __init__(self) -> None:
        self._dtype = pl.Categorical(pl.Categories.random())
        self._seen: list[pl.Series] = []

    def encode(self, names: pl.Series) -> pl.Series:
        """The codes of these names."""
        coded = names.cast(pl.String).cast(self._dtype)
        self._seen.append(coded.unique())
        if len(self._seen) >= BLOCKS_TO_MERGE:  # the same names come again and again
            self._seen = [pl.concat(self._seen).unique()]
        return coded.to_physical()

    def ordered(self, salt: str) -> tuple[pl.Series, np.ndarray[tuple[int], np.dtype[np.int32]]]:
        """All names, and for each code the position of its name.

        The order depends on the names and the salt alone, never on the file's order, and it is shuffled: neither the
        order of a source (often that of the gold alignment) nor the alphabet can leak into ties.
        """
        coded = pl.concat(self._seen).unique() if self._seen else pl.Series([], dtype=self._dtype)
        codes, names = coded.to_physical().to_numpy(), coded.cast(pl.String)
        order = names.arg_sort().to_numpy()
        order = order[np.random.default_rng(zlib.crc32(salt.encode())).permutation(len(order))]
        position = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int32)
        position[codes[order]] = np.arange(len(order), dtype=np.int32)
        return names.gather(order).alias("name"), position


class KnowledgeGraphBuilder:
    """Collects the facts of one KG, in any order and from any number of blocks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._entities, self._relations = _Names(), _Names()
        self._triples: list[pl.DataFrame] = []
        self._literals: list[pl.DataFrame] = []
        self._labels: list[pl.DataFrame] = []

    def add_triples(self, heads: pl.Series, relations: pl.Series, tails: pl.Series) -> None:
        """Facts between entities."""
        self._triples.append(
            pl.DataFrame(
                {
                    "head": self._entities.encode(heads),
                    "relation": self._relations.encode(relations),
                    "tail": self._entities.encode(tails),
                }
            )
        )

    def add_literals(self, entities: pl.Series, properties: pl.Series, values: pl.Series, types: pl.Series) -> None:
        """Facts whose object is a value; their subjects become entities."""
        facts = {"property": properties, "value": values, "type": types}
        table = pl.DataFrame({"entity": self._entities.encode(entities), **facts})
        self._literals.append(table.cast({"property": pl.Categorical, "type": pl.Categorical}))

    def add_entities(self, entities: pl.Series, labels: pl.Series | None = None) -> None:
        """Entities that may have no triple, and what to call them on a screen."""
        codes = self._entities.encode(entities)
        if labels is not None:
            self._labels.append(pl.DataFrame({"entity": codes, "label": labels.cast(pl.String)}))

    def build(self, path: Path | None = None) -> KnowledgeGraph:
        """The KG of all that was added; a KG without any entity is an error, at this path."""
        entities, entity_position = self._entities.ordered(self.name)
        relations, relation_position = self._relations.ordered(self.name)
        if not len(entities):
            raise InputError(f"KG '{self.name}' is empty", path=path, expected="at least one triple")
        total = sum(block.height for block in self._triples)
        triples = np.empty((total, 3), dtype=np.int32)
        start = 0
        while self._triples:  # each block is freed as soon as it is copied
            block = self._triples.pop()
            rows = slice(start, start := start + block.height)
            triples[rows, 0] = entity_position[block["head"].to_numpy()]
            triples[rows, 1] = relation_position[block["relation"].to_numpy()]
            triples[rows, 2] = entity_position[block["tail"].to_numpy()]
        triples = _distinct(triples, len(entities), len(relations))
        literals = self._positioned(self._literals, entity_position) if self._literals else no_literals()
        return KnowledgeGraph(
            self.name,
            entities,
            relations,
            triples,
            duplicates=total - len(triples),
            literals=literals,
            names=_labels(self._positioned(self._labels, entity_position), literals, len(entities)),
        )

    @staticmethod
    def _positioned(blocks: list[pl.DataFrame], position: np.ndarray[tuple[int], np.dtype[np.int32]]) -> pl.DataFrame:
        """One table of all blocks, with positions instead of codes in the column `entity`."""
        if not blocks:
            return pl.DataFrame(schema={"entity": pl.Int32, "label": pl.String})
        table = pl.concat(blocks)
        return table.with_columns(entity=pl.Series(position[table["entity"].to_numpy()]))


def _distinct(triples: Triples, entities: int, relations: int) -> Triples:
    """Each triple once, sorted by head, relation and tail; the given array is used as room to work in."""
    if entities * entities * max(relations, 1) >= 2**63:  # a triple does not fit in one integer
        return np.unique(triples, axis=0)
    keys = triples[:, 0].astype(np.int64)
    for column, size in ((1, relations), (2, entities)):
        keys *= size
        keys += triples[:, column]
    keys.sort()
    count = 0
    for start in range(0, len(keys), ROWS):  # in slices, so that no second array of the whole is needed
        before = keys[start - 1] if start else -1
        some = keys[start : start + ROWS]
        some = some[np.diff(some, prepend=before) != 0]
        rows = slice(count, count := count + len(some))
        some, triples[rows, 2] = np.divmod(some, entities)
        triples[rows, 0], triples[rows, 1] = np.divmod(some, relations)
    return triples if count == len(triples) else triples[:count].copy()


def _labels(given: pl.DataFrame, literals: pl.DataFrame, entities: int) -> pl.Series | None:
    """A label for each entity: the given one, else its best literal, English first; None where no entity has any."""
    rank = pl.Series(range(len(NAME_PROPERTIES)), dtype=pl.Int32)
    named = (
        literals.with_columns(pl.col("property", "type").cast(pl.String))
        .filter(pl.col("property").is_in(NAME_PROPERTIES))
        .with_columns(
            rank=pl.col("property").replace_strict(list(NAME_PROPERTIES), rank, return_dtype=pl.Int32),
            foreign=pl.col("type") != "@en",
        )
        .sort("rank", "foreign", "type", "value")
        .select("entity", label="value")
    )
    table = pl.concat([given.drop_nulls().sort("entity", "label"), named]).unique(
        "entity", keep="first", maintain_order=True
    )
    if table.is_empty():
        return None
    everyone = pl.DataFrame({"entity": np.arange(entities, dtype=np.int32)})
    return everyone.join(table, on="entity", how="left", maintain_order="left")["label"]
