"""Lines and headers that do not divide into columns: the errors name the separator in use and the one to set."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from support.bad_input import assert_says, refusal
from support.command_line import refused
from support.datasets import write_files
from support.records import excel

OTHER = "id,name\nx1,Faust\nx2,Woyzeck\n"
PIPES = "id|name|born\n1|Anna|1950\n2|Bea|1951\n"


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [("a.csv", PIPES, "|"), ("a.tsv", PIPES, "|"), ("a.tsv", PIPES.replace("|", ";"), ";"), ("a.csv", "id\n1\n", "|")],
)
def test_a_line_without_a_separator_is_told_about_delimiter(
    tmp_path: Path, name: str, content: str, shown: str
) -> None:
    message = refusal(tmp_path, {name: content, "b.csv": OTHER})
    assert_says(
        message, f"{name}, line 1: 1 field", "by commas, semicolons or tabs in .csv files", f'delimiter = "{shown}"'
    )


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (PIPES.replace("|", ","), """the line has ',': set delimiter = \",\""""),
        (PIPES.replace("|", "\t"), 'set delimiter = "\\t"'),
        ("id\n1\n", "remove delimiter"),
    ],
)
def test_a_delimiter_that_is_not_in_the_line_is_named(tmp_path: Path, content: str, advice: str) -> None:
    toml = '[kgs.a]\nfile = "a.csv"\ndelimiter = "|"\n[kgs.b]\nfile = "b.csv"\n'
    message = refusal(tmp_path, {"a.csv": content, "b.csv": OTHER, "dataset.toml": toml})
    assert_says(message, "a.csv, line 1: 1 field", "dataset.toml says that fields are separated by '|'", advice)
    assert "in .tsv files" not in message


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        (",id,name,born", "index=False"),
        ("id,name,born,", "remove the separators at the ends of the lines"),
        ("id,,name,born", "remove the column"),
    ],
)
def test_a_column_without_a_name_is_told_what_it_probably_is(tmp_path: Path, header: str, hint: str) -> None:
    message = refusal(tmp_path, {"a.csv": f"{header}\na,b,c,d\n", "b.csv": OTHER})
    assert_says(message, "has no name", hint)
    assert ("pandas" in message) == (hint == "index=False")


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ([["Staff of 2024", None], [None, None], ["id", "name"], ["1", "Anna"]], "delete titles and blank rows above"),
        ([["id", "name", None, "born"], ["1", "Anna", None, None]], "remove the column"),
    ],
    ids=["a title above the header", "a gap"],
)
def test_excel_says_one_thing_about_a_column_without_a_name(
    tmp_path: Path,
    rows: list[list[str | None]],
    hint: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = write_files(tmp_path, {"a.xlsx": excel(("s", rows)), "b.csv": OTHER})
    caplog.set_level(logging.WARNING, "fastexcel")
    message = refused("inspect", folder)
    assert_says(message, "a.xlsx: column", "has no name", hint)
    assert "fastexcel" not in {record.name.partition(".")[0] for record in caplog.records}
    assert "pandas" not in message
    assert "dtype" not in capfd.readouterr().err
