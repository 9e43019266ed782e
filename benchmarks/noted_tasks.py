"""A runner that notes what each task costs.

Between stages the driver works: its own work is noted as a task too, by what it is for.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counting_shards import CountingShards
from multiea.foundation.memory import PeakMemory
from multiea.tasks.runner import LocalRunner, Task, missing_tasks
from multiea.tasks.shards import Shards

STATUS, WAITS = Path("/proc/self/status"), Path("/proc/self/schedstat")
PREPARING, GROUPING, JOINING, OTHER = "preparing", "grouping", "joining embeddings", "between stages"
BEFORE_ROUNDS = "start"
LOOK_EVERY = 0.01  # seconds


@dataclass(frozen=True)
class Noted:
    """What a task cost. rows: of its block; None where it is no block. by_driver: whether it is the driver's own work.

    main_seconds: CPU seconds of the main thread, which takes part in all that threads share; cpu_seconds: of all
    threads. memory: bytes at the peak above those before the task; of the driver above those before the run; without
    pages of mapped files, which the system can give back. with_files: the same with these.
    """

    stage: str
    round: str
    rows: int | None
    by_driver: bool
    seconds: float
    cpu_seconds: float
    main_seconds: float
    read: int
    written: int
    memory: int
    with_files: int


class NotingRunner:
    """Runs one task after the other in this process, as LocalRunner does, and notes what each costs.

    after_stages: the bytes on disk by kind at the end of each stage, before shards are dropped.
    """

    def __init__(self, shards: Shards, memory: int) -> None:
        self.shards, self.memory = CountingShards(shards), memory
        self._runner = LocalRunner(self.shards, memory)
        self.noted: list[Noted] = []
        self.after_stages: list[dict[str, Any]] = []
        self._own_peak: OwnPeak | None = None
        self._base, self._stage, self._round = in_memory(), "", BEFORE_ROUNDS
        self._begin()

    def run(self, stage: str, tasks: Sequence[Task]) -> None:
        """Runs the tasks whose shards are not there yet."""
        self.driver_did(self._own_work(stage))
        for task in missing_tasks(self.shards, tasks):
            self._round = task.name.split("/")[0]
            self._begin()
            before = in_memory()
            self._runner.run(stage, [task])
            rows = next((one.stop - one.start for one in task.args if isinstance(one, slice)), None)
            self._end(stage, rows, before, by_driver=False)
        self.after_stages.append({"stage": stage, "round": self._round, "bytes": self.shards.sizes()})
        self._stage = stage
        self._begin()

    def driver_did(self, what: str, read: int = 0, written: int = 0) -> None:
        """Notes what the driver did since the last task; read, written: bytes beside those of shards."""
        self._end(what, None, self._base, by_driver=True, read=read, written=written)
        self._begin()

    def _own_work(self, following: str) -> str:
        """What the driver did before a stage."""
        if not self._stage:
            return PREPARING
        if following == "propagating":
            return GROUPING
        return JOINING if self._stage == "embedding" and following != "signing" else OTHER

    def _begin(self) -> None:
        if self._own_peak is not None:
            self._own_peak.end()
        self.shards.start()
        give_back_freed()
        self._peak, self._own_peak = PeakMemory(), OwnPeak()
        self._start = time.perf_counter(), time.process_time(), time.thread_time()

    def _end(
        self, stage: str, rows: int | None, before: tuple[int, int], *, by_driver: bool, read: int = 0, written: int = 0
    ) -> None:
        now = time.perf_counter(), time.process_time(), time.thread_time()
        seconds, cpu, main = (round(end - start, 4) for start, end in zip(self._start, now, strict=True))
        read, written = read + self.shards.read, written + self.shards.written
        assert self._own_peak is not None
        peaks = self._own_peak.end(), self._peak.megabytes() << 20
        memory, with_files = (max(0, peak - less) for peak, less in zip(peaks, before, strict=True))
        self.noted.append(
            Noted(stage, self._round, rows, by_driver, seconds, cpu, main, read, written, memory, with_files)
        )


class OwnPeak:
    """The peak of the memory of this process without mapped files, looked at again and again from now to the end."""

    def __init__(self) -> None:
        self._highest, self._ended = in_memory()[0], threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> int:
        """The peak in bytes."""
        self._ended.set()
        self._thread.join()
        return max(self._highest, in_memory()[0])

    def _look(self) -> None:
        while not self._ended.wait(LOOK_EVERY):
            self._highest = max(self._highest, in_memory()[0])


def give_back_freed() -> None:
    """Gives freed memory back to the system, so that what a task takes is seen. Without glibc nothing happens."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def in_memory() -> tuple[int, int]:
    """The bytes of this process that are in memory: without pages of mapped files, and with them."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    own, every = (int(lines[name].split()[0]) << 10 for name in ("RssAnon", "VmRSS"))
    return own, every


def seconds_waited() -> float:
    """How long the main thread has waited for a processor that other programs had; 0 where the system does not say."""
    return int(WAITS.read_text().split()[1]) / 1e9 if WAITS.exists() else 0.0
