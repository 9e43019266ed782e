"""Rehearsal: seeds held back for a while tell when to stop, what to choose and how sure to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from multiea.grouping.calibration import Calibration

from multiea.data.groups import Groups
from multiea.data.task import Task
from multiea.similarity.signatures import Signatures

FEWEST_HELD_BACK = 10
ENOUGH_HELD_BACK = 50  # where a tenth of the seeds would be less, up to a fifth is held back


@dataclass(frozen=True)
class Learned:
    """Embeddings of all entities in the joint id space, (N, d), and how they came about.

    held_back, rehearsed: seeds that were held back at first, and the embeddings made without them; calibration: where
    these were looked at already.
    """

    embeddings: Tensor
    history: dict[str, Any]
    seeds: Groups
    held_back: Groups
    rehearsed: Tensor | None = None
    signatures: Signatures | None = None
    calibration: Calibration | None = None


def hold_back(task: Task, ratio: float, random_state: int) -> tuple[Groups, Groups]:
    """The seeds to learn from at first, and those held back; the task's own validation groups where it has some.

    Open seeds are seeds here: they are judged where they are known.
    """
    known = task.seeds.joined(task.open_seeds.groups)
    if len(task.validation):
        return known, task.validation
    count = round(ratio * len(known))
    if ratio and count < ENOUGH_HELD_BACK:
        count = max(count, min(ENOUGH_HELD_BACK, len(known) // 5))
    if count < FEWEST_HELD_BACK:
        return known, Groups.empty(task.kg_names)
    carved = Task(task.kgs, known).split(1 - count / len(known), random_state=random_state)
    return carved.seeds, carved.held_out
