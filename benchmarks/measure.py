"""Seconds and peak memory of a function, measured in a fresh process, and tables of them."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

STATUS = Path("/proc/self/status")
MEGABYTE = 1e6
COSTS = ("seconds", "peak_mb")


@dataclass(frozen=True)
class Measured(Generic[Result]):
    """The result of a function and its costs; peak_mb is the peak above the memory used before the call.

    cpu_seconds: of all threads. They say more than seconds where other processes use the machine too.
    """

    result: Result
    seconds: float
    cpu_seconds: float
    peak_mb: float


def measure(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Measured[Result]:
    """Runs a top-level function of a module in a new interpreter that has already imported this module."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(_measured, partial(function, *args, **kwargs)).result()


def best_of(repeats: int, function: Callable[[Path], Result], path: Path) -> Measured[Result]:
    """The shortest time and the highest peak of several runs, because other processes may use the machine too."""
    runs = [measure(function, path) for _ in range(repeats)]
    seconds, cpu_seconds = (min(getattr(run, cost) for run in runs) for cost in ("seconds", "cpu_seconds"))
    return Measured(runs[0].result, seconds, cpu_seconds, max(run.peak_mb for run in runs))


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent k with which the cost grows as size ** k, from the smallest to the largest size."""
    return math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])


def growth_exponents(sizes: Sequence[float], costs: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The exponent of each cost by its name; empty for a single size."""
    return {name: growth_exponent(sizes, values) for name, values in costs.items()} if len(sizes) > 1 else {}


def report_sizes(
    kgs: int,
    lines: Sequence[Any],
    header: Sequence[str],
    cells: Callable[[Any], Sequence[str]],
    *,
    as_json: bool,
    costs: Sequence[str] = COSTS,
) -> None:
    """Prints a table of the measured sizes, and how the costs (fields of the lines) grow with the number of triples."""
    growth = growth_exponents(
        [line.triples for line in lines], {cost: [getattr(line, cost) for line in lines] for cost in costs}
    )
    if as_json:
        print(json.dumps({"kgs": kgs, "sizes": [asdict(line) for line in lines], "growth_exponent": growth}))
        return
    print_table(("entities", *header), [(f"{kgs} x {line.entities:,}", *cells(line)) for line in lines])
    for cost, exponent in growth.items():
        print(f"{cost} grow as triples ** {exponent:.2f}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints columns under their names; the first is left-aligned, all others are right-aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *others]))


def _measured(function: Callable[[], Result]) -> Measured[Result]:
    before = _peak_mb()
    start, cpu_start = time.perf_counter(), time.process_time()
    result = function()
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    return Measured(result, seconds, cpu_seconds, _peak_mb() - before)


def _peak_mb() -> float:
    """The peak memory of this process; on Linux from its status file, since getrusage counts the parent's too."""
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / MEGABYTE
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / MEGABYTE
