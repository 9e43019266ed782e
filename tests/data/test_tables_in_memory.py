"""polars and pandas tables of records or triples become a Task."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import multiea
from multiea.data.knowledge_graph import KnowledgeGraph
from support.datasets import assert_same_kg, display_names, facts, literals
from support.records import ROWS, text_table

A = pl.DataFrame({"id": ["x", "y", "z"], "label": ["Oslo", "Voss", "Moss"], "size": [1, 2, None]})
B = pl.DataFrame({"id": ["1", "2"], "label": ["Oslo", "Voss"], "size": [1.0, 2.5]})


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pandas with index"])
def test_a_table_gives_the_same_kg_as_a_file_with_the_same_rows(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text_table(ROWS, ","), encoding="utf-8")
    tables: dict[str, Any] = {
        "polars": pl.DataFrame(ROWS),
        "lazy": pl.LazyFrame(ROWS),
        "pandas": pd.DataFrame(ROWS),
        "pandas with index": pd.DataFrame(ROWS).set_index("id"),
    }
    task = multiea.load({"a": tables[kind], "b": B})
    (tmp_path / "b.csv").write_text(B.write_csv(), encoding="utf-8")
    assert_same_kg(task.kgs[0], multiea.load([path, tmp_path / "b.csv"]).kgs[0])


def test_types_of_pandas_are_kept() -> None:
    table = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "year": [1990, None, 2000],
            "day": pd.to_datetime(["2020-01-02", None, "2020-01-03"]),
            "mixed": [1, "x", datetime.date(2020, 1, 1)],
            "kind": pd.Categorical(["a", "b", None]),
            "is_open": pd.array([True, None, False], dtype="boolean"),
            "tags": [["u", "v"], [], ["w"]],
        }
    )
    found = {(entity, name, value) for entity, name, value, _ in literals(multiea.load({"a": table, "b": B}).kgs[0])}
    assert {("1", "year", "1990"), ("3", "year", "2000"), ("1", "day", "2020-01-02")} <= found
    assert {("1", "mixed", "1"), ("2", "mixed", "x"), ("3", "mixed", "2020-01-01")} <= found
    assert {("2", "kind", "b"), ("3", "is_open", "false"), ("1", "tags", "v"), ("3", "tags", "w")} <= found
    assert not any(name == "year" and entity == "2" for entity, name, _ in found)


def test_tables_of_triples_and_graphs_may_be_mixed_with_records() -> None:
    triples = pl.DataFrame({"head": ["x"], "relation": ["r"], "tail": ["y"]})
    graph = KnowledgeGraph.from_triples("other name", [("q", "s", "w")])
    task = multiea.load({"a": A, "t": triples, "g": graph})
    assert task.kg_names == ("a", "t", "g")
    assert facts(task.kgs[1]) == {("x", "r", "y")}
    assert facts(task.kgs[2]) == {("q", "s", "w")}
    assert display_names(task.kgs[0])["x"] == "Oslo"
    assert task.origin.data.source == ()


def test_seeds_may_be_groups_a_table_a_list_or_a_file(tmp_path: Path) -> None:
    task = multiea.load({"a": A, "b": B})
    rows = [{"a": "x", "b": "1"}, {"a": "y", "b": "2"}]
    (tmp_path / "seeds.tsv").write_text("a\tb\nx\t1\ny\t2\n", encoding="utf-8")
    forms = [
        rows,
        multiea.Groups.from_names(task.kgs, rows),
        pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}),
        pd.DataFrame({"b": [1.0, 2.0], "a": ["x", "y"]}),
        tmp_path / "seeds.tsv",
    ]
    for seeds in forms:
        assert multiea.load({"a": A, "b": B}, seeds=seeds).seeds.to_table(task.kgs).sort("a").rows() == [
            ("x", "1"),
            ("y", "2"),
        ]
    assert len(multiea.load({"a": A, "b": B}, seeds=rows, train_ratio=0.5).held_out) == 1


def test_roles_apply_to_tables() -> None:
    task = multiea.load({"a": A.rename({"label": "note"}), "b": B}, roles={"note": "name"})
    assert display_names(task.kgs[0])["x"] == "Oslo"


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"a": A}, "a single table, 'a'; expected at least two to align, by name"),
        ({}, "no table; expected at least two to align"),
        ({"a": A, "b": [1, 2]}, "KG 'b' given as list; expected a polars or pandas table"),
        ({"a": A, "b": A["id"]}, "KG 'b' given as Series"),
        ({"a": A, 3: B}, "a KG named 3"),
        ({"a": A, "b": B.clear()}, "KG 'b': a table without rows"),
        ({"a": A, "b": B.select("id")}, "KG 'b': 1 column \\(id\\); expected three columns"),
        ({"a": A, "b": pl.DataFrame()}, "KG 'b': 0 columns"),
        ({"a": A, "b": pl.concat([B, B])}, "KG 'b', line 3: the id '1' of line 1 again"),
        (
            {"a": A, "b": B.drop("id").with_columns(label=pl.lit("x"), a=1, b=2)},
            "KG 'b': 4 columns .* no column of ids",
        ),
        ({"a": A, "b": B.with_columns(id=None)}, "KG 'b', line 1: no id in the column 'id'"),
        ({"a": A, "b": pd.DataFrame([[1, 2, 3]], columns=["id", "x", "x"])}, "KG 'b': two columns are named 'x'"),
    ],
)
def test_tables_of_another_shape_are_refused(tables: dict[Any, Any], words: str) -> None:
    with pytest.raises(multiea.InputError, match=words):
        multiea.load(tables)


def test_seeds_of_another_shape_are_refused() -> None:
    for seeds in (3, [("x", "1")], {"a": "x"}):
        with pytest.raises(multiea.InputError, match="seeds given as"):
            multiea.load({"a": A, "b": B}, seeds=seeds)
    with pytest.raises(multiea.InputError, match="not in the KG: 'nobody'"):
        multiea.load({"a": A, "b": B}, seeds=[{"a": "x", "b": "nobody"}])
    with pytest.raises(multiea.InputError, match="expected a file, because the KGs are read from files"):
        multiea.load("world", seeds=[{"a": "x", "b": "y"}])


def test_align_takes_tables() -> None:
    heads = [f"e{i}" for i in range(30)]
    tables = {
        kg: pl.DataFrame({"head": heads, "relation": ["r"] * 30, "tail": [f"e{(i * 7 + 1) % 30}" for i in range(30)]})
        for kg in ("a", "b")
    }
    task = multiea.load(tables, seeds=[{"a": f"e{i}", "b": f"e{i}"} for i in range(20)])
    assert len(multiea.align(task, bootstrap="none").groups)
    with pytest.raises(multiea.MultiEAError, match="given as int"):
        multiea.align({"a": tables["a"], "b": 3})
