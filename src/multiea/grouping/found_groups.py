"""FoundGroups: groups with the confidences of their members and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multiea.data.groups import ABSENT, Groups


@dataclass(frozen=True)
class FoundGroups:
    """Groups with the confidence of each member, (groups, M), zero where a KG has none; most confident first.

    pair_confidence: the probability that two members are the same, (groups, M, M), NaN where one is absent. matched:
    whether two members are each other's best match, (groups, M, M); the other pairs of a group follow from these.
    """

    groups: Groups
    confidence: np.ndarray
    pair_confidence: np.ndarray
    matched: np.ndarray

    @classmethod
    def from_members(cls, groups: Groups, confidence: np.ndarray) -> FoundGroups:
        """Where only the members' confidences are known: a pair has the lower one of the two, and counts as matched."""
        both = groups.present[:, :, None] & groups.present[:, None, :] & ~np.eye(groups.members.shape[1], dtype=bool)
        pair_confidence = np.where(both, np.minimum(confidence[:, :, None], confidence[:, None, :]), np.nan)
        return cls(groups, confidence, pair_confidence, both)

    @classmethod
    def empty(cls, kg_names: Sequence[str]) -> FoundGroups:
        """No group at all over these KGs."""
        return cls.from_members(Groups.empty(kg_names), np.empty((0, len(kg_names))))

    def take(self, rows: np.ndarray) -> FoundGroups:
        """Some of the groups, by position or by a mask."""
        return FoundGroups(
            self.groups.take(rows), self.confidence[rows], self.pair_confidence[rows], self.matched[rows]
        )

    def joined(self, others: FoundGroups) -> FoundGroups:
        """These groups, then others."""
        parts = ((getattr(self, name), getattr(others, name)) for name in ("confidence", "pair_confidence", "matched"))
        return FoundGroups(self.groups.joined(others.groups), *map(np.concatenate, parts))

    def renumbered(
        self, positions: Sequence[np.ndarray], columns: Sequence[int], kg_names: Sequence[str]
    ) -> FoundGroups:
        """The same groups over renumbered entities and reordered KGs.

        positions: for each KG the new position of each entity. columns: for each new KG its number here.
        """
        order = list(columns)
        members = np.full(self.groups.members.shape, ABSENT, dtype=np.int32)
        for kg, new_position in enumerate(positions):
            present = self.groups.present[:, kg]
            members[present, kg] = new_position[self.groups.members[present, kg]]
        pair_confidence, matched = (part[:, order][:, :, order] for part in (self.pair_confidence, self.matched))
        return FoundGroups(
            Groups(tuple(kg_names), members[:, order]), self.confidence[:, order], pair_confidence, matched
        )
