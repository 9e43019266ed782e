"""Roles: things of one name but of two kinds are no duplicates."""

from __future__ import annotations

import numpy as np
import polars as pl

from multiea import KnowledgeGraph
from multiea.grouping.roles import may_be_same, roles_of


def test_entities_without_a_common_role_are_not_the_same_unless_one_has_no_triple() -> None:
    triples = [("Samoa", "currency", "Tala"), ("Niue", "currency", "Dollar"), ("Apia", "zone", "Samoa time")]
    names = ["Samoa", "Niue", "Samoa time", "Atlantis", "Tala"]
    kg = KnowledgeGraph.from_triples("world", triples, entities=names)
    country, other, zone, unknown, money = kg.positions(pl.Series(names))
    right = np.array([other, zone, unknown, money])
    assert may_be_same(roles_of(kg), np.full(4, country), right).tolist() == [True, False, True, False]
