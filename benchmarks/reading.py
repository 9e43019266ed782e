"""Speed and peak memory of reading each format, with the same triples and realistic IRIs.

The time is also given relative to a plain pass over the lines, and to parsing alone with pyoxigraph.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, cast

import polars as pl
from pyoxigraph import RdfFormat, parse

from measure import MEGABYTE, best_of, print_table
from multiea.data.readers import RDF_FORMATS, read_kg, stem_and_format
from multiea.data.synthetic import Synthesis, write_synthetic

TRIPLES_PER_ENTITY = 5
MAX_SECONDS_PER_MILLION = {"kg.nt": 5.0, "kg.tsv": 2.0}
ENTITY_BASE, RELATION_BASE = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/"
FIRST = ["Saint_", "New_", "Lake_", "Château_de_", "University_of_", "Mount_", "The_", "FC_", "Battle_of_", "List_of_"]
SECOND = ["Springfield", "Alexandria", "Orléans", "Kraków", "Victoria", "Kingston", "San_José", "Newport", "Dunedin"]
LAST = ["", ",_Illinois", "_railway_station", "_(film)", "", "_County", "_Airport"]
RELATIONS = ["birthPlace", "team", "starring", "isPartOf", "genre", "country", "occupation", "successor", "location"]


@dataclass(frozen=True)
class Reading:
    """One row of the table. A ratio is None if the format has no such pass."""

    file: str
    file_mb: float
    seconds: float
    triples_per_second: float
    of_plain_pass: float | None
    of_bare_parse: float | None
    peak_mb: float
    arrays_mb: float
    memory_within_bound: bool
    seconds_within_bound: bool | None


def main() -> None:
    """Writes the files, reads each one, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3, help="runs per file, of which the fastest counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(options.triples, Path(folder))
        readings = [reading(path, options.triples, options.repeats) for path in files]
    if options.json:
        print(json.dumps([asdict(line) for line in readings], indent=2))
        return
    header = (
        "file",
        "MB",
        "seconds",
        "triples/s",
        "x plain",
        "x parse",
        "peak MB",
        "arrays MB",
        "peak ok",
        "seconds ok",
    )
    print_table(header, [cells(line) for line in readings])


def reading(path: Path, triples: int, repeats: int) -> Reading:
    """Measures reading one file, and the passes to compare with."""
    read = best_of(repeats, read_file, path)
    plain = None if path.suffix == ".parquet" else best_of(repeats, pass_over_lines, path)
    bare = best_of(repeats, parse_only, path) if rdf_format(path) else None
    count, arrays_mb = read.result
    allowed = MAX_SECONDS_PER_MILLION.get(path.name)
    return Reading(
        file=path.name,
        file_mb=path.stat().st_size / MEGABYTE,
        seconds=read.seconds,
        triples_per_second=count / read.seconds,
        of_plain_pass=None if plain is None else read.seconds / plain.seconds,
        of_bare_parse=None if bare is None else read.seconds / bare.seconds,
        peak_mb=read.peak_mb,
        arrays_mb=arrays_mb,
        memory_within_bound=read.peak_mb <= 4 * arrays_mb + 200,
        seconds_within_bound=None if allowed is None else read.seconds <= allowed * triples / 1e6,
    )


def cells(line: Reading) -> tuple[str, ...]:
    """The cells of one row of the table."""

    def ratio(value: float | None) -> str:
        return "-" if value is None else f"{value:.1f}"

    def verdict(value: bool | None) -> str:
        return "-" if value is None else "yes" if value else "NO"

    return (
        line.file,
        f"{line.file_mb:.0f}",
        f"{line.seconds:.2f}",
        f"{line.triples_per_second:,.0f}",
        ratio(line.of_plain_pass),
        ratio(line.of_bare_parse),
        f"{line.peak_mb:.0f}",
        f"{line.arrays_mb:.0f}",
        verdict(line.memory_within_bound),
        verdict(line.seconds_within_bound),
    )


def read_file(path: Path) -> tuple[int, float]:
    """Reads a KG as a user would. Returns the number of triples and the megabytes of its arrays."""
    kg = read_kg("kg", [path])
    names = kg.entities.estimated_size() + kg.relations.estimated_size()
    return len(kg.triples), (kg.triples.nbytes + names) / MEGABYTE


