"""What align says where evidence that was asked for is missing, and where structure alone cannot be compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import multiea
from multiea import AlignSettings, InputError, SettingError, Task
from multiea.data.knowledge_graph import NAME_SCHEMA
from support.command_line import invoke, refused
from support.datasets import write_files
from support.evidence import named_kg, table_kg
from support.quick import align

CITIES = ["Oslo", "Bergen", "Paris", "Lyon", "Berlin", "Graz"]
TABLES = {
    "a.csv": "id,name,size\n" + "".join(f"{row},{city},{row * 7}\n" for row, city in enumerate(CITIES)),
    "b.csv": "id,name,size\n" + "".join(f"{row + 20},{city},{row * 7}\n" for row, city in enumerate(CITIES)),
}
TRIPLES = {
    "a.tsv": "Oslo\tin\tNorway\nBergen\tin\tNorway\nParis\tin\tFrance\n",
    "b.tsv": "Oslo\tpart of\tNorway\nBergen\tpart of\tNorway\nParis\tpart of\tFrance\n",
}


def test_evidence_that_no_two_kgs_have_is_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    codes = [f"K{number * 37}Z" for number in range(6)]
    kgs = [table_kg("a", name=CITIES, code=codes), table_kg("b", code=codes)]
    align(Task(kgs), evidence=["structure", "names", "attributes"])
    assert "evidence 'names' was left out: only a has names. Compared: attributes" in caplog.text
    assert "evidence 'structure' was left out: no KG has triples. Compared: attributes" in caplog.text


def test_names_without_anything_in_common_are_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    codes = [f"K{number * 37}Z" for number in range(6)]
    other = ["Xx Yy", "Zz Qq", "Ww Vv", "Jj Kk", "Ff Hh", "Uu Mm"]
    kgs = [table_kg("a", name=CITIES, code=codes), table_kg("b", name=other, code=codes)]
    align(Task(kgs), evidence=["names", "attributes"])
    assert "evidence 'names' was left out: the names of a, b have nothing in common" in caplog.text


OTHERS = ["Xx Yy", "Zz Qq", "Ww Vv", "Jj Kk", "Ff Hh", "Uu Mm"]


@pytest.mark.parametrize("evidence", ["auto", "names"])
def test_names_that_are_nowhere_similar_are_not_called_missing(tmp_path: Path, evidence: str) -> None:
    names = {"a": CITIES, "b": OTHERS}
    files = {
        f"{kg}.csv": "id,name\n" + "".join(f"{kg}{at},{one}\n" for at, one in enumerate(names[kg])) for kg in names
    }
    error = refused("align", write_files(tmp_path, files), "--evidence", evidence, "--out", tmp_path / "run")
    assert "the names of a, b have nothing in common" in error
    assert "--names COLUMN or dataset.toml choose others; a name model (--name-model) compares" in error
    assert "no names" not in error
    with pytest.raises(InputError, match=r"names of a, b have nothing in common.*roles= of multiea.load"):
        multiea.align(Task([table_kg("a", name=CITIES), table_kg("b", name=OTHERS)]), evidence=evidence)


@pytest.mark.parametrize("with_cities", ["a", "b"])
def test_tables_with_nothing_in_common_may_have_attributes_in_one_of_them_only(
    tmp_path: Path, with_cities: str
) -> None:
    names = {"a": ["Xenia Zorn", "Quirin Pohl"], "b": ["Anna Berg", "Ben Roth"]}
    tables = {kg: pl.DataFrame({"id": ["7", "8"], "name": of_kg}) for kg, of_kg in names.items()}
    tables[with_cities] = tables[with_cities].with_columns(city=pl.Series(["Ulm", "Kiel"]))
    files = {f"{kg}.csv": table.write_csv() for kg, table in tables.items()}
    error = refused("align", write_files(tmp_path, files), "--out", tmp_path / "run")
    assert "the names of a, b have nothing in common" in error
    assert f"only {with_cities} has attributes" in error


@pytest.mark.parametrize("rows", [1, 6, 60])
def test_names_that_all_entities_share_are_not_called_nothing_in_common(rows: int) -> None:
    kgs = [table_kg("a", name=["Unknown"] * rows), table_kg("b", name=["unknown"] * rows)]
    with pytest.raises(InputError) as error:
        align(Task(kgs))
    assert "the names of a, b have only 1 name in common ('Unknown'), but all or very many entities" in str(error.value)
    assert "so it tells none apart" in str(error.value)
    assert "Add columns in which entities differ" in str(error.value)
    assert "nothing in common" not in str(error.value)
    assert "name model" not in str(error.value)


def test_values_that_nearly_all_entities_share_are_counted() -> None:
    many, few = ["Unknown"] * 55, ["Oslo"] * 55
    kgs = [table_kg("a", name=[*many, *few, *CITIES[1:]]), table_kg("b", name=[*few, *many, *OTHERS])]
    with pytest.raises(InputError, match=r"only 2 names in common \('Oslo', 'Unknown'\), but .* they tell none apart"):
        align(Task(kgs))


def test_without_seeds_the_error_tells_names_that_are_nowhere_similar_from_missing_ones() -> None:
    triples = [("1", "in", "2"), ("2", "in", "3")]
    kgs = [
        replace(
            multiea.KnowledgeGraph.from_triples(kg, triples),
            given_names=pl.DataFrame({"entity": [0, 1, 2], "name": own[:3]}, schema=NAME_SCHEMA),
        )
        for kg, own in (("a", CITIES), ("b", OTHERS))
    ]
    with pytest.raises(InputError, match="no seeds, and nothing else to start from: the names of a, b have nothing in"):
        multiea.align(Task(kgs))


def test_auto_leaves_out_what_is_missing_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    align(Task([named_kg("a", [[city] for city in CITIES]), named_kg("b", [[city] for city in CITIES])]))
    assert "left out" not in caplog.text


def test_structure_of_tables_is_an_error_that_says_what_they_have(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "tables", TABLES)
    error = refused("align", folder, "--evidence", "structure", "--out", tmp_path / "run")
    assert "has no triples, and --evidence structure compares structure alone" in error
    assert "Names and attributes are compared with --evidence auto" in error


@pytest.mark.parametrize(
    ("settings", "why", "instead"),
    [
        ({"enhancement": "product"}, "enhancement 'product'", "enhancement sharpened or none"),
        ({"enhancement": "profile"}, "enhancement 'profile'", "enhancement sharpened or none"),
        ({"engine": "multiea"}, "the engine 'multiea'", "the engine propagation"),
        ({"evidence": "structure"}, 'evidence="structure"', 'evidence="auto"'),
    ],
)
def test_without_seeds_the_cause_is_named(tmp_path: Path, settings: dict[str, Any], why: str, instead: str) -> None:
    task = Task(multiea.load(write_files(tmp_path, TRIPLES)).kgs)
    with pytest.raises(InputError) as error:
        multiea.align(task, **settings)
    assert f"has no seeds, and {why} compares structure alone, which needs them" in str(error.value)
    assert f"names are compared with {instead}, which needs none" in str(error.value)
    assert "seeds=[" in str(error.value)


def test_for_files_the_hint_speaks_of_files(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "triples", TRIPLES)
    error = refused("align", folder, "--enhancement", "product", "--out", tmp_path / "run")
    assert "seeds.tsv" in error
    assert invoke("align", folder, "--out", tmp_path / "run").code == 0


def test_a_name_model_beside_structure_alone_is_refused() -> None:
    with pytest.raises(SettingError, match="a name model compares names, and evidence 'structure' leaves them out"):
        AlignSettings.default(evidence="structure", name_model="model")
