"""Tasks that write shards, and the runner that runs them in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from multiea.foundation import progress
from multiea.foundation.memory import give_back_freed_blocks
from multiea.foundation.memory_budget import memory_budget
from multiea.tasks.shards import MemoryShards, Shards


@dataclass(frozen=True)
class Task:
    """A part of a stage. function(shards, name, *args) writes the shard `name`; it can be imported by its name.

    args: small, as they travel with the task; arrays are shards.
    """

    name: str
    function: Callable[..., None]
    args: tuple[Any, ...] = ()


class Runner(Protocol):
    """Runs the tasks of a stage. memory: the bytes that one task may use."""

    @property
    def shards(self) -> Shards:
        """Where tasks read and write."""
        ...

    @property
    def memory(self) -> int:
        """The bytes that one task may use."""
        ...

    def run(self, stage: str, tasks: Sequence[Task]) -> None:
        """Runs the tasks whose shards are not there yet, in any order; returns when all shards are there."""
        ...


class LocalRunner:
    """Runs one task after the other in this process."""

    def __init__(self, shards: Shards | None = None, memory: int | None = None) -> None:
        self.shards: Shards = MemoryShards() if shards is None else shards
        self.memory = memory_budget(None) if memory is None else memory

    def run(self, stage: str, tasks: Sequence[Task]) -> None:
        """Runs the tasks whose shards are not there yet."""
        with progress.stage(stage, len(tasks)) as advance:
            missing = missing_tasks(self.shards, tasks)
            advance(len(tasks) - len(missing))
            for task in missing:
                task.function(self.shards, task.name, *task.args)
                check_written(self.shards, task)
                advance(1)
        if missing:
            give_back_freed_blocks()


def missing_tasks(shards: Shards, tasks: Sequence[Task]) -> list[Task]:
    """The tasks whose shards are not there yet."""
    if len({task.name for task in tasks}) < len(tasks):
        raise ValueError("two tasks of a stage write the same shard")
    return [task for task in tasks if task.name not in shards]


def check_written(shards: Shards, task: Task) -> None:
    """Raises an error if a task that ended has not written its shard."""
    try:
        shards.get(task.name)  # waits where a network file system shows new files late
    except KeyError:
        raise RuntimeError(f"the task {task.name} ended without writing its shard") from None