def pass_over_lines(path: Path) -> None:
    """The minimal work of any text reader in Python."""
    with io.TextIOWrapper(opened(path), encoding="utf-8") as lines:
        for _ in lines:
            pass


def parse_only(path: Path) -> None:
    """The minimal work of any reader based on pyoxigraph."""
    with opened(path) as stream:
        for _ in parse(stream, format=rdf_format(path)):
            pass


def opened(path: Path) -> IO[bytes]:
    """The decompressed bytes of a file."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def rdf_format(path: Path) -> RdfFormat | None:
    """The pyoxigraph format of a file name; None if it is not RDF."""
    known = stem_and_format(path)
    return None if known is None else RDF_FORMATS.get(known[1])


def write_files(triples: int, folder: Path) -> list[Path]:
    """Writes the same triples in each format. Some names are not ASCII or contain a comma, as in DBpedia."""
    write_synthetic(Synthesis(kgs=2, entities=triples // TRIPLES_PER_ENTITY, noise=0.0), folder)
    schema = dict.fromkeys(("head", "relation", "tail"), pl.String)
    table = pl.read_csv(folder / "kg1.tsv", separator="\t", has_header=False, schema=schema)
    table = table.select(pl.all().str.extract(r"(\d+)$").cast(pl.Int64))
    named = table.select(head=entity_name("head"), relation=relation_name("relation"), tail=entity_name("tail"))
    iri = {column: pl.lit(base) + pl.col(column) for column, base in bases().items()}
    full = named.select(**iri)
    files = [folder / name for name in ("kg.nt", "kg.tsv", "kg.csv", "kg.parquet", "kg.ttl")]
    nt, tsv, csv, parquet, ttl = files
    write_lines(full.select(pl.format("<{}> <{}> <{}> .", "head", "relation", "tail")), nt)
    full.write_csv(tsv, separator="\t", include_header=False, quote_style="never")
    full.write_csv(csv)
    full.write_parquet(parquet)
    write_turtle(named, ttl)
    return [*files, packed(nt), packed(tsv)]


def bases() -> dict[str, str]:
    """The base IRI of each column."""
    return {"head": ENTITY_BASE, "relation": RELATION_BASE, "tail": ENTITY_BASE}


def entity_name(column: str) -> pl.Expr:
    """A name made of words chosen by the number of an entity, and the number, which makes it unique."""
    number = pl.col(column)
    words = [word(number // divisor, of) for divisor, of in ((1, FIRST), (10, SECOND), (90, LAST))]
    return pl.concat_str(*words, pl.lit("_"), number)


def relation_name(column: str) -> pl.Expr:
    """A name made of a word chosen by the number of a relation, and the number."""
    return pl.concat_str(word(pl.col(column), RELATIONS), pl.col(column))


def word(number: pl.Expr, words: list[str]) -> pl.Expr:
    """One of the words for each number."""
    return (number % len(words)).replace_strict(list(range(len(words))), words, return_dtype=pl.String)


def write_turtle(named: pl.DataFrame, path: Path) -> None:
    """Writes Turtle as serializers do: prefixed names where allowed, and the triples of a head together."""
    short = {
        column: pl.when(pl.col(column).str.contains(r"[,()]"))
        .then(pl.format(f"<{base}{{}}>", column))
        .otherwise(pl.format(f"{'dbo' if column == 'relation' else 'dbr'}:{{}}", column))
        for column, base in bases().items()
    }
    facts = named.select(**short).group_by("head").agg(fact=pl.format("{} {}", "relation", "tail").str.join(" ;\n    "))
    prefixes = pl.DataFrame({"line": [f"@prefix dbr: <{ENTITY_BASE}> .", f"@prefix dbo: <{RELATION_BASE}> ."]})
    write_lines(pl.concat([prefixes, facts.select(line=pl.format("{} {} .", "head", "fact"))]), path)


def write_lines(lines: pl.DataFrame, path: Path) -> None:
    """Writes a table of one column as lines of text."""
    lines.write_csv(path, include_header=False, quote_style="never", separator="\t")


def packed(path: Path) -> Path:
    """A gzipped copy of the file, next to it."""
    out = path.with_name(path.name + ".gz")
    with path.open("rb") as source, gzip.open(out, "wb", compresslevel=6) as target:
        shutil.copyfileobj(source, target)
    return out


if __name__ == "__main__":
    main()
