"""The merged KG: members of a group become one entity, facts that become the same are one with all their sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from multiea.data.iris import ENTITY, RELATION, is_iri, kg_iri, relation_iris
from multiea.data.knowledge_graph import no_literals
from multiea.data.knowledge_graph_builder import NAME_PROPERTIES
from multiea.data.packed_triples import can_pack, pack, unpack
from multiea.exports.same_as import ROWS, write_lines
from multiea.foundation import progress
from multiea.foundation.errors import InputError
from multiea.foundation.offsets import offsets

if TYPE_CHECKING:
    from multiea.data.knowledge_graph import KnowledgeGraph
    from multiea.exports.canonical import Canonical
    from multiea.grouping.alignment import AlignmentResult

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
LANGUAGE = r"^@[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$"


@dataclass(frozen=True)
class MergedGraph:
    """Facts between merged entities as numbers, KG by KG.

    nodes: distinct IRIs of merged entities. node: (N,) for each entity of all KGs its number there. relations: distinct
    IRIs. facts: of each KG its distinct facts, (facts, 3) numbers of head, relation and tail, sorted.
    """

    nodes: pl.Series
    node: np.ndarray
    relations: pl.Series
    facts: list[np.ndarray]

    def joined(self) -> tuple[np.ndarray, np.ndarray]:
        """All facts once, (facts, 3), and for each KG whether it states them, (facts, M)."""
        keys = [_packed(facts, len(self.nodes), len(self.relations)) for facts in self.facts]
        distinct = np.unique(np.concatenate(keys))
        stated = np.stack([np.isin(distinct, own, assume_unique=True) for own in keys], axis=1)
        return _unpacked(distinct, len(self.nodes), len(self.relations)), stated


def merge(alignment: AlignmentResult, names: Canonical) -> MergedGraph:
    """The facts of all KGs between what stands for their entities."""
    kgs = alignment.task.kgs
    if not any(len(kg.triples) or len(kg.literals) for kg in kgs):
        raise InputError(
            "the KGs have no triples here, so there is nothing to merge",
            hint="Open the run with multiea.open(folder, with_triples=True)",
        )
    nodes, node = _numbered(names.merged)
    relations, relation = _numbered(pl.concat([relation_iris(kg.relations) for kg in kgs]))
    starts = offsets(len(kg.relations) for kg in kgs)
    facts = []
    for number, kg in enumerate(kgs):
        own, of_relation = node[names.offsets[number] :], relation[starts[number] :]
        head, kind, tail = kg.triples.T
        keys = _packed(np.stack([own[head], of_relation[kind], own[tail]], axis=1), len(nodes), len(relations))
        facts.append(_unpacked(np.unique(keys), len(nodes), len(relations)))
    return MergedGraph(nodes, node, relations, facts)


def write_nquads(alignment: AlignmentResult, names: Canonical, path: Path) -> int:
    """Writes N-Quads, a graph a source; returns how many. A fact of several sources stands in each one's graph."""
    merged, count = merge(alignment, names), 0
    total = sum(len(facts) for facts in merged.facts) + sum(len(kg.literals) for kg in alignment.task.kgs)
    with path.open("wb") as file, progress.stage("writing the merged KG", total) as advance:
        for number, kg in enumerate(alignment.task.kgs):
            graph = kg_iri(kg.name)
            for start in range(0, len(merged.facts[number]), ROWS):
                head, relation, tail = merged.facts[number][start : start + ROWS].T
                ends = {"h": merged.nodes.gather(head), "r": merged.relations.gather(relation)}
                lines = pl.DataFrame(ends | {"t": merged.nodes.gather(tail)})
                write_lines(
                    file, lines.select(pl.format(f"<{{}}> <{{}}> <{{}}> <{graph}> .", "h", "r", "t")).to_series()
                )
                count += len(lines)
                advance(len(lines))
            for some in _literals(kg, names, number):
                table = some.select("subject", "property", value=_literal(some)).unique(maintain_order=True)
                form = f"<{{}}> <{{}}> {{}} <{graph}> ."
                write_lines(file, table.select(pl.format(form, "subject", "property", "value")).to_series())
                count += len(table)
                advance(len(some))
    return count


def write_parquet(alignment: AlignmentResult, names: Canonical, path: Path) -> int:
    """Writes a table: head, relation, tail, type (of values; null between entities), sources; returns how many rows.

    Names are looked up block by block while writing, so that no table of them is ever whole.
    """
    merged, kgs = merge(alignment, names), alignment.task.kgs
    facts, stated = merged.joined()
    codes, code = np.unique(stated, axis=0, return_inverse=True)
    of_codes = [[kg.name for kg, here in zip(kgs, row, strict=True) if here] for row in codes]
    numbers = dict(zip(("head", "relation", "tail"), facts.T, strict=True))
    between = pl.LazyFrame(numbers | {"sources": code.ravel()}).select(
        _looked_up("head", merged.nodes),
        _looked_up("relation", merged.relations),
        _looked_up("tail", merged.nodes),
        pl.lit(None, pl.String).alias("type"),
        _looked_up("sources", pl.Series(of_codes, dtype=pl.List(pl.String))),
    )
    parts = [
        some.select(head="subject", relation="property", tail="value", type="type", source=pl.lit(kg.name))
        for number, kg in enumerate(kgs)
        for some in _literals(kg, names, number)
    ]
    key = ["head", "relation", "tail", "type"]
    values = pl.concat(parts).group_by(key).agg(sources=pl.col("source").unique().sort()).sort(key) if parts else None
    with progress.stage("writing the merged KG"):
        pl.concat([between] if values is None else [between, values.lazy()]).sink_parquet(path)
    return len(facts) + (0 if values is None else len(values))


