"""Small KGs with names and attributes, and the features that describe their entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from multiea import KnowledgeGraph
from multiea.data.knowledge_graph import LITERAL_SCHEMA, NAME_SCHEMA
from multiea.evidence.features import Features


def named_kg(name: str, names: Sequence[Sequence[str]]) -> KnowledgeGraph:
    """A KG without triples: one entity for each list of names, with ids that are codes."""
    rows = [(entity, one) for entity, some in enumerate(names) for one in some]
    return replace(_bare_kg(name, len(names)), given_names=pl.DataFrame(rows, schema=NAME_SCHEMA, orient="row"))


def table_kg(name: str, /, **columns: Sequence[Any]) -> KnowledgeGraph:
    """A KG without triples as a table gives it: one entity per row, in order, with ids that are codes."""
    return replace(_bare_kg(name, len(next(iter(columns.values())))), literals=literals_of(columns))


def literals_of(values: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Literals of some properties: the first value, or list of them, belongs to entity 0, and so on; None is none."""
    rows = [
        (entity, one, str(value), "")
        for one, some in values.items()
        for entity, of_entity in enumerate(some)
        for value in (of_entity if isinstance(of_entity, list) else [of_entity])
        if value is not None
    ]
    return pl.DataFrame(rows, schema=LITERAL_SCHEMA, orient="row")


def _bare_kg(name: str, entities: int) -> KnowledgeGraph:
    ids = pl.Series([f"{name}{entity:04}" for entity in range(entities)])
    return KnowledgeGraph(name, ids, pl.Series([], dtype=pl.String), np.empty((0, 3), dtype=np.int32))


def products(left: Features, right: Features) -> np.ndarray:
    """The similarity of all pairs of entities, (left, right): the best product of their rows, zero without any."""
    one, other = (part.rows.toarray() if isinstance(part.rows, sp.csr_array) else part.rows for part in (left, right))
    best = np.zeros((left.entities, right.entities), dtype=np.float32)
    np.maximum.at(best, (left.entity[:, None], right.entity[None, :]), (one @ other.T)[np.ix_(left.row, right.row)])
    return best
