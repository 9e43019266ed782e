"""Groups: entities of different KGs that mean the same thing, at most one of each KG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.foundation.errors import InputError

if TYPE_CHECKING:
    from multiea.data.knowledge_graph import Indices, KnowledgeGraph

ABSENT = -1


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Known or found groups over M KGs; partial ones leave some KGs out.

    members: (groups, M) positions of entities in their KG, -1 where a KG has no counterpart. The order of groups
    carries no meaning.
    """

    kg_names: tuple[str, ...]
    members: Indices

    def __post_init__(self) -> None:
        whole = np.issubdtype(self.members.dtype, np.integer)
        if self.members.ndim != 2 or self.members.shape[1] != len(self.kg_names) or not whole:
            raise InputError(
                f"groups of shape {self.members.shape} for the KGs {', '.join(self.kg_names)}",
                expected=f"one column a KG: (groups, {len(self.kg_names)})",
            )
        alone = int(np.count_nonzero(self.sizes < 2))
        if alone:
            raise InputError(f"{alone:,} groups with fewer than two members", expected="at least two KGs in each group")
        for kg, column in zip(self.kg_names, self.members.T, strict=True):
            present = np.sort(column[column != ABSENT])
            if (present[1:] == present[:-1]).any():
                raise InputError(
                    f"an entity of KG '{kg}' is in two groups", expected="each entity in at most one group"
                )

    @classmethod
    def empty(cls, kg_names: Sequence[str]) -> Groups:
        """No group at all over these KGs."""
        return cls(tuple(kg_names), np.empty((0, len(kg_names)), dtype=np.int32))

    @classmethod
    def from_names(
        cls, kgs: Sequence[KnowledgeGraph], groups: pl.DataFrame | Iterable[Mapping[str, str]], *, lenient: bool = False
    ) -> Groups:
        """Groups given by entity names: a column (or a key) a KG, null (or no key) where a KG has no counterpart.

        >>> Groups.from_names([english, french], [{"en": "Germany", "fr": "Allemagne"}])  # doctest: +SKIP
        Groups(en, fr: 1 groups, 1 complete)
        """
        from multiea.data.group_names import groups_from_table

        if not isinstance(groups, pl.DataFrame):
            rows = [dict(group) for group in groups]
            columns = list(dict.fromkeys(kg for row in rows for kg in row)) or [kg.name for kg in kgs]
            groups = pl.DataFrame({kg: [row.get(kg) for row in rows] for kg in columns}, strict=False)
        return groups_from_table(kgs, groups, lenient=lenient)

    def __len__(self) -> int:
        return len(self.members)

    def rows_of(self, members: NDArray[np.integer]) -> NDArray[np.int64]:
        """For each of some members, (n, M), the group here that it is in, -1 where it is in none."""
        result = np.full(members.shape, ABSENT, dtype=np.int64)
        for kg, (wanted, own) in enumerate(zip(members.T, self.members.T, strict=True)):
            row_of = np.full(max(wanted.max(initial=ABSENT), own.max(initial=ABSENT)) + 2, ABSENT, dtype=np.int64)
            row_of[own[own != ABSENT]] = np.flatnonzero(own != ABSENT)  # the last place is for -1
            result[:, kg] = row_of[wanted]
        return result

    def members_in(self, others: Groups) -> NDArray[np.bool_]:
        """Which members are members of others as well, (groups, M)."""
        return np.asarray(others.rows_of(self.members) != ABSENT)

    def apart_from(self, others: Groups) -> NDArray[np.bool_]:
        """Which groups have no member in common with others, (groups,)."""
        return np.asarray(~self.members_in(others).any(axis=1))

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether a group has a member in a KG, (groups, M)."""
        return np.asarray(self.members != ABSENT)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Members of each group, (groups,)."""
        return np.asarray(np.count_nonzero(self.present, axis=1))

    @property
    def complete(self) -> Groups:
        """The groups with a member in every KG."""
        return self.take(self.sizes == len(self.kg_names))

    def take(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Groups:
        """Some of the groups, by mask or positions."""
        return Groups(self.kg_names, self.members[which])

    def joined(self, *others: Groups) -> Groups:
        """These groups and those of others over the same KGs."""
        return Groups(self.kg_names, np.concatenate([self.members, *(other.members for other in others)]))

    def by_size(self) -> dict[int, int]:
        """How many groups have 2, 3, ... M members."""
        counts = np.bincount(self.sizes, minlength=len(self.kg_names) + 1)
        return {size: int(counts[size]) for size in range(2, len(self.kg_names) + 1)}

    def overlap(self) -> NDArray[np.int64]:
        """How many groups join each pair of KGs, (M, M); the diagonal counts a KG's members."""
        present = self.present.astype(np.int64)
        return np.asarray(present.T @ present)

    def pairs(self) -> Iterable[tuple[str, str, Indices]]:
        """For each pair of KGs their names and the (n, 2) equivalent entities."""
        for a, b in combinations(range(len(self.kg_names)), 2):
            both = self.present[:, a] & self.present[:, b]
            yield self.kg_names[a], self.kg_names[b], self.members[both][:, [a, b]]

    def to_table(self, kgs: Sequence[KnowledgeGraph]) -> pl.DataFrame:
        """The groups as a table of entity names, a column a KG, null where a KG has no counterpart."""
        columns = {}
        for kg, column in zip(kgs, self.members.T, strict=True):
            positions = pl.Series(column).cast(pl.Int64)
            columns[kg.name] = kg.entities.gather(positions.set(positions == ABSENT, None))
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Groups({', '.join(self.kg_names)}: {len(self):,} groups, {len(self.complete):,} complete)"
