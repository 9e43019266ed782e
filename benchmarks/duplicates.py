"""How well `--duplicates` finds repeated entities: tables of records of which some rows are repeated with typos.

The sources named with --repeat get copies of some of their rows: one letter of each text is changed, numbers
are moved a little and some are missing. Pairs inside a source are right if both rows are the same record; pairs across
sources if their records are in one known group. The table has one line per way to align: without copies and with them,
with no seeds and with some, with the sources named and with `auto`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

import multiea
from measure import measure, print_table
from multiea.data.archives import unpacked_data_set

RECORDS = Path(__file__).parents[2] / "shared" / "data" / "records.tar.xz"
TRUTH = "-records.parquet"
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))
LOST_NUMBERS, NUMBER_NOISE = 0.2, 0.01


@dataclass(frozen=True)
class Repeated:
    """One row of the table; inside: pairs of one source; across: pairs of two sources, duplicates included."""

    copies: int
    train_ratio: float
    duplicates: str
    chosen: tuple[str, ...]
    found: int
    inside_precision: float
    inside_recall: float
    across_precision: float
    across_recall: float
    seconds: float


def main() -> None:
    """Makes the tables, aligns them and prints the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, default=RECORDS, help="an archive or folder with the data set")
    parser.add_argument("--data-set", default="settlements", help="a folder in it: one CSV per source, groups.tsv")
    parser.add_argument("--repeat", nargs="+", default=["geonames", "nytimes"], help="sources whose rows are repeated")
    parser.add_argument("--share", type=float, default=0.2, help="of the rows that are repeated")
    parser.add_argument("--train-ratio", type=float, nargs="+", default=[0.0, 0.3])
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.records.exists():
        sys.exit(f"{options.records} is not there; name an archive or folder of records with --records")
    lines = []
    with data_folder(options.records) as folder, tempfile.TemporaryDirectory() as place:
        for share in (0.0, options.share):
            copied = Path(place) / str(share)
            copies = repeat_rows(folder / options.data_set, copied, options.repeat, share, options.random_state)
            for train_ratio in options.train_ratio:
                for wanted in ([], options.repeat, ["auto"]):
                    run = measure(scores, copied, wanted, train_ratio, options.random_state)
                    lines.append(Repeated(copies, train_ratio, " ".join(wanted) or "-", *run.result, run.seconds))
                    if not options.json:
                        print(lines[-1], file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps([asdict(line) for line in lines], indent=2))
        return
    header = ("copies", "seeds", "--duplicates", "chosen", "found", "inside P", "R", "across P", "R", "seconds")
    rows = [
        (
            f"{line.copies:,}",
            f"{line.train_ratio:.0%}",
            line.duplicates,
            " ".join(line.chosen) or "-",
            f"{line.found:,}",
            *(f"{value:.3f}" for value in (line.inside_precision, line.inside_recall)),
            *(f"{value:.3f}" for value in (line.across_precision, line.across_recall)),
            f"{line.seconds:.1f}",
        )
        for line in lines
    ]
    print_table(header, rows)


@contextmanager
def data_folder(place: Path) -> Iterator[Path]:
    """A folder of data sets, unpacked where it is an archive."""
    if place.is_dir():
        yield place
        return
    with unpacked_data_set(place) as folder:
        yield folder


def repeat_rows(source: Path, target: Path, repeated: Sequence[str], share: float, random_state: int) -> int:
    """Writes a data set with copies of some rows; a table beside it says which record each row is."""
    target.mkdir()
    rng = np.random.default_rng(random_state)
    truth, copies = [], 0
    for file in sorted(source.glob("*.csv")):
        table = pl.read_csv(file, infer_schema_length=None, schema_overrides={"id": pl.String})
        rows = table.with_columns(record=pl.col("id"))
        if file.stem in repeated:
            chosen = rows[np.flatnonzero(rng.random(len(rows)) < share)]
            copies += len(chosen)
            rows = pl.concat([rows, _with_typos(chosen, rng)])
        rows = rows[rng.permutation(len(rows))]
        rows.drop("record").write_csv(target / file.name)
        truth.append(rows.select(pl.lit(file.stem).alias("kg"), entity="id", record="record"))
    (target / "groups.tsv").write_bytes((source / "groups.tsv").read_bytes())
    pl.concat(truth).write_parquet(target.with_name(f"{target.name}{TRUTH}"))
    return copies


