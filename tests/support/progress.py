"""Records the progress that work reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from multiea.foundation import progress


class _Notes:
    def __init__(self, wanted: str) -> None:
        self.wanted, self.notes = wanted, list[str]()

    @contextmanager
    def stage(self, description: str, total: float | None) -> Iterator[progress.Advance]:
        def advance(amount: float, note: str = "") -> None:
            if description == self.wanted:
                self.notes.append(note)

        yield advance


def recorded_notes(description: str, work: Callable[[], object]) -> list[str]:
    """The notes that a stage reports while this work is done."""
    reporter = _Notes(description)
    with progress.shown_by(reporter):
        work()
    return reporter.notes


class RecordedStages:
    """For each stage how much was done, and the total; and all notes."""

    def __init__(self) -> None:
        self.done: dict[str, tuple[float, float | None]] = {}
        self.notes: list[str] = []

    @contextmanager
    def stage(self, description: str, total: float | None) -> Iterator[progress.Advance]:
        self.done[description] = (0, total)

        def advance(amount: float, note: str = "") -> None:
            self.done[description] = (self.done[description][0] + amount, total)
            self.notes += [note] if note else []

        yield advance
