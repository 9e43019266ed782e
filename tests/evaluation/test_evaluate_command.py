"""What the command line says about scores, and about runs without held-out groups."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import multiea
from support.command_line import align, succeeds
from support.datasets import write_files
from support.records import ROWS, text_table

TABLES = {
    "a.csv": text_table(ROWS, ","),
    "b.csv": text_table([{**row, "id": f"x{row['id']}", "country": ""} for row in ROWS], ","),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    tables = {name: text.replace(",c1\n", ",\n").replace(",c2\n", ",\n") for name, text in TABLES.items()}
    align(write_files(place / "data", tables), "--out", place / "run")
    return place / "run"


def test_json_without_held_out_groups_says_why_there_are_no_scores(run: Path) -> None:
    answer = json.loads(succeeds("evaluate", run, "--json").stdout)
    assert answer["held_out"] == 0
    assert "there are no held-out groups" in answer["why"]
    assert "held_out.tsv" in answer["why"]


def test_the_search_of_tables_without_relations_is_the_one_used(run: Path) -> None:
    assert json.loads((run / "metrics.json").read_text())["search"] == "shared values"
    again = json.loads(succeeds("align", run.parent / "data", "--out", run.parent / "again", "--json").stdout)
    assert again["search"] == "shared values"
    assert multiea.open(run).history["search"] == "shared values"


def test_scores_say_which_entities_are_judged(tmp_path: Path) -> None:
    groups = "a\tb\n" + "".join(f"{row['id']}\tx{row['id']}\n" for row in ROWS)
    folder = write_files(tmp_path / "data", {**TABLES, "held_out.tsv": groups})
    printed = succeeds("align", folder, "--out", tmp_path / "run").stdout
    assert printed.count("only entities with a known counterpart are judged") == 1
