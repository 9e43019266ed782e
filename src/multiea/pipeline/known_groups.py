"""KnownGroups: what is known before the rounds of bootstrapping."""

from __future__ import annotations

from dataclasses import dataclass

from multiea.data.groups import Groups
from multiea.data.seed_split import split_seeds
from multiea.data.task import Task
from multiea.pipeline.warm_start import WarmStart, without_leakage

VALIDATION_RATIO = 0.1


@dataclass(frozen=True)
class KnownGroups:
    """The groups that rounds may use: seeds without validation seeds; open seeds and pseudo-labels without leakage.

    all_completed: completed open seeds of the final round, where nothing can leak any more.
    """

    seeds: Groups
    validation: Groups
    completed: Groups
    pseudo_labels: Groups
    all_completed: Groups

    @classmethod
    def of(cls, task: Task, random_state: int, start: WarmStart | None) -> KnownGroups:
        """Those of a task; start: groups that are known from before."""
        split = split_seeds(task, VALIDATION_RATIO, random_state)
        nothing = Groups.empty(task.kg_names)
        if start is None:
            return cls(split.seeds, split.validation, nothing, nothing, nothing)
        pseudo_labels, completed = without_leakage(start, task, split.validation)
        seeds = split.seeds.take(split.seeds.apart_from(task.open_seeds.groups))  # open seeds are in `completed`
        return cls(seeds, split.validation, completed, pseudo_labels, start.completed.groups)
