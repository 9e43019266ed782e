"""Seconds and peak memory of a function, measured in a fresh process so that nothing before it counts."""

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


@dataclass(frozen=True)
class Measured(Generic[Result]):
    """What a function returned and what it took; peak_mb is above what the process held before, imports included."""

    result: Result
    seconds: float
    peak_mb: float


def measure(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Measured[Result]:
    """Runs a function of a module's top level in a new interpreter that has imported that module."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(_measured, partial(function, *args, **kwargs)).result()


def best_of(repeats: int, function: Callable[[Path], Result], path: Path) -> Measured[Result]:
    """The fastest of several runs, with the highest peak of them: others may use the machine too."""
    runs = [measure(function, path) for _ in range(repeats)]
    return Measured(runs[0].result, min(run.seconds for run in runs), max(run.peak_mb for run in runs))


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """k where the cost grows as size ** k from the smallest to the largest size."""
    return math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])


def growth_exponents(sizes: Sequence[float], costs: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The exponent of each cost by its name; none for a single size."""
    return {name: growth_exponent(sizes, values) for name, values in costs.items()} if len(sizes) > 1 else {}


def report_sizes(kgs: int, lines: Sequence[Any], header: Sequence[str], cells: Callable[[Any], Sequence[str]]) -> None:
    """A table of measured sizes, and how seconds and peak memory grow with their triples."""
    print_table(("entities", *header), [(f"{kgs} x {line.entities:,}", *cells(line)) for line in lines])
    print_growth(growth_of_sizes(lines))


def growth_of_sizes(lines: Sequence[Any]) -> dict[str, float]:
    """The exponents of seconds and peak memory in the number of triples."""
    costs = {cost: [getattr(line, cost) for line in lines] for cost in ("seconds", "peak_mb")}
    return growth_exponents([line.triples for line in lines], costs)


def sizes_as_json(kgs: int, lines: Sequence[Any]) -> str:
    """The same for machines."""
    sizes = [asdict(line) for line in lines]
    return json.dumps({"kgs": kgs, "sizes": sizes, "growth_exponent": growth_of_sizes(lines)})


def print_growth(exponents: Mapping[str, float]) -> None:
    """A line a cost."""
    for cost, exponent in exponents.items():
        print(f"{cost} grow as triples ** {exponent:.2f}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns under their names, the first to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *others]))


def _measured(function: Callable[[], Result]) -> Measured[Result]:
    before = _peak_mb()
    start = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - start
    return Measured(result, seconds, _peak_mb() - before)


def _peak_mb() -> float:
    """The most memory this process has held; Linux's getrusage would count the parent's, its status file does not."""
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / MEGABYTE
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / MEGABYTE
