"""Open seeds: known groups whose members in some KGs, which were added later, are still unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True, eq=False)
class OpenSeeds:
    """groups: the known members. looked_in: the KGs in which a member is looked for, (groups, M)."""

    groups: Groups
    looked_in: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.groups)

    @classmethod
    def none(cls, kg_names: Sequence[str]) -> OpenSeeds:
        """No open seed at all."""
        return cls(Groups.empty(kg_names), np.zeros((0, len(kg_names)), dtype=bool))

    def write(self, kgs: Sequence[KnowledgeGraph], path: Path) -> None:
        """Writes JSON lines, one per seed: its known members, and the KGs in which others are looked for."""
        names = np.array(self.groups.kg_names, dtype=object)
        open_in = pl.Series([names[row].tolist() for row in self.looked_in], dtype=pl.List(pl.String))
        pl.DataFrame({"known": self.groups.to_table(kgs).to_struct(), "open": open_in}).write_ndjson(path)

    @classmethod
    def read(cls, kgs: Sequence[KnowledgeGraph], path: Path) -> OpenSeeds:
        """Reads what `write` has written."""
        names = [kg.name for kg in kgs]
        known = pl.Struct(dict.fromkeys(names, pl.String))
        table = pl.read_ndjson(path, schema={"known": known, "open": pl.List(pl.String)})
        members = [kg.positions(table["known"].struct.field(kg.name)) for kg in kgs]
        looked_in = [table["open"].list.contains(name).to_numpy() for name in names]
        return cls(Groups(tuple(names), np.stack(members, axis=1)), np.stack(looked_in, axis=1))
