"""multiea beside other tools on the same data in one run, all without seeds: pair F1, seconds and peak memory.

Peers: Splink (extra `peers`) with blocking, comparisons, EM, term frequencies and clusters at a threshold of 0.95, and
at the threshold that is best by the known groups, which a user does not know; equal normalised names, unique on both
sides; PARIS where --paris names its jar. Each runs as a process of its own, and multiea as the command `multiea align`.
A pair is judged where one of its entities has a known counterpart in the KG of the other.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import polars as pl

import multiea
import peer_methods
from measure import print_table
from multiea.data.archives import unpacked, unpacked_data_set
from multiea.data.groups import Groups
from multiea.data.task import Task
from multiea.foundation.memory import peak_rss_mb

SHARED = Path(__file__).parents[2] / "shared" / "data"
DATA_SETS = ("settlements", "musicbrainz", "world", "zh_en", "ja_en", "fr_en")
BEST_SPLINK = "splink, best threshold"  # by the known groups; its seconds are those of all thresholds
SPLINK = ("splink", BEST_SPLINK)
METHODS = ("multiea", *SPLINK, "equal names", "paris")


@dataclass(frozen=True)
class Compared:
    """One row of the table."""

    data_set: str
    method: str
    precision: float
    recall: float
    f1: float
    seconds: float
    peak_mb: float


def main() -> None:
    """Runs all methods on all data sets and prints the table; with --worker, one method as a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, default=SHARED / "records.tar.xz", help="an archive or folder")
    parser.add_argument("--dbp15k", type=Path, default=SHARED / "dbp15k.tar.xz", help="an archive or folder")
    parser.add_argument("--data-sets", nargs="+", choices=DATA_SETS, default=list(DATA_SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--paris", type=Path, help="the jar of PARIS; left out without it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", nargs=3, metavar=("METHOD", "DATA", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        method, source, out = options.worker
        work(method, source, out, options.paris)
        return
    methods = available(options.methods, options.paris)
    lines = []
    with source_folder(options.records, unpacked_data_set) as records, source_folder(options.dbp15k, unpacked) as dbp:
        for name in options.data_sets:
            source = name if name == "world" else str((dbp if name.endswith("_en") else records) / name)
            if name != "world" and not Path(source).exists():
                sys.exit(f"{source} is not there; name an archive or folder with --records or --dbp15k")
            gold = known_pairs(multiea.load(source, train_ratio=0.0))
            for method in methods:
                lines.append(compared(name, source, method, gold, options.paris))
                print(lines[-1], file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps([asdict(line) for line in lines], indent=2))
        return
    rows = [
        (
            f"{line.data_set}, {line.method}",
            *(f"{score:.3f}" for score in (line.precision, line.recall, line.f1)),
            f"{line.seconds:.1f}",
            f"{line.peak_mb:.0f}",
        )
        for line in lines
    ]
    print_table(("", "precision", "recall", "F1", "seconds", "peak MB"), rows)


def available(methods: Sequence[str], paris: Path | None) -> list[str]:
    """The methods that can run here; says on stderr what is left out."""
    lacking = {
        **dict.fromkeys(SPLINK, importlib.util.find_spec("splink") is None and "pip install multiea[peers]"),
        "paris": (paris is None or not paris.exists()) and "give its jar with --paris",
    }
    for method in methods:
        if hint := lacking.get(method):
            print(f"{method} is left out: {hint}", file=sys.stderr)
    return [method for method in methods if not lacking.get(method)]


@contextmanager
def source_folder(place: Path, unpack: Callable[[Path], AbstractContextManager[Path]]) -> Iterator[Path]:
    """A folder of data sets, unpacked where it is an archive."""
    if not place.is_file():
        yield place
        return
    with unpack(place) as folder:
        yield folder


def compared(name: str, source: str, method: str, gold: pl.DataFrame, paris: Path | None) -> Compared:
    """Runs one method as a process and scores the pairs that it finds."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out"
        if method == "multiea":
            words = [sys.executable, "-m", "multiea", "align", source, "--out", str(out), "--train-ratio", "0"]
            words.append("--no-progress")
        else:
            words = [sys.executable, __file__, "--worker", method, source, str(out)]
            words += [] if paris is None else ["--paris", str(paris)]
        seconds = seconds_of(words)
        is_run = method == "multiea"
        table, costs = (out / "pairs.parquet", out / "metrics.json") if is_run else (out, out.with_name("costs.json"))
        peak_mb = json.loads(costs.read_text())["peak_rss_mb"]
        found = pl.read_parquet(table)
    if method != BEST_SPLINK:
        return Compared(name, method, *scores(found, gold), seconds, peak_mb)
    of_threshold = {
        threshold: scores(found.filter(pl.col("threshold") == threshold), gold) for threshold in peer_methods.THRESHOLDS
    }
    threshold, best = max(of_threshold.items(), key=lambda item: item[1][-1])
    return Compared(name, f"{method} ({threshold:g})", *best, seconds, peak_mb)


def seconds_of(words: Sequence[str]) -> float:
    """The seconds of a command; ends with its last words where it fails."""
    start = time.perf_counter()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout[-2000:]}")
    return time.perf_counter() - start


def work(method: str, source: str, out: str, paris: Path | None) -> None:
    """One method in this process: reads the data set and writes the pairs. Known groups are not handed on."""
    task = multiea.load(source, train_ratio=0.0)
    task = Task(task.kgs, Groups.empty(task.kg_names), name=task.name)
    if method in SPLINK:
        is_best = method == BEST_SPLINK
        pairs = peer_methods.splink(task, peer_methods.THRESHOLDS if is_best else [peer_methods.THRESHOLD])
    elif method == "equal names":
        pairs = peer_methods.equal_names(task)
    else:
        assert paris is not None
        with tempfile.TemporaryDirectory() as place:
            pairs = peer_methods.paris(task, paris, Path(place))
    pairs.write_parquet(out)
    # Not from outside: the system counts the peak of the parent into that of a child.
    of_java = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10 if method == "paris" else 0
    Path(out).with_name("costs.json").write_text(json.dumps({"peak_rss_mb": max(peak_rss_mb(), of_java)}))


def known_pairs(task: Task) -> pl.DataFrame:
    """All pairs of the known groups, in both directions."""
    table = task.held_out.to_table(task.kgs)
    parts = [pl.DataFrame(schema=peer_methods.PAIRS)]
    for a, b in combinations(task.kg_names, 2):
        for one, other in ((a, b), (b, a)):
            both = table.select(left_kg=pl.lit(one), left=pl.col(one), right_kg=pl.lit(other), right=pl.col(other))
            parts.append(both.drop_nulls())
    return pl.concat(parts)


def scores(pairs: pl.DataFrame, gold: pl.DataFrame) -> tuple[float, float, float]:
    """Precision among the judged pairs, recall, and F1."""
    columns = ["left_kg", "left", "right_kg", "right"]
    found = pairs.select(columns)
    turned = found.select(left_kg="right_kg", left="right", right_kg="left_kg", right="left")
    both = pl.concat([found, turned]).unique()
    right = len(both.join(gold, on=columns, how="semi"))
    known = gold.select("left_kg", "left", "right_kg").unique()
    is_known = both.join(known, on=known.columns, how="semi")
    turned_known = is_known.select(left_kg="right_kg", left="right", right_kg="left_kg", right="left")
    judged = len(pl.concat([is_known, turned_known]).unique())
    return right / max(judged, 1), right / max(len(gold), 1), 2 * right / max(judged + len(gold), 1)


if __name__ == "__main__":
    main()
