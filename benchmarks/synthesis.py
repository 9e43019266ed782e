"""How `multiea synth` scales: seconds and peak memory for KGs of several sizes."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import measure, report_sizes
from multiea.data.synthetic import Synthesis, write_synthetic


@dataclass(frozen=True)
class Generated:
    """One row of the table."""

    entities: int
    triples: int
    seconds: float
    triples_per_second: float
    peak_mb: float


def main() -> None:
    """Generates each size in a fresh process and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kgs", type=int, default=3)
    parser.add_argument(
        "--entities", type=int, nargs="+", default=[100_000, 1_000_000], help="entities per KG; several sizes"
    )
    parser.add_argument("--literals", action="store_true", help="with names and attributes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    literals = {"names": options.literals, "attributes": options.literals}
    sizes = [Synthesis(kgs=options.kgs, entities=entities, **literals) for entities in sorted(options.entities)]
    lines = [generated(settings) for settings in sizes]
    report_sizes(
        options.kgs,
        lines,
        ("triples", "seconds", "triples/s", "peak MB"),
        lambda line: (
            f"{line.triples:,}",
            f"{line.seconds:.1f}",
            f"{line.triples_per_second:,.0f}",
            f"{line.peak_mb:.0f}",
        ),
        as_json=options.json,
    )


def generated(settings: Synthesis) -> Generated:
    """Measures generating one size."""
    with tempfile.TemporaryDirectory() as folder:
        run = measure(write_synthetic, settings, Path(folder))
    triples = sum(kg["triples"] for kg in run.result["kgs"].values())
    return Generated(settings.entities, triples, run.seconds, triples / run.seconds, run.peak_mb)


if __name__ == "__main__":
    main()
