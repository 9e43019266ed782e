"""Progress of long work: the library says where it is, and whoever sits on top decides how to show it.

Nothing is shown unless a reporter is installed, as the command line does::

    with progress.shown_by(reporter), progress.stage("reading en.nt", total=size) as advance:
        advance(4096)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol


class Advance(Protocol):
    """Says how much was done since the last call, and, where it helps, how it stands: 'loss 3.1'."""

    def __call__(self, amount: float, note: str = "") -> None:
        """Goes on."""
        ...


class Reporter(Protocol):
    """Shows stages of work, for instance as bars."""

    def stage(self, description: str, total: float | None) -> AbstractContextManager[Advance]:
        """Shows one stage while the context lasts."""
        ...


_reporter: ContextVar[Reporter | None] = ContextVar("multiea_reporter", default=None)


@contextmanager
def shown_by(reporter: Reporter | None) -> Iterator[None]:
    """Everything inside reports its progress to this reporter."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


def stage(description: str, total: float | None = None) -> AbstractContextManager[Advance]:
    """One stage of work; call what it yields with the amount done since the last call."""
    reporter = _reporter.get()
    return nullcontext(_ignore) if reporter is None else reporter.stage(description, total)


def _ignore(amount: float, note: str = "") -> None:
    """Without a reporter, progress goes nowhere."""
