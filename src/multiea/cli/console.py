"""What all commands share: tables, progress, warnings, errors and exit codes; text for people, JSON for programs."""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from multiea.foundation import progress
from multiea.foundation.errors import MultiEAError

Parameters = ParamSpec("Parameters")

# Entity names are printed unchanged: brackets and colons in them are not markup.
out = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
err = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)

QUIET_SECONDS = 2.0  # without a terminal, shorter work prints no progress


class Bars:
    """Progress bars on a terminal; elsewhere, such as in a log file, lines for stages that take long."""

    def __init__(self) -> None:
        self._bars: Progress | None = None
        self._open = 0

    @contextmanager
    def stage(self, description: str, total: float | None) -> Iterator[progress.Advance]:
        """Shows the progress of one stage; yields the function that reports progress."""
        if not err.is_terminal:
            with _lines(description, total) as advance:
                yield advance
            return
        if self._bars is None:
            self._bars = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                console=err,
                transient=True,
            )
            self._bars.start()
        bars, task = self._bars, self._bars.add_task(description, total=total)
        self._open += 1

        def move_bar(amount: float, note: str = "") -> None:
            bars.update(task, advance=amount, description=f"{description}  {note}" if note else None)

        try:
            yield move_bar
        finally:
            bars.remove_task(task)
            self._open -= 1
            if not self._open:
                bars.stop()
                self._bars = None


@contextmanager
def _lines(description: str, total: float | None) -> Iterator[progress.Advance]:
    """Prints the progress of a stage as lines: the first after two seconds, then at growing intervals."""
    start, done, interval, last_note = time.monotonic(), 0.0, QUIET_SECONDS, ""
    last_printed = start

    def advance(amount: float, note: str = "") -> None:
        nonlocal done, interval, last_printed, last_note
        done, last_note = done + amount, note or last_note
        now = time.monotonic()
        if now - last_printed >= interval:
            share = f" {done / total:.0%}" if total else ""
            err.print(f"{description} ...{share} ({now - start:.0f} s)  {last_note}".rstrip())
            last_printed, interval = now, interval * 1.5

    yield advance


class _Warnings(logging.Handler):
    """Prints the warnings of the library."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(f"warning: {record.getMessage()}", style="yellow")


warnings = _Warnings(logging.WARNING)


def command(function: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Adds what all commands do: show progress and warnings, and print errors without a traceback, exit code 2."""

    @functools.wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        log = logging.getLogger("multiea")
        log.addHandler(warnings)
        propagated, log.propagate = log.propagate, False
        reporter = Bars() if kwargs.get("show_progress", True) else None
        try:
            with progress.shown_by(reporter):
                function(*args, **kwargs)
            _flush()
        except BrokenPipeError:
            _silence_output()  # the reader of the output has gone, as in `multiea ... | head`
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            err.print("interrupted; no incomplete output was written", style="bold red")
            raise typer.Exit(130) from None
        except MultiEAError as error:
            _fail(str(error), kwargs)
        except OSError as error:
            _fail(f"{error.filename or 'the output'}: {error.strerror or error}", kwargs)
        except MemoryError:
            _fail("out of memory; use a smaller data set or a larger machine", kwargs)
        finally:
            log.removeHandler(warnings)
            log.propagate = propagated

    return run


def _fail(message: str, kwargs: dict[str, Any]) -> None:
    message = message.encode("utf-8", "backslashreplace").decode("utf-8")  # a path may contain bytes that are not text
    try:
        if kwargs.get("as_json"):
            print_json({"error": message})
        _flush()
    except OSError:
        _silence_output()
    err.print(f"error: {message}", style="bold red")
    raise typer.Exit(2) from None


def print_json(answer: object) -> None:
    """Prints one JSON document to standard output."""
    utf_8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    print(json.dumps(answer, ensure_ascii=not utf_8, indent=2))


def _flush() -> None:
    if sys.stdout is not None:  # None if the process started with standard output closed
        sys.stdout.flush()


def _silence_output() -> None:
    """Replaces standard output, so that the interpreter does not fail again when it flushes at exit."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]], *, words: int = 1) -> None:
    """Prints a table; the first `words` columns are left-aligned text, the others right-aligned numbers."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    out.print(title, style="bold")
    for number, row in enumerate(cells):
        gaps = [" " * (width - cell_len(cell)) for width, cell in zip(widths, row, strict=True)]
        padded = [cell + gap if i < words else gap + cell for i, (cell, gap) in enumerate(zip(row, gaps, strict=True))]
        out.print("  ".join(padded).rstrip(), style=None if number else "dim")
