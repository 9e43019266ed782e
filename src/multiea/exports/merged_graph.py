"""The merged KG: the members of a group become one entity, and equal facts become one fact with all its sources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from multiea.data.iris import ENTITY, RELATION, relation_iris
from multiea.data.packed_triples import can_pack, pack, unpack
from multiea.exports.representatives import MergedNames
from multiea.foundation.errors import InputError
from multiea.foundation.offsets import offsets
from multiea.runs.run import Run


@dataclass(frozen=True)
class MergedGraph:
    """The facts between merged entities as numbers, KG by KG.

    nodes: the distinct IRIs of merged entities. node: (N,) the number of each entity in `nodes`. relations: the
    distinct IRIs of relations. facts: for each KG its distinct facts, (facts, 3) numbers of head, relation and tail,
    sorted.
    """

    nodes: pl.Series
    node: np.ndarray
    relations: pl.Series
    facts: list[np.ndarray]

    def distinct_facts(self) -> tuple[np.ndarray, np.ndarray]:
        """All facts once, (facts, 3), and whether each KG states them, (facts, M)."""
        keys = [_packed(facts, len(self.nodes), len(self.relations)) for facts in self.facts]
        distinct = np.unique(np.concatenate(keys))
        stated = np.stack([np.isin(distinct, own, assume_unique=True) for own in keys], axis=1)
        return _unpacked(distinct, len(self.nodes), len(self.relations)), stated


def merge(run: Run, names: MergedNames) -> MergedGraph:
    """Replaces the entities in the triples of all KGs by their merged entities."""
    kgs = run.alignment.task.kgs
    if not any(len(kg.triples) or len(kg.literals) for kg in kgs):
        raise InputError(
            "the alignment has no triples, so there is nothing to merge",
            hint="A run opened with multiea.open(folder, with_triples=True) has them",
        )
    nodes, node = _numbered(names.merged)
    relations, relation = _numbered(pl.concat([relation_iris(kg.relations) for kg in kgs]))
    relation_offsets = offsets(len(kg.relations) for kg in kgs)
    facts = []
    for number, kg in enumerate(kgs):
        node_in_kg, relation_in_kg = node[names.offsets[number] :], relation[relation_offsets[number] :]
        head, kind, tail = kg.triples.T
        merged = np.stack([node_in_kg[head], relation_in_kg[kind], node_in_kg[tail]], axis=1)
        keys = np.unique(_packed(merged, len(nodes), len(relations)))
        facts.append(_unpacked(keys, len(nodes), len(relations)))
    return MergedGraph(nodes, node, relations, facts)


def count_encoded(run: Run, names: MergedNames) -> int:
    """How many entities and relations of the merged KG have ids that are not IRIs."""
    relations = pl.concat([relation_iris(kg.relations) for kg in run.alignment.task.kgs]).unique()
    entities = names.merged.unique()
    return int(entities.str.starts_with(ENTITY).sum()) + int(relations.str.starts_with(RELATION).sum())


def _numbered(iris: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """The distinct IRIs, sorted, and for each given IRI its number among them."""
    distinct = iris.unique().sort()
    numbers = pl.DataFrame({"iri": distinct}).with_row_index("number")
    number = iris.to_frame("iri").join(numbers, on="iri", how="left", maintain_order="left")["number"]
    return distinct, number.to_numpy().astype(np.int64)


def _packed(facts: np.ndarray, nodes: int, relations: int) -> np.ndarray:
    """Facts, (facts, 3), as one whole number each, (facts,)."""
    if not can_pack(relations, nodes):
        raise InputError(f"{nodes:,} entities and {relations:,} relations are too many to merge")
    head, relation, tail = facts.T
    return pack(head, relation, tail, relations, nodes)


def _unpacked(keys: np.ndarray, nodes: int, relations: int) -> np.ndarray:
    return np.stack(unpack(keys, relations, nodes), axis=1)
