"""Which two names of two entities match best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import polars as pl
import scipy.sparse as sp

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import names_of
from multiea.evidence.features import Features
from multiea.evidence.names import name_features, plain_names
from multiea.evidence.text import plain_text, without_brackets
from multiea.explain.candidate_scores import Node
from multiea.explain.facts import NamePair


class Names:
    """All names of the KGs, compared as the evidence compares them. What is expensive is made on first use."""

    def __init__(self, kgs: Sequence[KnowledgeGraph]) -> None:
        self._kgs = kgs

    def best(self, one: Node, other: Node) -> NamePair | None:
        """The two names that match best, as the KGs have them; None where an entity has no name."""
        tables = [self._names[kg].filter(pl.col("entity") == entity) for kg, entity in (one, other)]
        if any(table.is_empty() for table in tables):
            return None
        if all(len(table) == 1 for table in tables):
            return NamePair(str(tables[0]["name"][0]), str(tables[1]["name"][0]))
        rows = [np.flatnonzero(self._features[kg].entity == entity) for kg, entity in (one, other)]
        if not len(rows[0]) or not len(rows[1]):
            return NamePair(str(tables[0]["name"][0]), str(tables[1]["name"][0]))
        left, right = (
            sp.csr_array(self._features[kg].rows)[self._features[kg].row[own]]
            for (kg, _), own in zip((one, other), rows, strict=True)
        )
        products = (left @ right.T).toarray()
        best = np.unravel_index(int(products.argmax()), products.shape)
        texts = [
            self._plain[kg]["text"][int(own[at])] for (kg, _), own, at in zip((one, other), rows, best, strict=True)
        ]
        left_name, right_name = (_with_text(table["name"], text) for table, text in zip(tables, texts, strict=True))
        return NamePair(left_name, right_name)

    @cached_property
    def _names(self) -> list[pl.DataFrame]:
        return [names_of(kg) for kg in self._kgs]

    @cached_property
    def _plain(self) -> list[pl.DataFrame]:
        return [plain_names(kg) for kg in self._kgs]

    @cached_property
    def _features(self) -> list[Features]:
        return name_features(self._kgs)


def _with_text(names: pl.Series, text: str) -> str:
    """The name that was compared as this plain text, with or without what it has in brackets."""
    for compared in (plain_text(names), plain_text(without_brackets(names))):
        same = names.filter(compared == text)
        if len(same):
            return str(same[0])
    return str(names[0])
