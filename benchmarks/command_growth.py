"""Whole commands on generated KGs of growing size: seconds, peak memory and scores, and their table in docs/scale.md.

    python benchmarks/command_growth.py run --entities 100000 1000000
    python benchmarks/command_growth.py run --entities 1000000 --memory 4GiB
    python benchmarks/command_growth.py page

`run` generates KGs, aligns them by `multiea align` in a process of its own, and stores the costs of that command in
`experiments/results/command-growth.json`; an earlier row of the same size and memory is replaced. CPU seconds are those
of all threads: they say more than seconds where other programs use the machine too. `page` writes the table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import multiea
from measure import growth_exponent
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.foundation.memory_budget import parse_memory

PROJECT = Path(__file__).resolve().parents[1]
STORED = PROJECT / "experiments" / "results" / "command-growth.json"
PAGE = PROJECT / "docs" / "scale.md"
BEGIN = "<!-- made by benchmarks/command_growth.py: begin -->\n"
END = "<!-- made by benchmarks/command_growth.py: end -->\n"
LARGE = 100_000  # from here on exponents are given
GIB = 1 << 30


@dataclass(frozen=True)
class Row:
    """The costs and the scores of one command; memory: what --memory was, peak: bytes."""

    kgs: int
    entities: int
    triples: int
    memory: str | None
    cores: int
    seconds: float
    cpu_seconds: float
    peak: int
    m_hits_at_1: float
    pairs_f1: float


def main() -> None:
    """Runs commands, or writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    run = parts.add_parser("run", help="align generated KGs and store the costs")
    run.add_argument("--kgs", type=int, default=3)
    run.add_argument("--entities", type=int, nargs="+", required=True, help="entities per KG; several sizes")
    run.add_argument("--memory", help="as for multiea align, such as 4GiB")
    parts.add_parser("page", help="write the table into docs/scale.md")
    options = parser.parse_args()
    if options.part == "page":
        write_page(read())
        return
    try:
        sizes = [Synthesis(kgs=options.kgs, entities=entities) for entities in options.entities]
        if options.memory is not None:
            parse_memory(options.memory)
    except multiea.MultiEAError as error:
        parser.error(str(error))
    for made in sizes:
        row = measured(made, options.memory)
        kept = [old for old in read() if (old.kgs, old.entities, old.memory) != (row.kgs, row.entities, row.memory)]
        rows = sorted([*kept, row], key=lambda one: (one.kgs, one.entities, one.memory or ""))
        STORED.write_text(json.dumps([asdict(one) for one in rows], indent=1) + "\n", encoding="utf-8")
        print(row, flush=True)


def measured(made: Synthesis, memory: str | None) -> Row:
    """Aligns generated KGs by the command and returns what it took."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "data"), Path(folder, "run")
        data.mkdir()
        kgs = write_synthetic(made, data)["kgs"].values()
        command = [sys.executable, "-m", "multiea", "align", str(data), "--out", str(out), "--no-progress"]
        begin = time.perf_counter()
        process = os.posix_spawn(
            sys.executable, command + ([] if memory is None else ["--memory", memory]), dict(os.environ)
        )
        _, status, used = os.wait4(process, 0)
        seconds = time.perf_counter() - begin
        if status:
            sys.exit(f"error: the command ended with {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
        metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    return Row(
        kgs=made.kgs,
        entities=made.entities,
        triples=sum(kg["triples"] for kg in kgs) // made.kgs,
        memory=memory,
        cores=len(os.sched_getaffinity(0)),
        seconds=round(seconds, 1),
        cpu_seconds=round(used.ru_utime + used.ru_stime, 1),
        peak=used.ru_maxrss << 10,
        m_hits_at_1=metrics["m_hits"]["all"]["1"],
        pairs_f1=metrics["pairs"]["f1"],
    )


def read() -> list[Row]:
    """The stored rows."""
    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    return [Row(**row) for row in rows]


def write_page(rows: Sequence[Row]) -> None:
    """Replaces the table of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + BEGIN + part(rows) + END + rest.split(END)[1], encoding="utf-8")


def part(rows: Sequence[Row]) -> str:
    """The table, and how costs grow."""
    lines = [
        "",
        "| KGs x entities | triples per KG | `--memory` | seconds | CPU s | peak GiB | M-Hits@1 (all) | pair F1 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.kgs} x {row.entities:,} | {row.triples:,} | {row.memory or 'default'} | {row.seconds:,.0f} | "
        f"{row.cpu_seconds:,.0f} | {row.peak / GIB:.1f} | {row.m_hits_at_1:.1%} | {row.pairs_f1:.3f} |"
        for row in rows
    ]
    large = [row for row in rows if row.memory is None and row.entities >= LARGE]
    if len(large) > 1:
        sizes = [row.entities for row in large]
        cpu, peak = (growth_exponent(sizes, [getattr(row, cost) for row in large]) for cost in ("cpu_seconds", "peak"))
        lines += [
            "",
            f"From {sizes[0]:,} to {sizes[-1]:,} entities per KG, CPU seconds grow with entities ** {cpu:.2f}, the "
            f"peak with entities ** {peak:.2f}.",
        ]
    cores = " or ".join(str(number) for number in sorted({row.cores for row in rows}))
    return "\n".join([*lines, "", f"On {cores} cores. Made by `python benchmarks/command_growth.py`.", ""]) + "\n"


if __name__ == "__main__":
    main()
