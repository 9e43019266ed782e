"""`multiea inspect`, `synth` and `build`: what they say about a data set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import invoke
from support.datasets import write_files


def test_inspect_answers_in_json(mixed: Path) -> None:
    answer = json.loads(invoke("inspect", mixed, "--json").stdout)
    kgs = {kg["name"]: kg for kg in answer["kgs"]}
    assert (kgs["a"]["entities"], kgs["a"]["triples"], kgs["a"]["duplicates"], kgs["a"]["isolated"]) == (4, 2, 1, 1)
    assert (kgs["b"]["entities"], kgs["b"]["triples"], kgs["b"]["literals"]) == (2, 1, 1)
    assert kgs["a"]["degree_quantiles"]["1.0"] == 2
    assert answer["groups_by_size"] == {"2": 1, "3": 0}
    assert answer["overlap"] == {
        "a": {"a": 1, "b": 1, "c": 0},
        "b": {"a": 1, "b": 1, "c": 0},
        "c": {"a": 0, "b": 0, "c": 0},
    }
    assert (answer["seeds"], answer["held_out"]) == (1, 0)
    warnings = " ".join(answer["warnings"])
    for words in (
        "1 duplicate",
        "without a triple",
        "only 1 known",
        "no known group has a member in c",
        "no group is complete",
    ):
        assert words in warnings


def test_inspect_shows_tables_and_warnings(mixed: Path) -> None:
    outcome = invoke("inspect", mixed)
    assert outcome.code == 0
    for words in ("mixed: 3 KGs, 1 known group", "entities", "median", "pair of KGs", "1 over 2 KGs", "warning: "):
        assert words in outcome.output


def test_inspect_takes_files_with_seeds(mixed: Path) -> None:
    files = [mixed / name for name in ("a.tsv", "b.nt", "c.csv")]
    outcome = invoke("inspect", *files, "--seeds", mixed / "seeds.tsv", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.stdout)["groups"] == 1


def test_lenient_drops_unknown_entities_and_names_them_once(mixed: Path) -> None:
    (mixed / "seeds.tsv").write_text("a\tb\nx\thttp://b/x\ny\tnobody\n", encoding="utf-8")
    outcome = invoke("inspect", mixed)
    assert outcome.code == 2
    assert "1 entity in the groups is not in the KG: 'nobody' (b, line 3)" in outcome.output
    assert "--lenient" in outcome.output
    outcome = invoke("inspect", mixed, "--lenient")
    assert outcome.code == 0
    assert outcome.output.count("'nobody'") == 1


@pytest.mark.parametrize("name", ["Seeds.tsv", "seed.tsv", "held-out.tsv", "entities.csv", "seeds.sssom.csv"])
def test_a_file_named_nearly_like_a_reserved_one_is_not_read_as_a_kg(mixed: Path, name: str) -> None:
    (mixed / name).write_text("a\tb\tc\n", encoding="utf-8")
    outcome = invoke("inspect", mixed)
    assert outcome.code == 2
    assert "close to a reserved one" in outcome.output


def test_files_that_are_not_read_are_mentioned(mixed: Path, tmp_path: Path) -> None:
    (mixed / "d.tsv.bz2").write_bytes(b"")
    (mixed / "e.tsv").symlink_to(tmp_path / "nowhere")
    (mixed / "README.md").write_text("notes", encoding="utf-8")
    outcome = invoke("inspect", mixed)
    assert outcome.code == 0
    assert "not read, because the extensions are unknown: d.tsv.bz2, e.tsv" in outcome.output


def test_synth_writes_a_data_set_that_inspect_reads(tmp_path: Path) -> None:
    outcome = invoke("synth", "--kgs", 4, "--entities", 300, "--out", tmp_path / "synthetic", "--json")
    assert outcome.code == 0, outcome.output
    outcome = invoke("inspect", tmp_path / "synthetic", "--json")
    assert [kg["entities"] for kg in json.loads(outcome.stdout)["kgs"]] == [300] * 4
    outcome = invoke("synth", "--kgs", 1, "--out", tmp_path / "other")
    assert outcome.code == 2
    assert "kgs must be" in outcome.output
    assert not (tmp_path / "other").exists()


def test_synth_writes_names_and_attributes_on_request(tmp_path: Path) -> None:
    options = ("--entities", 300, "--names", "--attributes", "--name-noise", 0.2, "--missing", 0.2)
    outcome = invoke("synth", *options, "--out", tmp_path / "full")
    assert outcome.code == 0, outcome.output
    assert "literals" in outcome.output
    kgs = json.loads(invoke("inspect", tmp_path / "full", "--json").stdout)["kgs"]
    assert all(kg["literals"] > 1_000 and kg["triples"] > 0 for kg in kgs)


def test_synth_writes_kgs_without_triples(tmp_path: Path) -> None:
    outcome = invoke("synth", "--entities", 300, "--names", "--no-triples", "--out", tmp_path / "tables", "--json")
    assert outcome.code == 0, outcome.output
    kgs = json.loads(outcome.stdout)["kgs"].values()
    assert [(kg["triples"], kg["literals"] > 200) for kg in kgs] == [(0, True)] * 3
    outcome = invoke("synth", "--no-triples", "--out", tmp_path / "other")
    assert outcome.code == 2
    assert "add names or attributes" in outcome.output


def test_an_unknown_benchmark_is_refused_with_a_list_of_those_that_exist() -> None:
    outcome = invoke("build", "dbp-5", "--source", ".", "--out", "x")
    assert outcome.code == 2
    assert "dbp-4" in outcome.output


RECORDS = {
    "a.csv": "id,title,year,note\n1,Oslo,1048,x\n2,Voss,,y\n3,Moss,,z\n",
    "b.csv": "id,title,year,note\n7,Oslo,1050,\n8,Voss,,\n",
}


def test_inspect_says_what_is_taken_as_names_and_attributes(tmp_path: Path) -> None:
    folder = write_files(tmp_path, RECORDS)
    answer = json.loads(invoke("inspect", folder, "--json").stdout)
    kg = answer["kgs"][0]
    assert kg["names"] == {"names": 3, "entities": 3, "coverage": 1.0, "example": "Moss", "sources": ["title"]}
    assert [(one["property"], one["role"], one["entities"]) for one in kg["properties"]] == [
        ("title", "name", 3),
        ("note", "attribute", 3),
        ("year", "attribute", 1),
    ]
    lines = invoke("inspect", folder).output.splitlines()
    assert any(line.split() == ["a", "year", "attribute", "1048", "33%"] for line in lines)


def test_roles_given_as_options_are_shown_by_inspect(tmp_path: Path) -> None:
    words = ["--names", "note", "--attributes", "title", "--ignore", "year"]
    answer = json.loads(invoke("inspect", write_files(tmp_path, RECORDS), *words, "--json").stdout)
    roles = {one["property"]: one["role"] for one in answer["kgs"][0]["properties"]}
    assert roles == {"note": "name", "title": "attribute", "year": "ignore"}
    outcome = invoke("inspect", tmp_path, "--names", "notes")
    assert outcome.code == 2
    assert "unknown property or column of this data set: 'notes'" in outcome.output


def test_records_without_triples_and_without_seeds_cause_no_warning(tmp_path: Path) -> None:
    assert json.loads(invoke("inspect", write_files(tmp_path, RECORDS), "--json").stdout)["warnings"] == []


def test_inspect_says_where_names_come_from(tmp_path: Path) -> None:
    codes, words = "q1\tr\tq2\nq2\tr\tq3\n", "Oslo\tin\tNorway\nVoss\tin\tNorway\n"
    folder = write_files(tmp_path, {"a.tsv": codes, "b.tsv": words, "c.tsv": codes})
    write_files(folder, {"entities.tsv": "kg\tentity\tlabel\na\tq1\tOslo\n"})
    answer = json.loads(invoke("inspect", folder, "--json").stdout)
    assert [kg["names"]["sources"] for kg in answer["kgs"]] == [["entities.tsv"], ["ids"], []]
    assert answer["warnings"] == ["no known groups, and c has no names or attributes: add known groups as seeds.tsv"]
    output = invoke("inspect", folder).output
    assert "(entities.tsv)" in output
    assert "(ids)" in output


def test_a_kg_with_nothing_to_compare_is_mentioned(tmp_path: Path) -> None:
    files = {"a.tsv": "", "b.tsv": "x\tr\ty\n", "entities.tsv": "kg\tentity\tlabel\na\tq1\t\na\tq2\t\n"}
    warnings = " ".join(json.loads(invoke("inspect", write_files(tmp_path, files), "--json").stdout)["warnings"])
    assert "KG 'a' has no triples, names or attributes, so nothing can be compared" in warnings
