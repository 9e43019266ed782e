"""Seconds and peak memory of writing a merged KG: generated KGs, with all their known groups as the alignment.

Reading the KGs is also measured separately, so that the cost of merging can be seen.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from measure import MEGABYTE, Measured, measure, print_table
from multiea.api import Alignment
from multiea.data.load import load
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.task import Task
from multiea.engines.embeddings import Embeddings
from multiea.grouping.found_groups import FoundGroups
from multiea.settings.tree import AlignSettings

KGS, TRIPLES_PER_ENTITY = 3, 5


@dataclass(frozen=True)
class Merging:
    """One row of the table; peak_mb is the peak of reading, merging and writing together."""

    file: str
    triples: int
    facts: int
    file_mb: float
    seconds: float
    of_reading: float
    peak_mb: float
    reading_peak_mb: float


def main() -> None:
    """Generates the KGs, writes the merged KG in both formats, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000, help="the number of triples of all KGs together")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_synthetic(Synthesis(kgs=KGS, entities=options.triples // TRIPLES_PER_ENTITY // KGS), folder)
        reading = measure(read, folder)
        lines = [merging(name, folder, reading) for name in ("merged.nq", "merged.parquet")]
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


def merging(name: str, folder: Path, reading: Measured[int]) -> Merging:
    """Measures one format."""
    run = measure(merged, folder, name)
    return Merging(
        file=name,
        triples=reading.result,
        facts=run.result,
        file_mb=(folder / "out" / name).stat().st_size / MEGABYTE,
        seconds=run.seconds,
        of_reading=run.seconds / reading.seconds,
        peak_mb=run.peak_mb,
        reading_peak_mb=reading.peak_mb,
    )


def read(folder: Path) -> int:
    """Reads all KGs; returns the number of their triples."""
    return sum(len(kg.triples) for kg in load(folder, train_ratio=1.0).kgs)


def merged(folder: Path, name: str) -> int:
    """Reads all KGs, merges them by their known groups, and writes the merged KG; returns the number of its facts."""
    task = load(folder, train_ratio=1.0)
    embeddings = Embeddings(torch.zeros(int(task.entity_offsets[-1]), 1))
    nothing_found = FoundGroups.empty(task.kg_names)
    alignment = Alignment(Task(task.kgs, task.seeds), nothing_found, embeddings, AlignSettings.default())
    return alignment.to_merged(folder / "out" / name, force=True).records


if __name__ == "__main__":
    main()
