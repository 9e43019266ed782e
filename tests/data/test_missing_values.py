"""Texts such as N/A that mean that a cell of a record is empty."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import multiea
from multiea.data.inspection import inspect
from multiea.data.readers.missing import MISSING
from support.bad_input import refusal
from support.datasets import display_names, literals, write_files
from support.reading import kg_of, load_with
from support.records import excel

HEADER = ["id", "name", "email", "born"]
ROWS = [
    ["p1", "Anna Berg", "anna@x.org", "1950"],
    ["p2", "Bea Holt", "N/A", "NULL"],
    ["p3", "N/A", "N/A", " - "],
    ["p4", "Null", "NA", "none"],
]
VALUES = {
    ("p1", "name"),
    ("p1", "email"),
    ("p1", "born"),
    ("p2", "name"),
    ("p4", "name"),
    ("p4", "email"),
    ("p4", "born"),
}
OTHER = "id,name\nx1,Anna Berg\nx2,Bea Holt\n"


def text_of(separator: str) -> str:
    return "".join(separator.join(row) + "\n" for row in [HEADER, *ROWS])


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", text_of(",")), ("a.tsv", text_of("\t")), ("a.xlsx", excel(("s", [HEADER, *ROWS])))],
)
def test_markers_of_missing_values_are_no_values(
    tmp_path: Path, name: str, content: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    kg = kg_of(tmp_path, {name: content})
    assert {(entity, column) for entity, column, _, _ in literals(kg)} == VALUES
    assert display_names(kg)["p4"] == "Null"
    assert (
        f"{name}: counted as empty: 2 cells of 'born' (-, NULL), 2 cells of 'email' (N/A), 1 cell of 'name' (N/A); "
        in (caplog.text)
    )
    assert "missing = [] in dataset.toml keeps them as values" in caplog.text


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_tables_in_python_are_read_alike(frame: type, caplog: pytest.LogCaptureFixture) -> None:
    table = frame({name: [row[at] for row in ROWS] for at, name in enumerate(HEADER)})
    kg = multiea.load({"a": table, "b": pl.read_csv(OTHER.encode())}).kgs[0]
    assert {(entity, column) for entity, column, _, _ in literals(kg)} == VALUES
    assert "KG 'a': counted as empty: 2 cells of 'born'" in caplog.text
    assert "dataset.toml" not in caplog.text


def test_every_marker_counts_only_as_a_whole_cell_and_not_as_an_id(tmp_path: Path) -> None:
    rows = [f"{marker}\t{marker}\t{marker} x\tName {number}\n" for number, marker in enumerate(MISSING)]
    kg = kg_of(tmp_path, {"a.tsv": "id\tnote\tremark\tname\n" + "".join(rows)})
    assert set(kg.entities) == set(MISSING)
    columns = [column for _, column, _, _ in literals(kg)]
    assert (columns.count("note"), columns.count("remark")) == (0, len(MISSING))


@pytest.mark.parametrize(
    ("missing", "kept"), [("[]", {"-", "N/A", "?"}), ('["?"]', {"-", "N/A"}), ('"-"', {"N/A", "?"})]
)
def test_dataset_toml_names_the_markers(
    tmp_path: Path, missing: str, kept: set[str], caplog: pytest.LogCaptureFixture
) -> None:
    table = "id,name,note\np1,Anna,N/A\np2,Bea,-\np3,Carl,?\n"
    toml = f'[kgs.a]\nfile = "a.csv"\nmissing = {missing}\n[kgs.b]\nfile = "b.csv"\n'
    task = load_with(tmp_path, {"a.csv": table, "b.csv": OTHER, "dataset.toml": toml})
    assert {value for _, column, value, _ in literals(task.kgs[0]) if column == "note"} == kept
    assert "counted as empty" not in caplog.text


def test_inspect_says_how_many_cells_count_as_empty(tmp_path: Path) -> None:
    task = load_with(tmp_path, {"a.csv": text_of(","), "b.csv": OTHER})
    assert any("2 cells of 'email' (N/A)" in warning for warning in inspect(task).warnings)


def test_missing_of_another_form_is_refused(tmp_path: Path) -> None:
    toml = '[kgs.a]\nfile = "a.csv"\nmissing = 3\n[kgs.b]\nfile = "b.csv"\n'
    message = refusal(tmp_path, {"a.csv": text_of(","), "b.csv": OTHER, "dataset.toml": toml})
    assert "kgs.a.missing: 3; expected a list of texts that mean that a cell is empty" in message


def test_a_marker_is_no_dangling_reference(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = "".join(f"p{number},Name {number},{'N/A' if number < 3 else 'p1'}\n" for number in range(1, 9))
    kg = kg_of(write_files(tmp_path, {}), {"a.csv": f"id,name,boss\n{rows}"})
    assert len(kg.triples) == 6
    assert "left out" not in caplog.text
