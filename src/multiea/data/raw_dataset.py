"""RawDataset: the content of a data set as its reader returns it, before known groups are split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph

ROLES = ("groups", "seeds", "validation", "held_out")


@dataclass(frozen=True)
class RawDataset:
    """The KGs of a data set and its known groups by role. Groups of role 'groups' are not split yet."""

    name: str
    kgs: Sequence[KnowledgeGraph]
    groups: Mapping[str, Groups] = field(default_factory=dict)
