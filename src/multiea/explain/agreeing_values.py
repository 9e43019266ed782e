"""Which attribute values of two entities agree, and which corresponding values differ or conflict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
import polars as pl

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import names_of
from multiea.evidence.anchors import Anchors
from multiea.evidence.attributes import attribute_tables, value_tokens
from multiea.evidence.codes import Codes, codes_of
from multiea.evidence.conflicts import Conflicts, find_conflicts
from multiea.evidence.correspondence import UNKNOWN, ComparableValues, keys_of
from multiea.evidence.identifiers import Identifiers, OtherEvidence, candidate_codes, find_identifiers
from multiea.evidence.names import plain_names
from multiea.evidence.numbers import WIDTHS, Quantity, quantities
from multiea.evidence.values import NUMBER, TEXT
from multiea.explain.candidate_scores import Node
from multiea.explain.facts import ValuePair

NAME = "name"  # shown as the property of names, whose words count among attributes
MOST_WORDS, MOST_VALUES, MOST_DIFFERENT = 3, 5, 3
LEAST_SHOWN = 0.5  # log-odds of a conflict that is shown
MARKS = ("=", "@")  # tokens of whole values and of dates


class Values:
    """The attributes of all KGs. What is expensive is made on first use.

    groups: over the same KGs; which numbers correspond is learned from their members.
    """

    def __init__(self, kgs: Sequence[KnowledgeGraph], groups: Groups, *, with_names: bool) -> None:
        self._kgs, self._groups, self._with_names = kgs, groups, with_names

    def compared(self, one: Node, other: Node) -> tuple[ValuePair, ...]:
        """Values that agree, those with the rarest words first; then numbers that agree, and numbers that differ."""
        sides = [self._values(node) for node in (one, other)]
        left, right = (_tokens(side).join(self._rarity, on="token") for side in sides)
        shared = left.join(right, on="token", suffix="_right").sort("rarity", "token", descending=[True, False])
        pairs = (
            shared.filter(pl.col("rarity") > 0)
            .group_by("row", "row_right")
            .agg(pl.col("rarity").sum(), pl.col("token"))
            .sort("rarity", "row", "row_right", descending=[True, False, False])
            .unique("row", keep="first", maintain_order=True)
            .unique("row_right", keep="first", maintain_order=True)
        )
        found = []
        for row, row_right, rarity, tokens in pairs.iter_rows():
            (p, x), (q, y) = (
                side.select("property", "value").row(at) for side, at in zip(sides, (row, row_right), strict=True)
            )
            words = tuple(dict.fromkeys(token for token in tokens if not token.startswith(MARKS)))
            if (p, q) != (NAME, NAME):  # names are evidence of their own
                found.append(ValuePair(p, x, q, y, True, words[:MOST_WORDS], float(rarity)))
        numbers = self._numbers(one, other)
        shown = {(pair.left_property, pair.right_property) for pair in found}
        numbers = [pair for pair in numbers if (pair.left_property, pair.right_property) not in shown]
        agreeing = [*found, *(pair for pair in numbers if pair.agrees)]
        return (*agreeing[:MOST_VALUES], *[pair for pair in numbers if not pair.agrees][:MOST_DIFFERENT])

    def conflicting(self, one: Node, other: Node) -> tuple[ValuePair, ...]:
        """Values of corresponding properties that differ more than those of the same entity usually do."""
        (a, i), (b, j) = sorted((one, other))
        found = []
        known = self._conflicts[a, b]
        for correspondence, weights in zip(known.correspondences, known.weights, strict=True):
            (level,) = correspondence.levels(np.array([i]), np.array([j]))
            if level == UNKNOWN or weights[level] > -LEAST_SHOWN:
                continue
            p, q = correspondence.properties
            left, right = (self._first_value(node, name) for node, name in (((a, i), p), ((b, j), q)))
            pair = ValuePair(p, left, q, right, False) if one < other else ValuePair(q, right, p, left, False)
            found.append((float(weights[level]), pair))
        return tuple(pair for _, pair in sorted(found, key=lambda part: (part[0], part[1].left_property)))

    def identifying(self, one: Node, other: Node) -> tuple[ValuePair, ...]:
        """Equal values of codes that identify."""
        (a, i), (b, j) = sorted((one, other))
        codes = [identifier.codes for identifier in self._identifiers[a, b].found] or self._codes[a, b]
        found = []
        for left, right in codes:
            keys = left.table.filter(entity=i).join(right.table.filter(entity=j), on="key")["key"].sort()
            for key in keys:
                x, y = self._written((a, i), left.name, key), self._written((b, j), right.name, key)
                pair = ValuePair(left.name, x, right.name, y, True)
                found.append(pair if one < other else ValuePair(right.name, y, left.name, x, True))
        return tuple(found)

    def _written(self, node: Node, name: str, key: str) -> str:
        """The first value of an entity that has a key, as its source writes it."""
        own = self._tables[node[0]].filter(entity=node[1], property=name).sort("value")
        has_key = [key in keys_of(own[[place]])["key"] for place in range(len(own))]
        return str(own["value"][has_key.index(True)])

    def _first_value(self, node: Node, name: str) -> str:
        own = self._tables[node[0]].filter(pl.col("entity") == node[1], pl.col("property") == name)
        return str(own.sort("number", "value")["value"][0])

    def _values(self, node: Node) -> pl.DataFrame:
        """The values of an entity, and its names where their words count as well."""
        kg, entity = node
        own = self._tables[kg].filter(pl.col("entity") == entity).sort("property", "value")
        if self._with_names:
            names = names_of(self._kgs[kg]).filter(pl.col("entity") == entity)
            as_values = names.select("entity", property=pl.lit(NAME), value="name", kind=pl.lit(TEXT))
            own = pl.concat([own, as_values], how="diagonal_relaxed")
        return own

    def _numbers(self, one: Node, other: Node) -> list[ValuePair]:
        """The numbers of corresponding properties."""
        found = []
        for quantity in self._quantities:
            sides = []
            for kg, entity in (one, other):
                name = dict(quantity.factors.keys()).get(kg, "")
                of_entity = (pl.col("entity") == entity) & (pl.col("property") == name)
                own = self._numeric[kg].filter(of_entity).sort("number")
                if len(own):
                    sides.append((name, str(own["value"][0]), own["number"][0] * quantity.factors[kg, name]))
            if len(sides) == 2:
                (p, x, left), (q, y, right) = sides
                found.append(ValuePair(p, x, q, y, _is_close(left, right, quantity)))
        return sorted(found, key=lambda pair: (pair.left_property, pair.right_property))

    @cached_property
    def _tables(self) -> list[pl.DataFrame]:
        return attribute_tables(self._kgs)

    @cached_property
    def _numeric(self) -> list[pl.DataFrame]:
        return [table.filter(pl.col("kind") == NUMBER, pl.col("number").is_not_null()) for table in self._tables]

    @cached_property
    def _anchors(self) -> Anchors:
        members, present, anchors = self._groups.members, self._groups.present, {}
        for a, b in combinations(range(len(self._kgs)), 2):
            both = present[:, a] & present[:, b]
            anchors[a, b] = (members[both, a], members[both, b])
        return anchors

    @cached_property
    def _quantities(self) -> list[Quantity]:
        return quantities(self._numeric, self._anchors)

    @cached_property
    def _conflicts(self) -> dict[tuple[int, int], Conflicts]:
        return find_conflicts(self._comparable, self._anchors)

    @cached_property
    def _comparable(self) -> ComparableValues:
        return ComparableValues(self._tables, [len(kg.entities) for kg in self._kgs], self._quantities)

    @cached_property
    def _codes(self) -> dict[tuple[int, int], list[tuple[Codes, Codes]]]:
        """For each pair of KGs the codes of which some values are in both."""
        codes = [codes_of(table, keys) for table, keys in zip(self._tables, self._comparable.keys, strict=True)]
        return {pair: candidate_codes(codes, pair) for pair in combinations(range(len(self._kgs)), 2)}

    @cached_property
    def _identifiers(self) -> dict[tuple[int, int], Identifiers]:
        return find_identifiers(self._codes, OtherEvidence(self._anchors))

    @cached_property
    def _rarity(self) -> pl.DataFrame:
        """How rare each token is among the entities of all KGs: token, rarity."""
        parts = []
        for kg, table in zip(self._kgs, self._tables, strict=True):
            own = value_tokens(table)
            if self._with_names:
                words = plain_names(kg).select(row=pl.col("entity").cast(pl.Int64), token=pl.col("text").str.split(" "))
                own = pl.concat([own, words.explode("token")])
            parts.append(own.unique().select("token"))
        entities = sum(len(kg.entities) for kg in self._kgs)
        counts = pl.concat(parts).group_by("token").len()
        return counts.select("token", rarity=((entities + 1) / (pl.col("len") + 1)).log())


def _tokens(values: pl.DataFrame) -> pl.DataFrame:
    """The tokens of each value: row, token."""
    numbered = values.with_columns(entity=pl.int_range(len(values), dtype=pl.Int32))
    return value_tokens(numbered).filter(pl.col("token").is_not_null(), pl.col("token") != "").unique()


def _is_close(left: float, right: float, quantity: Quantity) -> bool:
    """Whether two numbers of a quantity are about as close as those of the same entity usually are."""
    if quantity.is_relative:
        left, right = (float(np.log(max(abs(value), 1e-300))) for value in (left, right))
    return abs(left - right) <= WIDTHS[1] * quantity.step
