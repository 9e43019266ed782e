"""RawDataset: what a data set holds, as its reader hands it on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph

ROLES = ("groups", "seeds", "validation", "held_out")


@dataclass(frozen=True)
class RawDataset:
    """A data set's KGs, and its known groups by role; those of role 'groups' are still to be split."""

    name: str
    kgs: Sequence[KnowledgeGraph]
    groups: Mapping[str, Groups] = field(default_factory=dict)
