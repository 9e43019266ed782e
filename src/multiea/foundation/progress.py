"""Progress of long work: the library reports it, and the caller decides how to show it.

Nothing is shown unless a reporter is installed. The command line installs one like this::

    with progress.shown_by(reporter), progress.stage("reading en.nt", total=size) as advance:
        advance(4096)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol


class Advance(Protocol):
    """Reports how much was done since the last call, with an optional note such as 'loss 3.1'."""

    def __call__(self, amount: float, note: str = "") -> None:
        """Reports progress."""
        ...


class Reporter(Protocol):
    """Shows stages of work, for example as progress bars."""

    def stage(self, description: str, total: float | None) -> AbstractContextManager[Advance]:
        """Shows one stage while the context is open."""
        ...


_reporter: ContextVar[Reporter | None] = ContextVar("multiea_reporter", default=None)


@contextmanager
def shown_by(reporter: Reporter | None) -> Iterator[None]:
    """Sends all progress inside the context to this reporter."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


def stage(description: str, total: float | None = None) -> AbstractContextManager[Advance]:
    """One stage of work. Call the function it yields with the amount done since the last call."""
    reporter = _reporter.get()
    return nullcontext(_ignore) if reporter is None else reporter.stage(description, total)


def _ignore(amount: float, note: str = "") -> None:
    """Discards progress when no reporter is installed."""
