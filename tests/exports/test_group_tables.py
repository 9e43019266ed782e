"""Tables of groups are read back with the same content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from multiea import Alignment, KnowledgeGraph, OutputError
from support.handmade import alignment_of, positions

READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "tsv": lambda path: pl.read_csv(path, separator="\t"),
    "csv": pl.read_csv,
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
}


@pytest.mark.parametrize("ending", READERS)
def test_groups_are_read_back_from_tables(aligned: Alignment, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"groups.{ending}"
    written = aligned.to_groups(path)
    table = READERS[ending](path)
    assert table.columns == ["group_id", "kg", "entity", "name", "confidence", "status"]
    assert written.records == len(table) == len(aligned.groups)
    assert table.cast(aligned.groups.schema).equals(aligned.groups)


def test_a_name_with_a_tab_is_refused_in_tsv_and_written_elsewhere(tmp_path: Path) -> None:
    one = KnowledgeGraph.from_triples("one", [("a\tb", "r", 'say "x"'), ("a\tb", "r", "c")])
    two = KnowledgeGraph.from_triples("two", [("a", "r", 'say "x"')])
    alignment = alignment_of(
        [one, two],
        [[*positions(one, "a\tb"), *positions(two, "a")]],
        [[*positions(one, 'say "x"'), *positions(two, 'say "x"')]],
    )
    with pytest.raises(
        OutputError,
        match=r"TSV cannot contain tabs or line breaks, but column entity has them in 1 value, such as 'a\\tb'",
    ):
        alignment.to_groups(tmp_path / "g.tsv")
    assert not list(tmp_path.iterdir())
    alignment.to_groups(tmp_path / "g.csv")
    assert pl.read_csv(tmp_path / "g.csv")["entity"].to_list() == alignment.groups["entity"].to_list()
