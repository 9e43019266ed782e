"""Validation seeds: seeds kept aside inside a run, to stop, to choose weights and to calibrate."""

from __future__ import annotations

from dataclasses import dataclass

from multiea.data.groups import Groups
from multiea.data.task import Task

FEWEST_VALIDATION_SEEDS = 10
ENOUGH_VALIDATION_SEEDS = 50  # where the ratio gives fewer, up to a fifth of the seeds is used


@dataclass(frozen=True)
class SeedSplit:
    """seeds: to learn from. validation: the validation seeds."""

    seeds: Groups
    validation: Groups


def split_seeds(task: Task, ratio: float, random_state: int) -> SeedSplit:
    """Splits the seeds of a task; its own validation groups are the validation seeds where it has some.

    Open seeds count as seeds here: they are judged in the KGs where they are known.
    """
    known = task.seeds.joined(task.open_seeds.groups)
    if len(task.validation):
        return SeedSplit(known, task.validation)
    count = round(ratio * len(known))
    if ratio and count < ENOUGH_VALIDATION_SEEDS:
        count = max(count, min(ENOUGH_VALIDATION_SEEDS, len(known) // 5))
    if count < FEWEST_VALIDATION_SEEDS:
        return SeedSplit(known, Groups.empty(task.kg_names))
    split = Task(task.kgs, known).split(1 - count / len(known), random_state=random_state)
    return SeedSplit(split.seeds, split.held_out)
