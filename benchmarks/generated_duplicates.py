"""Whether `--duplicates auto` chooses the right sources, and how good the duplicates are: generated tables of records.

Three sources describe a part of the same things, with typos and missing values. The first source repeats some rows:
words in another order, typos, missing values. `people` have common names, `parts` are numbered (unit 3, unit 4),
`products` have codes and prices, and `names` have nothing but a name. One line per kind, share of repeated rows and
share of seeds, over three data sets, whose sources have 30%, 60% or 90% of the things: how often auto chose the first
source, how often one of the others, which repeat nothing, and the mean scores, as in `benchmarks/duplicates.py`, with
--duplicates naming the first source; across: the F1 of pairs without and with duplicates.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import polars as pl

from duplicates import TRUTH, scores
from measure import print_table

SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "sab", "vor", "el", "dun", "pix", "gra", "ost", "ha", "ny", "bel", "quo")
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
SOURCES, OVERLAP, TYPOS, MISSING = "abc", (0.3, 0.6, 0.9), 0.2, 0.15
Thing = dict[str, str | float | None]
HEADER = ("kind", "repeated", "seeds", "auto: first", "others", "inside P", "R", "across F1 without", "with")

FEWEST_THINGS = 20


def main() -> None:
    """Makes the tables, aligns them and prints the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.02, 0.05, 0.1, 0.3])
    parser.add_argument("--train-ratio", type=float, nargs="+", default=[0.0, 0.3])
    parser.add_argument("--things", type=int, default=1000, help="of which a source has 30%%, 60%% or 90%%")
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.things < FEWEST_THINGS:
        parser.error(f"--things must be at least {FEWEST_THINGS}, so that every source has some; got {options.things}")
    for name in ("shares", "train_ratio"):
        if not all(0 <= share < 1 for share in getattr(options, name)):
            parser.error(f"--{name.replace('_', '-')} must be at least 0 and below 1, got {getattr(options, name)}")
    rows = []
    for kind in options.kinds:
        for share in options.shares:
            with tempfile.TemporaryDirectory() as place:
                tables = [Path(place) / str(overlap) for overlap in OVERLAP]
                for table, overlap in zip(tables, OVERLAP, strict=True):
                    write_tables(table, kind, options.things, share, overlap, options.random_state)
                for ratio in options.train_ratio:
                    rows.append((kind, f"{share:.0%}", f"{ratio:.0%}", *line(tables, share, ratio)))
    if options.json:
        print(json.dumps([dict(zip(HEADER, row, strict=True)) for row in rows], indent=2))
    else:
        print_table(HEADER, rows)


def line(tables: list[Path], share: float, train_ratio: float) -> tuple[str, ...]:
    """What auto chose in some data sets, and the mean scores where rows are repeated."""
    first = others = 0
    means = []
    for folder in tables:
        chosen = scores(folder, ["auto"], train_ratio, 0)[0]
        first, others = first + ("a" in chosen), others + len(set(chosen) - {"a"})
        if share:
            without, named = (scores(folder, wanted, train_ratio, 0)[2:] for wanted in ([], ["a"]))
            means.append((*named[:2], _f1(*without[2:]), _f1(*named[2:])))
    values = [f"{value:.2f}" for value in np.mean(means, axis=0)] if means else ["-"] * 4
    return (f"{first} of {len(tables)}", f"{others} of {(len(SOURCES) - 1) * len(tables)}", *values)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / max(precision + recall, 1e-9)


def write_tables(folder: Path, kind: str, count: int, share: float, overlap: float, random_state: int) -> None:
    """Writes a data set whose first source repeats some rows, and the record that each row is beside it."""
    folder.mkdir()
    rng = np.random.default_rng([random_state, int(share * 100), int(overlap * 100), *kind.encode()])
    things, truth, known = list(KINDS[kind](rng, count)), [], {}
    for source in SOURCES:
        own = np.flatnonzero(rng.random(count) < overlap)
        rows = [with_noise(things[number], rng, TYPOS) for number in own]
        ids = [f"{source}{at}" for at in range(len(rows))]
        records = list(ids)
        known[source] = dict(zip(own.tolist(), ids, strict=True))
        for at in np.flatnonzero(rng.random(len(rows)) < share * (source == SOURCES[0])):
            rows.append(with_noise({**rows[at], "name": _reordered(str(rows[at]["name"]), rng)}, rng, 0.5))
            ids.append(f"{source}{len(ids)}")
            records.append(ids[at])
        order = rng.permutation(len(rows))
        table = pl.DataFrame([{"id": ids[at], **rows[at]} for at in order], infer_schema_length=None)
        table.write_csv(folder / f"{source}.csv")
        truth.append(pl.DataFrame({"kg": source, "entity": ids, "record": records}))
    groups = pl.DataFrame({source: [known[source].get(number) for number in range(count)] for source in SOURCES})
    several = pl.sum_horizontal(pl.all().is_not_null().cast(pl.Int32)) > 1
    groups.filter(several).write_csv(folder / "groups.tsv", separator="\t")
    pl.concat(truth).write_parquet(folder.with_name(f"{folder.name}{TRUTH}"))


def with_noise(thing: Thing, rng: np.random.Generator, typos: float) -> Thing:
    """The same thing as another row would describe it."""
    result = dict(thing)
    for key, value in thing.items():
        if key != "name" and rng.random() < MISSING:
            result[key] = None
        elif isinstance(value, str) and rng.random() < typos:
            at = int(rng.integers(len(value)))
            result[key] = value[:at] + str(rng.choice(LETTERS)) + value[at + int(rng.integers(2)) :]
    return result


def _reordered(name: str, rng: np.random.Generator) -> str:
    return " ".join(rng.permutation(name.split())) if rng.random() < 0.3 else name


def _words(rng: np.random.Generator, count: int) -> list[str]:
    return ["".join(rng.choice(SYLLABLES, rng.integers(2, 4))) for _ in range(count)]


def _names(rng: np.random.Generator, count: int) -> Iterable[Thing]:
    given, surnames = _words(rng, 150), _words(rng, 900)
    return [{"name": f"{rng.choice(given)} {rng.choice(surnames)}"} for _ in range(count)]


def _people(rng: np.random.Generator, count: int) -> Iterable[Thing]:
    cities = _words(rng, 60)
    for one in _names(rng, count):
        phone = str(rng.integers(10**7, 10**8))
        yield {**one, "city": str(rng.choice(cities)), "born": float(rng.integers(1930, 2005)), "phone": phone}


def _parts(rng: np.random.Generator, count: int) -> Iterable[Thing]:
    machines = _words(rng, count // 8 + 1)
    for number in range(count):
        name = f"{machines[number // 8]} {rng.choice(['segment', 'part', 'unit'])} {number % 8 + 1}"
        yield {"name": name, "weight": round(float(rng.lognormal(3, 1)), 2)}


def _products(rng: np.random.Generator, count: int) -> Iterable[Thing]:
    brands, models, words = _words(rng, 40), _words(rng, 300), _words(rng, 40)
    for _ in range(count):
        name = f"{rng.choice(brands)} {rng.choice(models)} {rng.choice(words)} {rng.integers(100, 999)}"
        code, text = "".join(rng.choice(LETTERS, 7)), " ".join(rng.choice(words, 5))
        yield {"name": name, "code": code, "description": text, "price": round(float(rng.lognormal(4, 1)), 2)}


KINDS: dict[str, Callable[[np.random.Generator, int], Iterable[Thing]]] = {
    "people": _people,
    "names": _names,
    "parts": _parts,
    "products": _products,
}


if __name__ == "__main__":
    main()
