"""Progress of tasks in other processes: each writes what it is doing to a file, and the driver shows it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from multiea.foundation import progress

INTERVAL, STALE = 0.5, 30.0  # seconds


class ProgressFile:
    """A reporter that writes the innermost open stage of one task to a file, at most twice a second."""

    def __init__(self, folder: Path, task: str) -> None:
        self._file = folder / (hashlib.blake2b(task.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest())
        self._task, self._last = task, 0.0

    @contextmanager
    def stage(self, description: str, total: float | None) -> Iterator[progress.Advance]:
        """One stage of the task."""
        done, last_note = 0.0, ""

        def advance(amount: float, note: str = "") -> None:
            nonlocal done, last_note
            done, last_note = done + amount, note or last_note
            share = f" {done / total:.0%}" if total else ""
            self._write(f"{description}{share}  {last_note}".rstrip())

        self._write(description)
        yield advance

    @contextmanager
    def while_running(self) -> Iterator[None]:
        """Shows the progress of everything inside, then removes the file."""
        try:
            with progress.shown_by(self):
                yield
        finally:
            with suppress(OSError):
                self._file.unlink(missing_ok=True)

    def _write(self, words: str) -> None:
        now = time.monotonic()
        if now - self._last < INTERVAL:
            return
        self._last = now
        draft = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):  # progress must not end the work
            self._file.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps({"task": self._task, "doing": words}), encoding="utf-8")
            draft.replace(self._file)


def running(folder: Path) -> dict[str, str]:
    """What each running task is doing, by its name; files that killed processes left are ignored."""
    found = {}
    for file in sorted(folder.glob("*")):
        with suppress(OSError, ValueError, LookupError):
            if not file.suffix and time.time() - file.stat().st_mtime < STALE:
                content = json.loads(file.read_text(encoding="utf-8"))
                found[content["task"]] = content["doing"]
    return found
