"""Membership: which group each entity is in, with which confidence; entities in canonical order."""

from __future__ import annotations

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.explain.candidate_scores import Node
from multiea.grouping.alignment import AlignmentResult

SEED, FOUND, DUPLICATE = "seed", "found", "duplicate"


class Membership:
    """The groups of an alignment by the nodes of its canonical order. Rows count known groups first."""

    def __init__(self, alignment: AlignmentResult) -> None:
        self._alignment, self._order = alignment, alignment.order
        known = alignment.known
        self._all = known.joined(alignment.found)
        self._known = len(known.groups)
        self._is_given = known.groups.members_in(alignment.task.seeds.joined(alignment.task.open_seeds.groups))
        rows, starts = alignment.group_rows()[0], alignment.task.entity_offsets
        columns = zip(self._order.given_columns, self._order.given_positions, strict=True)
        self.rows = [rows[positions + starts[kg]] for kg, positions in columns]
        self.ids = [one for part in alignment.group_ids() for one in part]

    @property
    def groups(self) -> Groups:
        """All groups, known ones first, over the canonical task."""
        return self._order.groups_to_canonical(self._all.groups)

    def row(self, node: Node) -> int:
        """The row of an entity's group, -1 without one."""
        return int(self.rows[node[0]][node[1]])

    def is_known(self, row: int) -> bool:
        """Whether a group is a seed or an open seed."""
        return 0 <= row < self._known

    def members(self, row: int) -> list[Node]:
        """The members of a group, by the names of the KGs; duplicates come last."""
        members = self.groups.members[row]
        found = [(kg, int(members[kg])) for kg in np.flatnonzero(members != ABSENT).tolist()]
        others = [
            (kg, int(entity))
            for kg, rows in enumerate(self.rows)
            for entity in np.flatnonzero(rows == row)
            if (kg, int(entity)) not in found
        ]
        return found + others

    def status(self, node: Node) -> str:
        """How an entity came into its group: seed, found, or duplicate."""
        row, kg, entity = self.row(node), *self._given(node)
        if self._all.groups.members[row, kg] != entity:
            return DUPLICATE
        return SEED if self.is_known(row) and self._is_given[row, kg] else FOUND

    def confidence(self, node: Node) -> float:
        """The confidence of a member."""
        if self.status(node) == DUPLICATE:
            return self._duplicate_confidence(node)
        return float(self._all.confidence[self.row(node), self._given(node)[0]])

    def pair_confidence(self, one: Node, other: Node) -> float:
        """The confidence of two members of one group; that of a duplicate where one is."""
        duplicates = [self._duplicate_confidence(node) for node in (one, other) if self.status(node) == DUPLICATE]
        if duplicates:
            return min(duplicates)
        return float(self._all.pair_confidence[self.row(one), self._given(one)[0], self._given(other)[0]])

    def is_matched(self, one: Node, other: Node) -> bool:
        """Whether two members of one group are each other's best match."""
        return bool(self._all.matched[self.row(one), self._given(one)[0], self._given(other)[0]])

    def _duplicate_confidence(self, node: Node) -> float:
        kg, entity = self._given(node)
        duplicates = self._alignment.duplicates
        (place,) = np.flatnonzero((duplicates.kg == kg) & (duplicates.entity == entity))
        return float(duplicates.confidence[place])

    def _given(self, node: Node) -> tuple[int, int]:
        """The KG and the position of an entity in the given task."""
        return self._order.given_columns[node[0]], int(self._order.given_positions[node[0]][node[1]])
