"""Task: the KGs to align, the seeds to learn from, and the groups held out for evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.open_seeds import OpenSeeds
from multiea.data.origin import Origin
from multiea.foundation.errors import InputError, SettingError, check_kind, check_random_state, counted
from multiea.foundation.offsets import offsets
from multiea.settings.data import DEFAULT_TRAIN_RATIO


class Task:
    """KGs and seeds; optionally validation groups (taken from what may be learned) and held-out groups.

    open_seeds: known groups from before a KG was added; their members in some KGs are still unknown. origin: where the
    task was read from.
    """

    def __init__(
        self,
        kgs: Sequence[KnowledgeGraph],
        seeds: Groups | None = None,
        held_out: Groups | None = None,
        validation: Groups | None = None,
        open_seeds: OpenSeeds | None = None,
        *,
        name: str = "task",
        origin: Origin | None = None,
    ) -> None:
        self.name = name
        self.origin = Origin() if origin is None else origin
        check_kind(kgs, Iterable, "kgs", "a list of KnowledgeGraphs")
        self.kgs = tuple(kgs)
        for kg in self.kgs:
            check_kind(kg, KnowledgeGraph, "each of the kgs", "a KnowledgeGraph", "multiea.load reads files and tables")
        self._refuse_too_few_or_repeated_kgs()
        self.seeds = self._checked("seeds", seeds)
        self.held_out = self._checked("held-out groups", held_out)
        self.validation = self._checked("validation groups", validation)
        self.open_seeds = OpenSeeds.none(self.kg_names) if open_seeds is None else open_seeds
        check_kind(self.open_seeds, OpenSeeds, "open_seeds", "OpenSeeds")
        self._checked("open seeds", self.open_seeds.groups)
        self._refuse_entities_of_two_kinds()
        self.known = self.seeds.joined(self.validation, self.held_out)

    @property
    def kg_names(self) -> tuple[str, ...]:
        """The names of the KGs, in order."""
        return tuple(kg.name for kg in self.kgs)

    @property
    def entity_offsets(self) -> NDArray[np.int64]:
        """Where each KG's entities begin in the joint id space, (M + 1,)."""
        return offsets(len(kg.entities) for kg in self.kgs)

    def split(
        self, train_ratio: float = DEFAULT_TRAIN_RATIO, validation_ratio: float = 0.0, random_state: int = 0
    ) -> Task:
        """All known groups split again into seeds, validation and held-out groups.

        The split depends on what the groups hold and on the random state, not on the order of groups, entities or KGs.
        """
        for name, ratio in (("train_ratio", train_ratio), ("validation_ratio", validation_ratio)):
            if not isinstance(ratio, int | float) or not 0 <= ratio <= 1:
                raise SettingError(f"{name} must be between 0 and 1, got {ratio!r}")
        check_random_state(random_state)
        if train_ratio + validation_ratio > 1:
            raise SettingError(
                f"train_ratio + validation_ratio must be at most 1, got {train_ratio + validation_ratio}"
            )
        order = order_by_names(self.known, self.kgs)
        order = order[np.random.default_rng(random_state).permutation(len(order))].astype(np.int64)
        cuts = np.rint(np.cumsum([train_ratio, validation_ratio]) * len(order)).astype(int)
        seeds, validation, held_out = (self.known.take(part) for part in np.split(order, cuts))
        data = self.origin.data
        if data.source and data.grown_from is None:
            data = replace(
                data, train_ratio=train_ratio, validation_ratio=validation_ratio or None, random_state=random_state
            )
        origin = replace(self.origin, data=data)
        return Task(self.kgs, seeds, held_out, validation, self.open_seeds, name=self.name, origin=origin)

    def _refuse_too_few_or_repeated_kgs(self) -> None:
        names = self.kg_names
        if len(names) < 2:
            raise InputError(
                f"'{self.name}' has {len(names) or 'no'} KG",
                expected="at least two KGs to align",
                hint="Give one KnowledgeGraph per source; multiea.load reads them from files and tables",
            )
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise InputError(
                f"two KGs are named {', '.join(map(repr, repeated))}", expected="a different name for each KG"
            )

    def _refuse_entities_of_two_kinds(self) -> None:
        kinds = {"seeds": self.seeds, "validation groups": self.validation, "held-out groups": self.held_out}
        kinds |= {"open seeds": self.open_seeds.groups}
        given = {name: groups for name, groups in kinds.items() if len(groups)}
        for (one, groups), (other, others) in combinations(given.items(), 2):
            of_both = others.members_in(groups)  # (groups, M)
            for kg, members, also in zip(self.kgs, others.members.T, of_both.T, strict=True):
                if not also.any():
                    continue
                raise InputError(
                    f"entity '{kg.entities[int(members[also].min())]}' of KG '{kg.name}' is in two groups, "
                    f"of the {one} and of the {other} ({counted(int(also.sum()), 'such case')})",
                    expected="each entity in at most one group",
                )

    def _checked(self, what: str, groups: Groups | None) -> Groups:
        groups = Groups.empty(self.kg_names) if groups is None else groups
        check_kind(groups, Groups, f"the {what}", "Groups", "Groups.from_names makes them from ids")
        if groups.kg_names != self.kg_names:
            raise InputError(
                f"the {what} are over the KGs {', '.join(groups.kg_names)}",
                expected=f"the task's KGs in its order: {', '.join(self.kg_names)}",
            )
        sizes = [len(kg.entities) for kg in self.kgs]
        if len(groups) and (groups.members.min() < ABSENT or (groups.members.max(axis=0) >= sizes).any()):
            raise InputError(f"the {what} name positions that a KG does not have", expected=f"below {sizes}")
        return groups

    def __repr__(self) -> str:
        counts = f"{counted(len(self.seeds), 'seed')}, {counted(len(self.held_out), 'held-out group')}"
        counts += f", {len(self.validation):,} for validation" if len(self.validation) else ""
        counts += f", {counted(len(self.open_seeds), 'open seed')}" if len(self.open_seeds) else ""
        return f"Task('{self.name}': {len(self.kgs)} KGs, {counts})" + "".join(f"\n  {kg!r}" for kg in self.kgs)


def order_by_names(groups: Groups, kgs: Sequence[KnowledgeGraph]) -> NDArray[np.int64]:
    """The order of groups by the ids of their members, KGs sorted by name."""
    names = groups.to_table(kgs)
    by_name = pl.DataFrame({str(at): names.get_column(kg) for at, kg in enumerate(sorted(names.columns))})
    return by_name.with_row_index("row").sort(pl.exclude("row"))["row"].to_numpy().astype(np.int64)
