"""How `multiea align` scales with the number of KGs: the same number of entities in all, in more and more KGs.

Pairs of KGs grow with the square of their number, so this shows what each pair costs. Every number of KGs is generated
and aligned in a fresh process. Rounds of bootstrapping differ, so seconds are also given for each round.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import multiea
from growth import align_folder
from measure import growth_exponents, measure, print_table
from multiea.data.synthetic import Synthesis, write_synthetic

COSTS = ("seconds", "align_seconds", "seconds_per_round", "peak_mb")


@dataclass(frozen=True)
class Aligned:
    """One row of the table; seconds_per_round: of aligning, the last comparison counted as a round."""

    kgs: int
    entities: int
    seconds: float
    align_seconds: float
    rounds: int
    seconds_per_round: float
    peak_mb: float
    pairs_f1: float


def main() -> None:
    """Aligns each number of KGs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=6_000, help="entities of all KGs together")
    parser.add_argument("--kgs", type=int, nargs="+", default=[15, 30, 60], help="several numbers of KGs")
    parser.add_argument("--evidence", choices=("structure", "all"), default="structure")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    has_literals = options.evidence == "all"
    try:
        plans = [
            Synthesis(kgs=kgs, entities=options.entities // max(kgs, 1), names=has_literals, attributes=has_literals)
            for kgs in sorted(options.kgs)
        ]
    except multiea.MultiEAError as error:
        parser.error(str(error))
    lines = [aligned(plan) for plan in plans]
    growth = growth_exponents(
        [line.kgs for line in lines], {cost: [getattr(line, cost) for line in lines] for cost in COSTS}
    )
    if options.json:
        print(json.dumps({"numbers": [asdict(line) for line in lines], "growth_exponent": growth}))
        return
    header = ("KGs x entities", "seconds", "align", "rounds", "per round", "peak MB", "pairs F1")
    print_table(header, [cells(line) for line in lines])
    for cost, exponent in growth.items():
        print(f"{cost} grow as KGs ** {exponent:.2f}")


def aligned(plan: Synthesis) -> Aligned:
    """Measures one number of KGs."""
    with tempfile.TemporaryDirectory() as folder:
        write_synthetic(plan, Path(folder))
        run = measure(align_folder, Path(folder))
    rounds, align_seconds = run.result["rounds"], run.result["align_seconds"]
    per_round = align_seconds / (rounds + 1)
    f1 = run.result["pairs"]["f1"]
    return Aligned(plan.kgs, plan.entities, run.seconds, align_seconds, rounds, per_round, run.peak_mb, f1)


def cells(line: Aligned) -> tuple[str, ...]:
    """The cells of one row of the table."""
    return (
        f"{line.kgs} x {line.entities:,}",
        f"{line.seconds:.1f}",
        f"{line.align_seconds:.1f}",
        str(line.rounds),
        f"{line.seconds_per_round:.2f}",
        f"{line.peak_mb:.0f}",
        f"{line.pairs_f1:.3f}",
    )


if __name__ == "__main__":
    main()