def _with_typos(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Copies with other ids and small differences."""
    count = len(rows)
    ids = pl.Series(rng.permutation(count)).cast(pl.String)
    columns = [("copy-" + ids).alias("id")]
    for name, dtype in rows.drop("id", "record").schema.items():
        column = rows[name]
        if dtype.is_numeric():
            noisy = column.cast(pl.Float64) + pl.Series(rng.normal(0, NUMBER_NOISE, count))
            columns.append(noisy.set(pl.Series(rng.random(count) < LOST_NUMBERS), None).cast(dtype).alias(name))
        elif dtype == pl.String:
            columns.append(_with_typo(column, rng))
    return rows.with_columns(columns)


def _with_typo(texts: pl.Series, rng: np.random.Generator) -> pl.Series:
    """The texts with one letter changed."""
    place = (pl.Series(rng.random(len(texts))) * texts.str.len_chars()).cast(pl.Int64)
    parts = pl.DataFrame({"text": texts, "place": place, "letter": rng.choice(LETTERS, len(texts))})
    before, after = pl.col("text").str.slice(0, pl.col("place")), pl.col("text").str.slice(pl.col("place") + 1)
    return parts.select((before + pl.col("letter") + after).alias(texts.name)).to_series()


def scores(
    folder: Path, wanted: Sequence[str], train_ratio: float, random_state: int
) -> tuple[tuple[str, ...], int, float, float, float, float]:
    """Aligns a folder and compares the pairs of the found groups with the right ones; members of seeds do not count."""
    records = pl.read_parquet(folder.with_name(f"{folder.name}{TRUTH}"))
    task = multiea.load(folder, train_ratio=train_ratio, random_state=random_state)
    alignment = multiea.align(task, duplicates=list(wanted), random_state=random_state)
    known = pl.read_csv(folder / "groups.tsv", separator="\t", infer_schema=False).with_row_index("known")
    known = known.unpivot(index="known", variable_name="kg", value_name="record").drop_nulls()
    known = records.join(known, on=["kg", "record"], how="left")
    seeds = alignment.groups.filter(pl.col("status") == "seed").select("kg", "entity")
    of_seeds = known.join(seeds, on=["kg", "entity"], how="semi").select("kg", "record").unique()
    judged = known.join(of_seeds, on=["kg", "record"], how="anti")
    found = alignment.groups.filter(pl.col("status") != "seed").join(judged, on=["kg", "entity"], how="inner")
    in_groups = judged.filter(pl.col("known").is_not_null())
    of_groups = _pairs(found.filter(pl.col("known").is_not_null()), "group_id"), _pairs(in_groups, "known")
    copied = judged.with_columns(record=pl.col("kg") + " " + pl.col("record"))
    across, inside = (
        [pairs.filter((pl.col("kg") == pl.col("kg_right")) == is_inside) for pairs in of_both]
        for is_inside, of_both in ((False, of_groups), (True, (_pairs(found, "group_id"), _pairs(copied, "record"))))
    )
    return (
        tuple(alignment.history.get("duplicates", wanted)),
        len(alignment.duplicates),
        *_precision_and_recall(*inside),
        *_precision_and_recall(*across),
    )


def _pairs(members: pl.DataFrame, group: str) -> pl.DataFrame:
    ends = members.select(group, "kg", "entity")
    both = ends.join(ends, on=group).filter(
        (pl.col("kg") < pl.col("kg_right"))
        | ((pl.col("kg") == pl.col("kg_right")) & (pl.col("entity") < pl.col("entity_right")))
    )
    return both.select("kg", "entity", "kg_right", "entity_right")


def _precision_and_recall(found: pl.DataFrame, right: pl.DataFrame) -> tuple[float, float]:
    both = len(found.join(right, on=found.columns, how="semi"))
    return both / max(len(found), 1), both / max(len(right), 1)


if __name__ == "__main__":
    main()
