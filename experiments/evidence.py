"""Evidence: structure, names, attributes and all of them, on every data set, with and without seeds.

python experiments/evidence.py run --source FOLDER     runs `multiea align` on each data set, as a whole command
python experiments/evidence.py show                    writes the page from the stored results

FOLDER contains DBP15K, its translated names, DWY15K and the tables of records, unpacked or as archives; by default
../shared/data. Stored runs are not repeated, except with --again, which replaces them: rows of different versions of
the code do not belong into one table. --cases, --kinds and --random-states choose some of them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from evidence_cases import CASES, KINDS, Case
from evidence_data import DataSets
from evidence_page import page
from stored_rows import Row, machine, read_rows, run_command, store_rows

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "evidence.json"
PAGE = FOLDER.parent / "docs" / "results" / "evidence.md"
SOURCE = FOLDER.parent.parent / "shared" / "data"
STATES = (0, 1, 2)
KEPT = ("evidence", "calibration", "validation", "pairs", "groups", "m_hits", "peak_rss_mb", "search")
Key = tuple[str, float, str, int]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs what is not stored yet, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("--source", type=Path, default=SOURCE, help="the folder with the data")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), help="for run: the data sets")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="for run: the evidence")
    parser.add_argument("--random-states", type=int, nargs="+", default=STATES)
    parser.add_argument("--again", action="store_true", help="for run: repeats stored runs and replaces them")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    stored = read_rows(options.results)
    if options.what == "show":
        options.page.write_text(page(stored, RESULTS.name), encoding="utf-8")
        return
    if not options.source.is_dir():
        parser.error(f"run needs --source FOLDER, the folder with the data; got {options.source}")
    if options.again:
        chosen = {key for name in options.cases for key in keys_of(name, options.kinds, options.random_states)}
        stored = [row for row in stored if key_of(row) not in chosen]
    done = {key_of(row) for row in stored}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        data = DataSets(options.source, Path(folder), opened, run_command)
        for row in store_rows(options.results, stored, runs(options, data, done)):
            print(*key_of(row), f"{row['pairs']['f1']:.4f}", f"{row['seconds']:.0f} s", flush=True)


def key_of(row: Row) -> Key:
    """The values that identify a run."""
    return row["case"], row["seeds"], row["kinds"], row["random_state"]


def keys_of(name: str, kinds: Sequence[str], states: Sequence[int]) -> list[Key]:
    """The runs of a case. Structure alone needs seeds."""
    case: Case = CASES[name]
    return [
        (name, seeds, kind, state)
        for seeds in case.seeds
        for kind in case.kinds
        for state in states
        if kind in kinds and (seeds or kind != "structure")
    ]


def runs(options: argparse.Namespace, data: DataSets, done: set[Key]) -> Iterator[Row]:
    """Each run as a whole command in its own process."""
    for name in options.cases:
        for key in keys_of(name, options.kinds, options.random_states):
            if key not in done:
                yield one_run(key, data.place(CASES[name]))


def one_run(key: Key, data: str) -> Row:
    """The row that is stored for a run."""
    name, seeds, kind, state = key
    with tempfile.TemporaryDirectory() as folder:
        command = ["align", data, *KINDS[kind], "--train-ratio", str(seeds), "--random-state", str(state)]
        load = os.getloadavg()[0] / (os.cpu_count() or 1)  # of each core: the page shows no seconds of a busy machine
        start = time.perf_counter()
        answer = json.loads(run_command(*command, "--out", f"{folder}/run", "--json", "--no-progress"))
        seconds = time.perf_counter() - start
    row = {"case": name, "seeds": seeds, "kinds": kind, "random_state": state, "seconds": seconds, "load": load}
    row |= {part: answer[part] for part in KEPT} | {"ece": answer["confidence"]["ece"]}
    return row | {"hits": {pool: hits["overall"] for pool, hits in answer["hits"].items()}, **machine()}


if __name__ == "__main__":
    main()
