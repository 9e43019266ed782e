"""Writes small data sets, and compares KGs and groups by their content."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task

Triple = tuple[str, str, str]


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if isinstance(content, str) and path.suffix == ".gz" else data)
    return folder


def parquet(table: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def facts(kg: KnowledgeGraph) -> set[Triple]:
    return set(kg.named_triples().iter_rows())


def literals(kg: KnowledgeGraph) -> set[tuple[str, str, str, str]]:
    table = kg.literals.with_columns(entity=kg.entities.gather(kg.literals["entity"]))
    return set(table.cast(pl.String).iter_rows())


def display_names(kg: KnowledgeGraph) -> dict[str, str]:
    return {} if kg.names is None else {e: x for e, x in zip(kg.entities, kg.names, strict=True) if x is not None}


def named(groups: Groups, task: Task) -> set[frozenset[tuple[str, str]]]:
    rows = groups.to_table(task.kgs).iter_rows(named=True)
    return {frozenset((kg, entity) for kg, entity in row.items() if entity is not None) for row in rows}


def group(**members: str) -> frozenset[tuple[str, str]]:
    return frozenset(members.items())


def assert_same_kg(one: KnowledgeGraph, other: KnowledgeGraph) -> None:
    assert one.name == other.name
    assert one.entities.to_list() == other.entities.to_list()
    assert one.relations.to_list() == other.relations.to_list()
    np.testing.assert_array_equal(one.triples, other.triples)
    assert one.duplicates == other.duplicates
    assert literals(one) == literals(other)
    assert display_names(one) == display_names(other)
    assert one.given_names.equals(other.given_names)
    assert one.property_roles == other.property_roles
