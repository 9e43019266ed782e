"""How fast and in how much memory a merged KG is written: generated KGs, all their known groups as the alignment.

Reading the KGs is measured apart, so that what merging adds is seen.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from measure import MEGABYTE, measure, print_table
from multiea.data.groups import Groups
from multiea.data.load import load
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.task import Task
from multiea.grouping.alignment import Alignment
from multiea.grouping.matching import FoundGroups
from multiea.similarity.enhancement import Enhancement

KGS, TRIPLES_PER_ENTITY = 3, 5


@dataclass(frozen=True)
class Merging:
    """One format's line of the table; peak_mb is of the whole: reading, merging, writing."""

    file: str
    triples: int
    facts: int
    file_mb: float
    seconds: float
    of_reading: float
    peak_mb: float
    reading_peak_mb: float


def main() -> None:
    """Generates the KGs, merges them in both formats, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000, help="of all KGs together")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_synthetic(Synthesis(kgs=KGS, entities=options.triples // TRIPLES_PER_ENTITY // KGS), folder)
        reading = measure(read, folder)
        lines = []
        for name in ("merged.nq", "merged.parquet"):
            run = measure(merged, folder, name)
            size = (folder / "out" / name).stat().st_size / MEGABYTE
            ratio = run.seconds / reading.seconds
            lines.append(
                Merging(name, reading.result, run.result, size, run.seconds, ratio, run.peak_mb, reading.peak_mb)
            )
    if options.json:
        print(json.dumps([asdict(line) for line in lines], indent=2))
        return
    header = ("file", "triples", "facts", "MB", "seconds", "x reading", "peak MB", "of reading")
    rows = [
        (
            line.file,
            f"{line.triples:,}",
            f"{line.facts:,}",
            f"{line.file_mb:.0f}",
            f"{line.seconds:.1f}",
            f"{line.of_reading:.1f}",
            f"{line.peak_mb:.0f}",
            f"{line.reading_peak_mb:.0f}",
        )
        for line in lines
    ]
    print_table(header, rows)


def read(folder: Path) -> int:
    """Reads all KGs; returns how many triples they have."""
    return sum(len(kg.triples) for kg in load(folder, train_ratio=1.0).kgs)


def merged(folder: Path, name: str) -> int:
    """Reads all KGs, merges them by their known groups and writes that; returns how many facts."""
    task = load(folder, train_ratio=1.0)
    nothing = FoundGroups.of_members(Groups.empty(task.kg_names), np.zeros((0, len(task.kgs))))
    entities = sum(len(kg.entities) for kg in task.kgs)
    alignment = Alignment(Task(task.kgs, task.seeds), nothing, torch.zeros(entities, 1), Enhancement())
    return alignment.to_merged(folder / "out" / name, force=True).records


if __name__ == "__main__":
    main()
