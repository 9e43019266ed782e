"""What saving and opening a run take beside its embeddings: seconds per plain copy of them, memory per size of them.

The embeddings are random and lie in a memory-mapped file, as where they do not fit into memory. Both ratios show
whether saving or opening makes copies of all embeddings: then the memory is at least 1.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

import multiea
from measure import MEGABYTE, measure, print_table
from multiea import AlignSettings
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.engines.embeddings import Embeddings
from multiea.foundation.mapped_arrays import map_array
from multiea.foundation.memory import PeakMemory
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.found_groups import FoundGroups
from multiea.runs.run import Run
from multiea.runs.saving import save_run

KGS = 3
WIDTH = 1472


@dataclass(frozen=True)
class Kept:
    """One row of the table."""

    what: str
    entities: int
    embeddings_mb: float
    seconds: float
    of_copy: float
    peak_mb: float
    of_embeddings: float


def main() -> None:
    """Saves and opens a run of each size, each in a fresh process, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, nargs="+", default=[30_000, 100_000], help="entities per KG")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = [line for entities in sorted(options.entities) for line in kept(entities)]
    if options.json:
        print(json.dumps([asdict(line) for line in lines], indent=2))
        return
    header = ("", "entities", "embeddings MB", "seconds", "of a copy", "peak MB", "of embeddings")
    print_table(header, [cells(line) for line in lines])


def cells(line: Kept) -> tuple[str, ...]:
    """The cells of one row of the table."""
    numbers = (f"{line.embeddings_mb:.0f}", f"{line.seconds:.1f}", f"{line.of_copy:.1f}", f"{line.peak_mb:.0f}")
    return (line.what, f"{KGS} x {line.entities:,}", *numbers, f"{line.of_embeddings:.2f}")


def kept(entities: int) -> list[Kept]:
    """Measures one size: saving, then opening."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        write_synthetic(Synthesis(kgs=KGS, entities=entities), folder / "data")
        measure(write_embeddings, folder / "numbers", KGS * entities)
        copying = measure(copied, folder / "numbers").result
        size = (folder / "numbers").stat().st_size
        lines = []
        for what, function in (("save", saved), ("open", opened)):
            seconds, peak_mb = measure(function, folder).result
            ratio = peak_mb * MEGABYTE / size
            lines.append(Kept(what, entities, size / MEGABYTE, seconds, seconds / copying, peak_mb, ratio))
    return lines


def write_embeddings(path: Path, count: int) -> None:
    """Writes random embeddings."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        for start in range(0, count, 1 << 14):
            rows = min(1 << 14, count - start)
            file.write(rng.integers(-127, 128, (rows, WIDTH), dtype=np.int8).tobytes())


def copied(path: Path) -> float:
    """The seconds of a plain copy."""
    start = time.perf_counter()
    shutil.copyfile(path, path.with_name("copy"))
    return time.perf_counter() - start


def saved(folder: Path) -> tuple[float, float]:
    """Saves a run with these embeddings, in which the held-out groups were found; seconds and peak."""
    task = multiea.load(folder / "data")
    count = int(task.entity_offsets[-1])
    numbers = torch.from_numpy(map_array(folder / "numbers", np.int8, (count, WIDTH)))
    found = FoundGroups.from_members(task.held_out, task.held_out.present.astype(float))
    result = AlignmentResult(task, found, Embeddings(numbers, torch.ones(count)), AlignSettings.default())
    run = Run(result, {"seconds": {}, "peak_rss_mb": 0})
    return _timed(lambda: save_run(run, folder / "run"))


def opened(folder: Path) -> tuple[float, float]:
    """Opens the run and reads one embedding; seconds and peak."""
    return _timed(lambda: multiea.open(folder / "run").embeddings_of(np.array([0])))


def _timed(function: Callable[[], object]) -> tuple[float, float]:
    """The seconds of a function, and its peak above the memory used before the call, in MB."""
    peak = PeakMemory()
    before, start = peak.megabytes(), time.perf_counter()
    function()
    return time.perf_counter() - start, (peak.megabytes() - before) * (1 << 20) / MEGABYTE


if __name__ == "__main__":
    main()
