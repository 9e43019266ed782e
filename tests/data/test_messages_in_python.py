"""What is said about tables given in Python: one line, and nothing about files and dataset.toml."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import multiea
from multiea import InputError, MultiEAError
from support.command_line import invoke, refused
from support.datasets import write_files

CITIES = ["Oslo", "Bergen", "Paris", "Lyon"]
A = pl.DataFrame({"nr": ["q1", "q2", "q3", "q4"], "name": CITIES, "size": [1, 2, 3, 4], "rank": [4, 3, 2, 1]})
B = A.with_columns(nr="z" + pl.col("nr"))


@pytest.mark.parametrize("call", [multiea.align, multiea.load], ids=["align", "load"])
@pytest.mark.parametrize("tables", [[A, B], A, (A, B)], ids=["list", "table", "tuple"])
def test_tables_without_names_are_refused_in_one_line(call: Callable[[Any], object], tables: Any) -> None:
    with pytest.raises(MultiEAError) as error:
        call(tables)
    assert "\n" not in str(error.value)
    assert 'such as {"a": table, "b": table}' in str(error.value)


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        (A.with_columns(nr=pl.lit("q1")), "Rename the column of ids to id"),
        (A.with_columns(id=pl.col("nr"), key=pl.col("nr")), "Rename or drop 'key'"),
        (A.with_columns(id=pl.lit("q1")), "rename another column to id"),
        (A.with_columns(id=pl.lit(None, pl.String)), "rename another column to id"),
    ],
)
def test_hints_about_ids_speak_of_columns(table: pl.DataFrame, hint: str) -> None:
    with pytest.raises(InputError) as error:
        multiea.load({"a": table, "b": B})
    assert hint in str(error.value)
    assert "dataset.toml" not in str(error.value)


def test_the_warning_about_ids_speaks_of_columns(caplog: pytest.LogCaptureFixture) -> None:
    multiea.load({"a": A, "b": B})
    assert caplog.text.count("to use another, rename it to id") == 1
    assert "the first has the ids, because its values are unique: 'nr' of KG 'a', 'nr' of KG 'b'" in caplog.text
    assert "dataset.toml" not in caplog.text


def test_three_columns_that_are_taken_as_triples_are_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    three = A.select("nr", "size", "rank").with_columns(size=pl.lit(1))
    multiea.load({"a": three, "b": three})
    assert "KG 'a': the columns nr, size, rank are read as head, relation, tail" in caplog.text


@pytest.mark.parametrize("columns", [("s", "p", "o"), ("h", "r", "t"), ("column_1", "column_2", "column_3"), "012"])
def test_known_and_generated_columns_of_triples_need_no_warning(
    columns: Sequence[str], caplog: pytest.LogCaptureFixture
) -> None:
    triples = pl.DataFrame(dict(zip(columns, (["x", "y", "z"], ["in"] * 3, ["u"] * 3), strict=True)))
    assert len(multiea.load({"a": triples, "b": triples}).kgs[0].triples) == 3
    assert caplog.text == ""


def test_single_letters_are_columns_of_triples_only_where_there_are_no_others() -> None:
    games = A.rename({"size": "h", "rank": "r"}).with_columns(t=pl.col("h") + 1)
    assert len(multiea.load({"a": games, "b": B}).kgs[0].triples) == 0


@pytest.mark.parametrize("tables", [{"a": A}, {"a": A.select("name"), "b": B}, {"a": A.clear(), "b": B}, {}])
def test_hints_about_too_few_tables_columns_and_rows_do_not_speak_of_files(tables: dict[str, pl.DataFrame]) -> None:
    with pytest.raises(InputError) as error:
        multiea.align(tables)
    for word in ("file", "folder", ".tsv", "header", "field"):
        assert word not in str(error.value)


def test_the_hint_for_a_table_of_one_column_gives_it_ids() -> None:
    with pytest.raises(InputError) as error:
        multiea.load({"a": A.select("name"), "b": B})
    assert 'table.with_row_index("id")' in str(error.value)
    assert len(multiea.load({"a": A.select("name").with_row_index("id"), "b": B}).kgs[0].entities) == 4


def test_a_run_of_tables_in_memory_exports_from_python_and_afterwards_says_what_to_do(tmp_path: Path) -> None:
    alignment = multiea.align({"a": A, "b": B})
    alignment.save(tmp_path / "run")
    assert alignment.export("merged", tmp_path / "merged.nq").records > 0
    error = refused("export", tmp_path / "run", "--to", "merged", "--out", tmp_path / "again.nq")
    assert "made from tables or KGs in memory" in error
    assert 'alignment.export("merged", "merged.nq")' in error
    folder = write_files(tmp_path / "files", {"a.csv": A.write_csv(), "b.csv": B.write_csv()})
    outcome = invoke("export", tmp_path / "run", "--to", "merged", "--out", tmp_path / "again.nq", "--data", folder)
    assert outcome.code == 0, outcome.output


@pytest.mark.parametrize("as_table", [True, False], ids=["table", "list"])
def test_messages_about_seeds_speak_of_values_and_not_of_lines(as_table: bool) -> None:
    def refusal_of(*seeds: dict[str, str]) -> str:
        with pytest.raises(InputError) as error:
            multiea.load({"left": A, "right": B}, seeds=pl.DataFrame(seeds) if as_table else list(seeds))
        message = str(error.value)
        assert "line" not in message
        assert "--lenient" not in message
        return message

    unknown_kg = refusal_of({"left": "q1", "rigth": "zq1"})
    assert unknown_kg.startswith("the groups name 'rigth', which is not a KG; expected KG names from: left, right.")
    assert "Did you mean 'right'? Each group is given by KG names and ids, {'a': 'x', 'b': 'y'}" in unknown_kg
    unknown_id = refusal_of({"left": "q1", "right": "zq1"}, {"left": "nobody", "right": "zq2"})
    assert unknown_id.startswith("1 entity in the groups is not in the KG: 'nobody' (left, group 2); expected ids of")
    assert "drop them with lenient=True" in unknown_id
    twice = refusal_of({"left": "q1", "right": "zq1"}, {"left": "q1", "right": "zq2"})
    assert "is in two groups (groups 1 and 2; 1 such case)" in twice


def test_a_run_of_tables_is_opened_again_without_the_warnings_of_its_readers(tmp_path: Path) -> None:
    folder, run = write_files(tmp_path / "files", {"a.csv": A.write_csv(), "b.csv": B.write_csv()}), tmp_path / "run"
    said = "no column is named id; the first has the ids, because its values are unique: 'nr' of a.csv, 'nr' of b.csv;"
    assert invoke("align", folder, "--out", run).output.count(said) == 1
    assert "no column is named id" not in invoke("explain", run, "a/q1").output
    report = invoke("report", run).output
    assert "without the triples: the sources are tables, which have none" in report
    assert "no column is named id" not in report


def test_a_key_of_one_kg_at_the_top_of_dataset_toml_is_told_its_place(tmp_path: Path) -> None:
    toml = 'names = ["name"]\n[kgs.a]\nfile = "a.csv"\n[kgs.b]\nfile = "b.csv"\n'
    folder = write_files(tmp_path, {"a.csv": A.write_csv(), "b.csv": B.write_csv(), "dataset.toml": toml})
    assert "unknown key 'names' at the top; it belongs to one KG: names = ... below [kgs.NAME]" in refused(
        "inspect", folder
    )


def test_python_prints_the_warnings_that_the_command_line_prints(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"a.csv": A.write_csv(), "b.csv": B.write_csv()})
    script = f"import multiea\nmultiea.load({str(folder)!r})"
    again = f"import logging\nlogging.basicConfig()\n{script}"
    shown = invoke("inspect", folder).stderr
    assert shown.startswith("warning: no column is named id;")
    for text in (script, again):  # with and without a handler of the user
        outcome = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        assert outcome.stderr.count("no column is named id; the first has the ids") == 1
        assert outcome.stdout == ""
