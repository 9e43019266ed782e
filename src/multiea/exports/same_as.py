"""owl:sameAs triples: from the member that stands for a group to the others, or between all members."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

if TYPE_CHECKING:
    from multiea.exports.canonical import Canonical

SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
ROWS = 1 << 17


def write_same_as(names: Canonical, path: Path, *, closure: bool = False) -> int:
    """Writes N-Triples; returns how many. closure: all pairs of members, each once, instead of a star."""
    links = _all_pairs(names) if closure else _star(names)
    with path.open("wb") as file:
        for start in range(0, len(links), ROWS):
            some = links.slice(start, ROWS)
            write_lines(file, some.select(pl.format(f"<{{}}> <{SAME_AS}> <{{}}> .", "left", "right")).to_series())
    return len(links)


def write_lines(file: BinaryIO, lines: pl.Series) -> None:
    """Lines of text that hold no line breaks of their own."""
    if len(lines):
        lines.to_frame("line").write_csv(file, include_header=False, quote_style="never")


def _star(names: Canonical) -> pl.DataFrame:
    table = pl.DataFrame({"left": names.merged, "right": names.iris, "group": names.group})
    return table.filter(pl.col("group").is_not_null() & (pl.col("left") != pl.col("right"))).sort("left", "right")


def _all_pairs(names: Canonical) -> pl.DataFrame:
    inside = pl.DataFrame({"iri": names.iris, "group": names.group}).with_row_index("at").drop_nulls("group")
    both = inside.join(inside, on="group", suffix="_other").filter(pl.col("at") < pl.col("at_other"))
    both = both.filter(pl.col("iri") != pl.col("iri_other"))
    return both.select(left="iri", right="iri_other").sort("left", "right")
