"""Three columns without known names are triples or records, by their values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import multiea
from support.bad_input import assert_says, refusal
from support.datasets import facts, literals, parquet
from support.reading import kg_of
from support.records import excel

HEADER = ("Titel", "Autor", "Jahr")
BOOKS = [
    ("Faust", "Goethe", "1808"),
    ("Emilia Galotti", "Lessing", "1772"),
    ("Egmont", "Goethe", "1788"),
    ("Woyzeck", "Büchner", "1879"),
    ("Nathan", "Lessing", "1779"),
    ("Die Räuber", "Schiller", "1781"),
]
OTHER = "id,name\nx1,Faust\nx2,Woyzeck\n"


def lines(rows: Sequence[tuple[str, ...]], separator: str = ";") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", lines([HEADER, *BOOKS])),
        ("a.tsv", lines([HEADER, *BOOKS], "\t")),
        ("a.parquet", parquet(pl.DataFrame(BOOKS, schema=list(HEADER), orient="row"))),
        ("a.xlsx", excel(("s", [HEADER, *BOOKS]))),
    ],
)
def test_values_that_relations_never_have_make_records(
    tmp_path: Path, name: str, content: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    kg = kg_of(tmp_path, {name: content})
    assert set(kg.entities) == {title for title, _, _ in BOOKS}
    assert ("Faust", "Autor", "Goethe") in {fact[:3] for fact in literals(kg)}
    assert_says(caplog.text, f"{name}: the columns Titel, Autor, Jahr are read as records", "head, relation, tail")


def test_a_table_in_python_is_read_alike() -> None:
    table = pl.DataFrame(BOOKS, schema=list(HEADER), orient="row")
    kg = multiea.load({"a": table, "b": pl.read_csv(OTHER.encode())}).kgs[0]
    assert set(kg.entities) == {title for title, _, _ in BOOKS}


@pytest.mark.parametrize(
    "rows",
    [
        [("Faust", "wrote", "Goethe"), *[(title, "wrote", author) for title, author, _ in BOOKS[1:]]],
        [*BOOKS, ("Faust", "Marlowe", "1604")],  # a head twice
        [*BOOKS, ("Urfaust", "Wagner", "Faust")],  # a head is a tail
        BOOKS[:3],  # too few to tell
        BOOKS,  # without a header nearly all must differ
    ],
    ids=["relations repeat", "heads repeat", "a head is a tail", "few", "no header"],
)
def test_other_values_are_triples(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    kg = kg_of(tmp_path, {"a.tsv": lines(rows, "\t")})
    assert facts(kg) == set(rows)


@pytest.mark.parametrize("first", [(), ("1", "Anna Berg", "1950")])
def test_records_without_a_header_are_refused(tmp_path: Path, first: tuple[str, ...]) -> None:
    rows = [*([first] if first else []), *[(title, f"{author} {year}", year) for title, author, year in BOOKS]]
    message = refusal(tmp_path, {"a.csv": lines(rows), "b.csv": OTHER})
    assert_says(message, str(tmp_path / "a.csv"), "line 1: records without a header", "one of them id")


def test_a_first_line_with_a_number_is_not_called_a_header(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kg_of(tmp_path, {"a.csv": "1,called,1950\n2,knows,3\n4,knows,5\n6,knows,7\n"})
    assert "looks like a header" not in caplog.text


def test_three_columns_with_a_header_that_names_two_alike_are_refused_as_four_are(tmp_path: Path) -> None:
    for more in ("", ",x"):
        rows = "".join(f"p{number},Name {number},{number}{more}\n" for number in range(5))
        message = refusal(tmp_path, {"a.csv": f"id,name,name{more}\n{rows}", "b.csv": OTHER})
        assert_says(message, "a.csv, line 1: two columns are named 'name'", "a different name for each column")
