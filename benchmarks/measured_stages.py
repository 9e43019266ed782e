"""What `benchmarks/stages.py` has measured: the stages of a run in their order, each with the work of its tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from noted_tasks import Noted


class BadInputError(ValueError):
    """Something that the user can correct."""


@dataclass(frozen=True)
class Work:
    """What one task does. serial, parallel: CPU seconds of one thread alone, and of all threads together.

    read, written: bytes; memory: bytes at the peak.
    """

    serial: float
    parallel: float
    read: float
    written: float
    memory: float

    @property
    def cpu_seconds(self) -> float:
        """Of all threads."""
        return self.serial + self.parallel

    @property
    def moved(self) -> float:
        """The bytes read and written."""
        return self.read + self.written


@dataclass(frozen=True)
class Stage:
    """Tasks that may run at the same time; the next stage begins when all have ended. by_driver: its own work."""

    name: str
    round: str
    by_driver: bool
    works: list[Work]


@dataclass(frozen=True)
class MeasuredRun:
    """A file that `benchmarks/stages.py --out` has written. entities, triples: of each KG. waited: of the seconds."""

    kgs: int
    entities: int
    triples: int
    relations: int
    groups: int
    dimensions: int
    width: int
    threads: int
    threading: str
    memory_budget: int
    seconds: float
    waited: float
    bytes_per_second: Mapping[str, float]
    disk: list[dict[str, Any]]
    tasks: list[Noted]

    @classmethod
    def read(cls, path: Path) -> MeasuredRun:
        """From a file."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            tasks = [Noted(**task) for task in content["tasks"]]
            run = cls(**{**content, "tasks": tasks})
            rates = {name: float(run.bytes_per_second[name]) for name in ("read", "zeroed", "written")}
        except OSError as error:
            raise BadInputError(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise BadInputError(f"{path} is not a file that benchmarks/stages.py --out has written") from None
        if run.threads < 2:
            raise BadInputError(f"{path} was measured with one thread; two or more show what threads can share")
        if not tasks or min(run.entities, run.triples, run.kgs - 1, *rates.values()) <= 0:
            raise BadInputError(f"{path} holds no measured tasks, or sizes that no run has")
        return run

    def groups_of_tasks(self) -> list[list[Noted]]:
        """The tasks of each stage of each round, in the order of the run."""
        return [list(some) for _, some in groupby(self.tasks, lambda task: (task.round, task.stage, task.by_driver))]

    def work_of(self, task: Noted) -> Work:
        """The work of a measured task. The main thread does what is serial, and its part of what is parallel."""
        shared = max(task.cpu_seconds - task.main_seconds, 0.0) * self.threads / (self.threads - 1)
        parallel = min(shared, task.cpu_seconds)
        return Work(task.cpu_seconds - parallel, parallel, task.read, task.written, task.memory)

    def stages(self) -> list[Stage]:
        """The stages as they were measured."""
        return [
            Stage(some[0].stage, some[0].round, some[0].by_driver, [*map(self.work_of, some)])
            for some in self.groups_of_tasks()
        ]
