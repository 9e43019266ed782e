"""Groups: equivalent entities of different KGs, at most one per KG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.group_members import Lines, members_from_links, members_from_table
from multiea.data.knowledge_graph import ABSENT, Indices, KnowledgeGraph
from multiea.foundation.errors import InputError, check_kind

__all__ = ["ABSENT", "Groups"]


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Known or found groups over M KGs. A partial group has no member in some KGs.

    members: (groups, M) positions of entities in their KG, -1 where a KG has no counterpart. The order of groups has
    no meaning.
    """

    kg_names: tuple[str, ...]
    members: Indices

    def __post_init__(self) -> None:
        check_kind(self.members, np.ndarray, "members", "a numpy array", "Groups.from_names takes ids")
        whole = np.issubdtype(self.members.dtype, np.integer)
        if self.members.ndim != 2 or self.members.shape[1] != len(self.kg_names) or not whole:
            raise InputError(
                f"groups of shape {self.members.shape} for the KGs {', '.join(self.kg_names)}",
                expected=f"one column per KG: (groups, {len(self.kg_names)})",
            )
        too_small = int(np.count_nonzero(self.sizes < 2))
        if too_small:
            raise InputError(
                f"{too_small:,} groups with fewer than two members", expected="at least two KGs in each group"
            )
        for kg, column in zip(self.kg_names, self.members.T, strict=True):
            present = np.sort(column[column != ABSENT])
            if (present[1:] == present[:-1]).any():
                raise InputError(
                    f"an entity of KG '{kg}' is in two groups", expected="each entity in at most one group"
                )

    @classmethod
    def empty(cls, kg_names: Sequence[str]) -> Groups:
        """An empty set of groups over these KGs."""
        return cls(tuple(kg_names), np.empty((0, len(kg_names)), dtype=np.int32))

    @classmethod
    def from_names(
        cls, kgs: Sequence[KnowledgeGraph], groups: pl.DataFrame | Iterable[Mapping[str, str]], *, lenient: bool = False
    ) -> Groups:
        """Groups from entity ids: one column (or key) per KG, null (or no key) where a KG has no counterpart.

        >>> Groups.from_names([english, french], [{"en": "Germany", "fr": "Allemagne"}])  # doctest: +SKIP
        Groups(en, fr: 1 groups, 1 complete)
        """
        if not isinstance(groups, pl.DataFrame):
            rows = list(groups) if isinstance(groups, Iterable) else [groups]
            wrong = next((row for row in rows if not _is_group(row)), None)
            if wrong is not None:
                raise InputError(
                    f"the group {wrong!r}", expected="the ids of its members by the names of KGs: {'a': 'x', 'b': 'y'}"
                )
            columns = list(dict.fromkeys(kg for row in rows for kg in row)) or [kg.name for kg in kgs]
            groups = pl.DataFrame({kg: [row.get(kg) for row in rows] for kg in columns}, strict=False)
        return cls.from_table(kgs, groups, lenient=lenient)

    @classmethod
    def from_table(
        cls,
        kgs: Sequence[KnowledgeGraph],
        table: pl.DataFrame,
        *,
        path: Path | None = None,
        lines: Lines | None = None,
        lenient: bool = False,
    ) -> Groups:
        """Groups from a table of entity ids with one column per KG.

        path, lines: the file and the line number of each row, for error messages. lenient: drop unknown entities.
        """
        members = members_from_table(kgs, table, path=path, lines=lines, lenient=lenient)
        return cls(tuple(kg.name for kg in kgs), members)

    @classmethod
    def from_links(
        cls, kgs: Sequence[KnowledgeGraph], links: pl.DataFrame, *, path: Path | None = None, lenient: bool = False
    ) -> Groups:
        """Groups from links between entities: columns left, right; optionally left_kg, right_kg.

        Each connected component is a group. path: the file, for error messages. lenient: drop unknown entities.
        """
        return cls(tuple(kg.name for kg in kgs), members_from_links(kgs, links, path=path, lenient=lenient))

    def __len__(self) -> int:
        return len(self.members)

    def rows_of(self, members: NDArray[np.integer]) -> NDArray[np.int64]:
        """The row of the group that contains each given member, (n, M) -> (n, M); -1 where no group does."""
        result = np.full(members.shape, ABSENT, dtype=np.int64)
        for kg, (wanted, own) in enumerate(zip(members.T, self.members.T, strict=True)):
            row_of = np.full(max(wanted.max(initial=ABSENT), own.max(initial=ABSENT)) + 2, ABSENT, dtype=np.int64)
            row_of[own[own != ABSENT]] = np.flatnonzero(own != ABSENT)  # the last place serves the index -1
            result[:, kg] = row_of[wanted]
        return result

    def members_in(self, others: Groups) -> NDArray[np.bool_]:
        """Whether each member is also a member of the other groups, (groups, M)."""
        return np.asarray(others.rows_of(self.members) != ABSENT)

    def apart_from(self, others: Groups) -> NDArray[np.bool_]:
        """Whether each group has no member in common with the other groups, (groups,)."""
        return np.asarray(~self.members_in(others).any(axis=1))

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each group has a member in each KG, (groups, M)."""
        return np.asarray(self.members != ABSENT)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of members of each group, (groups,)."""
        return np.asarray(np.count_nonzero(self.present, axis=1))

    @property
    def complete(self) -> Groups:
        """The groups with a member in every KG."""
        return self.take(self.sizes == len(self.kg_names))

    def take(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Groups:
        """Some of the groups, given by a mask or by positions."""
        return Groups(self.kg_names, self.members[which])

    def joined(self, *others: Groups) -> Groups:
        """These groups together with other groups over the same KGs."""
        return Groups(self.kg_names, np.concatenate([self.members, *(other.members for other in others)]))

    def by_size(self) -> dict[int, int]:
        """The number of groups with 2, 3, ... M members."""
        counts = np.bincount(self.sizes, minlength=len(self.kg_names) + 1)
        return {size: int(counts[size]) for size in range(2, len(self.kg_names) + 1)}

    def overlap(self) -> NDArray[np.int64]:
        """The number of groups that join each pair of KGs, (M, M). The diagonal counts the members of each KG."""
        present = self.present.astype(np.int64)
        return np.asarray(present.T @ present)

    def pairs(self) -> Iterable[tuple[str, str, Indices]]:
        """For each pair of KGs: their names and the (n, 2) positions of equivalent entities."""
        for a, b in combinations(range(len(self.kg_names)), 2):
            both = self.present[:, a] & self.present[:, b]
            yield self.kg_names[a], self.kg_names[b], self.members[both][:, [a, b]]

    def to_table(self, kgs: Sequence[KnowledgeGraph]) -> pl.DataFrame:
        """The groups as a table of entity ids with one column per KG, null where a KG has no counterpart."""
        columns = {}
        for kg, column in zip(kgs, self.members.T, strict=True):
            positions = pl.Series(column).cast(pl.Int64)
            columns[kg.name] = kg.entities.gather(positions.set(positions == ABSENT, None))
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Groups({', '.join(self.kg_names)}: {len(self):,} groups, {len(self.complete):,} complete)"


def _is_group(row: object) -> bool:
    """Whether it has single ids, as text or numbers, by the names of KGs."""
    if not isinstance(row, Mapping) or not all(isinstance(kg, str) for kg in row):
        return False
    return all(isinstance(entity, str) or not isinstance(entity, Iterable) for entity in row.values())
