"""Runs tasks on a Ray cluster; arrays go through a folder that all nodes share, never through the driver."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from multiea.foundation import progress
from multiea.foundation.errors import MultiEAError, counted
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.progress_files import ProgressFile, running
from multiea.tasks.runner import Task, check_written, missing_tasks

log = logging.getLogger("multiea")
RETRIES = 5  # of a task whose process or node was lost
LATE_FILES = 60.0  # seconds until a network file system shows what another node has written
POLL, LOOK_FOR_NODES, WITHOUT_NODES = 0.5, 5.0, 60.0  # seconds
GOES_ON = "what is finished stays in the work folder, and the same command with the same --work-folder goes on"


@dataclass(frozen=True)
class Outcome:
    """How a task ended on its node: its warnings, and an error that a user can correct."""

    warnings: list[str] = field(default_factory=list)
    error: Exception | None = None


class RayRunner:
    """Runs each task as a Ray task; Ray must be connected. Tasks of lost nodes are run again on others.

    memory: the bytes that one task may use. cpus: the CPUs, and the threads, of one task.
    """

    def __init__(self, work_folder: Path, memory: int, cpus: int) -> None:
        self._folder, self.memory, self._cpus = work_folder, memory, cpus
        self.shards = FolderShards(work_folder / "shards", LATE_FILES)

    def run(self, stage: str, tasks: Sequence[Task]) -> None:
        """Runs the tasks whose shards are not there yet."""
        import ray  # deferred: an extra

        execute = ray.remote(num_cpus=self._cpus, max_retries=RETRIES, scheduling_strategy="SPREAD")(execute_task)
        with progress.stage(stage, len(tasks)) as advance:
            missing = missing_tasks(self.shards, tasks)
            advance(len(tasks) - len(missing))
            pending = {
                execute.options(name=task.name).remote(str(self._folder), task, self._cpus): task for task in missing
            }
            nodes = _Nodes(self._cpus)
            try:
                with _termination_delayed() as terminate:
                    while pending:
                        done, _ = ray.wait(list(pending), num_returns=len(pending), timeout=POLL)
                        terminate()
                        for reference in done:
                            task = pending.pop(reference)
                            _finish(task, reference)
                            check_written(self.shards, task)
                        advance(len(done), self._note())
                        nodes.check()
            except BaseException:
                for reference in pending:
                    ray.cancel(reference, force=True)
                raise

    def _note(self) -> str:
        doing = running(self._folder / "progress")
        task, words = next(iter(doing.items()), ("", ""))
        more = f" (and {len(doing) - 1} more)" if len(doing) > 1 else ""
        return f"{task}: {words}{more}" if doing else ""


@contextmanager
def _termination_delayed() -> Iterator[Callable[[], None]]:
    """Keeps SIGTERM from interrupting Ray, which changes the exit code; calling what it yields lets it take effect."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    came: list[tuple[int, FrameType | None]] = []
    handler = signal.signal(signal.SIGTERM, lambda *signal_and_frame: came.append(signal_and_frame))

    def terminate() -> None:
        if came:
            signal.signal(signal.SIGTERM, handler)
            signal.raise_signal(signal.SIGTERM)

    try:
        yield terminate
        terminate()
    finally:
        signal.signal(signal.SIGTERM, handler)


def execute_task(work_folder: str, task: Task, cpus: int) -> Outcome:
    """Runs a task on a node. Errors that a user can correct are returned: Ray would wrap them in a traceback."""
    _use_threads(cpus)
    folder = Path(work_folder)
    shards = FolderShards(folder / "shards", LATE_FILES)
    if task.name in shards:  # written before its node was lost
        return Outcome()
    messages = _Messages()
    log.addHandler(messages)
    try:
        with ProgressFile(folder / "progress", task.name).while_running():
            task.function(shards, task.name, *task.args)
    except (MultiEAError, OSError, MemoryError) as error:
        return Outcome(messages.kept, error)
    finally:
        log.removeHandler(messages)
    return Outcome(messages.kept)


def _finish(task: Task, reference: Any) -> None:
    """Passes on the warnings of a task; raises its error."""
    import ray  # deferred: an extra

    try:
        outcome: Outcome = ray.get(reference)
    except ray.exceptions.OutOfMemoryError:
        raise MultiEAError(
            f"{task.name}: out of memory on its node; use nodes with more memory, or give less with --memory; {GOES_ON}"
        ) from None
    except ray.exceptions.RayTaskError:
        raise  # an error in the program
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise MultiEAError(f"{task.name}: lost {RETRIES + 1} times ({reason}); {GOES_ON}") from None
    for message in outcome.warnings:
        log.warning("%s", message)
    if outcome.error is not None:
        raise outcome.error


class _Nodes:
    """Notices lost nodes; and that none is left that could run a task, for which Ray would wait for ever."""

    def __init__(self, cpus: int) -> None:
        self._cpus, self._next, self._without_since = cpus, time.monotonic() + LOOK_FOR_NODES, 0.0
        self._before = self._able()

    def check(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next, able = now + LOOK_FOR_NODES, self._able()
        for name in self._before.keys() - able.keys():
            log.warning("node %s of the cluster was lost; its tasks run again on others", self._before[name])
        self._before = able
        if able:
            self._without_since = 0.0
            return
        self._without_since = self._without_since or now
        if now - self._without_since >= WITHOUT_NODES:
            raise MultiEAError(f"no node with {counted(self._cpus, 'CPU')} is left in the cluster; {GOES_ON}")

    def _able(self) -> dict[str, str]:
        """The addresses of the nodes that can run a task."""
        import ray  # deferred: an extra

        alive = [node for node in ray.nodes() if node["Alive"]]
        return {
            one["NodeID"]: one["NodeManagerAddress"] for one in alive if one["Resources"].get("CPU", 0) >= self._cpus
        }


class _Messages(logging.Handler):
    """Keeps warnings, which the driver passes on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record.getMessage())


def _use_threads(cpus: int) -> None:
    """As many threads as the task has CPUs, in the libraries that its function has imported."""
    torch, numba = sys.modules.get("torch"), sys.modules.get("numba")
    if torch is not None:
        torch.set_num_threads(cpus)
    if numba is not None:
        numba.set_num_threads(min(cpus, numba.config.NUMBA_NUM_THREADS))