def _looked_up(column: str, names: pl.Series) -> pl.Expr:
    """Numbers replaced by what stands there."""
    return pl.col(column).map_batches(names.gather, return_dtype=names.dtype, is_elementwise=True)


def encoded(alignment: AlignmentResult, names: Canonical) -> int:
    """How many names of entities and relations in the merged KG were no IRIs."""
    relations = pl.concat([relation_iris(kg.relations) for kg in alignment.task.kgs]).unique()
    entities = names.merged.unique()
    return len(entities.filter(entities.str.starts_with(ENTITY))) + len(
        relations.filter(relations.str.starts_with(RELATION))
    )


def undo_table(alignment: AlignmentResult, names: Canonical) -> pl.DataFrame:
    """Which entity of which KG each merged one was: source, entity, merged.

    Only entities whose name changed; with it every fact leads back to its original.
    """
    kgs = alignment.task.kgs
    table = pl.DataFrame(
        {
            "source": pl.concat([pl.Series([kg.name] * len(kg.entities), dtype=pl.String) for kg in kgs]),
            "entity": pl.concat([kg.entities for kg in kgs]),
            "merged": names.merged,
        }
    )
    return table.filter(pl.col("entity") != pl.col("merged"))


def undo_facts(alignment: AlignmentResult, names: Canonical) -> pl.DataFrame:
    """Original facts where a name alone does not lead back: of KGs that had several entities for a merged one."""
    parts = []
    for number, kg in enumerate(alignment.task.kgs):
        merged = names.merged.slice(int(names.offsets[number]), len(kg.entities))
        several = merged.is_duplicated().to_numpy()
        head, relation, tail = kg.triples.T
        rows = np.flatnonzero(several[head] | several[tail])
        parts.append(
            pl.DataFrame(
                {
                    "source": pl.Series([kg.name] * len(rows), dtype=pl.String),
                    "head": kg.entities.gather(head[rows]),
                    "relation": kg.relations.gather(relation[rows]),
                    "tail": kg.entities.gather(tail[rows]),
                    "type": pl.Series([None] * len(rows), dtype=pl.String),
                }
            )
        )
        values = kg.literals.filter(pl.Series(several).gather(kg.literals["entity"]))
        columns = {"head": kg.entities.gather(values["entity"]), "relation": values["property"].cast(pl.String)}
        columns |= {"tail": values["value"], "type": values["type"].cast(pl.String)}
        source = pl.Series([kg.name] * len(values), dtype=pl.String)
        parts.append(pl.DataFrame({"source": source, **columns}))
    return pl.concat(parts)


def _literals(kg: KnowledgeGraph, names: Canonical, number: int) -> Iterator[pl.DataFrame]:
    """Facts whose object is a value, in blocks: subject, property, value, type; last the labels that no fact states."""
    merged = names.merged.slice(int(names.offsets[number]), len(kg.entities))
    blocks = (kg.literals.slice(start, ROWS) for start in range(0, len(kg.literals), ROWS))
    for some in (*blocks, _unstated_labels(kg)):
        yield pl.DataFrame(
            {
                "subject": merged.gather(some["entity"]),
                "property": relation_iris(some["property"].cast(pl.String)),
                "value": some["value"],
                "type": some["type"].cast(pl.String),
            }
        )


def _unstated_labels(kg: KnowledgeGraph) -> pl.DataFrame:
    """Labels that came with a table of entities, as literals."""
    if kg.names is None:
        return no_literals()
    labels = pl.DataFrame({"entity": np.arange(len(kg.entities)), "value": kg.names}).drop_nulls()
    labels = labels.with_columns(pl.col("entity").cast(kg.literals.schema["entity"]))
    stated = kg.literals.filter(pl.col("property").cast(pl.String).is_in(NAME_PROPERTIES))
    unstated = labels.join(stated, on=["entity", "value"], how="anti", maintain_order="left")
    return unstated.select("entity", property=pl.lit(RDFS_LABEL), value="value", type=pl.lit(None, pl.String))


def _literal(some: pl.DataFrame) -> pl.Series:
    """Values as N-Quads write them; a type that is no IRI is written as one of ours."""
    kind = some["type"].fill_null(XSD_STRING)
    language = kind.str.contains(LANGUAGE)
    plain = (kind == XSD_STRING) | (kind == "")
    datatype = pl.select(pl.when(is_iri(kind)).then(kind).otherwise(relation_iris(kind))).to_series()
    text = '"' + some["value"].str.replace_many(ESCAPES) + '"'
    typed = text + "^^<" + datatype + ">"
    return pl.select(pl.when(plain).then(text).when(language).then(text + kind).otherwise(typed)).to_series()


def _numbered(names: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """Distinct names, sorted, and for each given one its number."""
    distinct = names.unique().sort()
    known = pl.DataFrame({"name": distinct}).with_row_index("number")
    number = names.to_frame("name").join(known, on="name", how="left", maintain_order="left")["number"]
    return distinct, number.to_numpy().astype(np.int64)


def _packed(facts: np.ndarray, nodes: int, relations: int) -> np.ndarray:
    """Facts as single whole numbers."""
    if not can_pack(relations, nodes):
        raise InputError(f"{nodes:,} entities and {relations:,} relations are too many to merge")
    head, relation, tail = facts.T
    return pack(head, relation, tail, relations, nodes)


def _unpacked(keys: np.ndarray, nodes: int, relations: int) -> np.ndarray:
    return np.stack(unpack(keys, relations, nodes), axis=1)
