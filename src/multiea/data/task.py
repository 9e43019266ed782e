"""Task: the KGs to align, the seeds to learn from, and the groups held out for evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.errors import InputError, SettingError


class Task:
    """KGs and seeds; optionally validation groups (carved from what may be learned) and held-out groups."""

    def __init__(
        self,
        kgs: Sequence[KnowledgeGraph],
        seeds: Groups | None = None,
        held_out: Groups | None = None,
        validation: Groups | None = None,
        *,
        name: str = "task",
    ) -> None:
        self.name = name
        self.kgs = tuple(kgs)
        self._refuse_too_few_or_repeated_kgs()
        self.seeds = self._checked("seeds", seeds)
        self.held_out = self._checked("held-out groups", held_out)
        self.validation = self._checked("validation groups", validation)
        self.known = self.seeds.joined(self.validation, self.held_out)  # raises where an entity is in two of them

    @property
    def kg_names(self) -> tuple[str, ...]:
        """The names of the KGs, in order."""
        return tuple(kg.name for kg in self.kgs)

    def split(self, train_ratio: float = 0.3, validation_ratio: float = 0.0, random_state: int = 0) -> Task:
        """All known groups dealt anew into seeds, validation and held-out groups.

        The split depends on what the groups hold and on the random state, not on the order of groups, entities or KGs.
        """
        for name, ratio in (("train_ratio", train_ratio), ("validation_ratio", validation_ratio)):
            if not 0 <= ratio <= 1:
                raise SettingError(f"{name} must be between 0 and 1, got {ratio}")
        if train_ratio + validation_ratio > 1:
            raise SettingError(
                f"train_ratio + validation_ratio must be at most 1, got {train_ratio + validation_ratio}"
            )
        order = self.known.names(self.kgs).with_row_index("\0row").sort(sorted(self.kg_names))["\0row"].to_numpy()
        order = order[np.random.default_rng(random_state).permutation(len(order))].astype(np.int64)
        cuts = np.rint(np.cumsum([train_ratio, validation_ratio]) * len(order)).astype(int)
        seeds, validation, held_out = (self.known.take(part) for part in np.split(order, cuts))
        return Task(self.kgs, seeds, held_out, validation, name=self.name)

    def _refuse_too_few_or_repeated_kgs(self) -> None:
        names = self.kg_names
        if len(names) < 2:
            raise InputError(
                f"'{self.name}' has {len(names) or 'no'} KG",
                expected="at least two KGs to align",
                hint="A data set is a folder with one triples file a KG",
            )
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise InputError(
                f"two KGs are named {', '.join(map(repr, repeated))}", expected="a name of its own for each KG"
            )

    def _checked(self, what: str, groups: Groups | None) -> Groups:
        groups = Groups.empty(self.kg_names) if groups is None else groups
        if groups.kg_names != self.kg_names:
            raise InputError(
                f"the {what} are over the KGs {', '.join(groups.kg_names)}",
                expected=f"the task's KGs in its order: {', '.join(self.kg_names)}",
            )
        return groups

    def __repr__(self) -> str:
        counts = f"{len(self.seeds):,} seeds, {len(self.held_out):,} held-out groups"
        return f"Task('{self.name}': {len(self.kgs)} KGs, {counts})" + "".join(f"\n  {kg!r}" for kg in self.kgs)
