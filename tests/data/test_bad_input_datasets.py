"""Invalid folders and dataset.toml files are refused with an error that says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import multiea
from multiea.foundation.errors import MultiEAError
from support.bad_input import (
    GOOD,
    NT,
    OTHER,
    TSV,
    assert_says,
    refusal,
)
from support.datasets import facts, write_files


@pytest.mark.parametrize("files", [{}, {"en.tsv": TSV}, {"groups.tsv": "en\n", "README.md": "x"}])
def test_a_folder_with_fewer_than_two_kgs_is_refused(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    message = refusal(tmp_path, files)
    assert_says(message, tmp_path, "a data set of", "KG", "expected at least two files, one per KG", ".tsv", *files)


def test_of_json_the_kind_that_is_read_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said = "Of JSON, JSON Lines is read: files ending in .jsonl, with one object per line"
    assert_says(refusal(tmp_path, {"en.tsv": TSV, "people.json": '{"id": 1}'}), said)
    with pytest.raises(MultiEAError, match=said):
        multiea.load([tmp_path / "en.tsv", tmp_path / "people.json"])
    multiea.load(write_files(tmp_path / "two", {**GOOD, "people.json": ' [{"id": 1}]', "settings.json": "{}"}))
    assert f"not read: people.json. {said}" in caplog.text


def test_an_empty_list_of_files_is_refused() -> None:
    with pytest.raises(MultiEAError, match="a data set of no files; expected a path, several, or tables"):
        multiea.load([])


def test_two_files_with_the_same_kg_name_in_a_folder_are_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "en.nt": NT})
    assert_says(message, f"{tmp_path}: two files are named 'en': en.nt and en.tsv", "expected a unique name")


def test_two_given_files_with_the_same_kg_name_are_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"en.tsv": TSV, "en.nt": NT})
    with pytest.raises(MultiEAError, match="two KGs are named 'en'; expected a different name for each KG"):
        multiea.load([tmp_path / "en.tsv", tmp_path / "en.nt"])


TWO_KGS = '[kgs.en]\nfile = "en.tsv"\n[kgs.fr]\nfile = "fr.tsv"\n'


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("name = \n", ["invalid TOML", "line 1"]),
        ('name = "x"\nname = "y"\n', ["invalid TOML", "line 2"]),
        ('nmae = "x"\n' + TWO_KGS, ["nmae", "Did you mean 'name'?"]),
        ('kg = "x"\n' + TWO_KGS, ["kg", "Did you mean 'kgs'?"]),
        (TWO_KGS + 'colums = ["a", "b", "c"]\n', ["kgs.fr.colums", "Did you mean 'columns'?"]),
        ('[kgs.en]\nfiel = "en.tsv"\n[kgs.fr]\nfile = "fr.tsv"\n', ["kgs.en", "fiel", "Did you mean 'file'?"]),
        (TWO_KGS + '[seeds]\nfile = "s.tsv"\nfromat = "tsv"\n', ["seeds", "fromat", "Did you mean 'format'?"]),
        ("seeds = 3\n" + TWO_KGS, ["seeds"]),
        ('name = ["x"]\n' + TWO_KGS, ["name", "string"]),
        ("kgs = 3\n", ["kgs"]),
        ('[kgs]\nen = "en.tsv"\nfr = "fr.tsv"\n', ["kgs.en"]),
        (TWO_KGS + 'columns = ["a", "b"]\n', ["kgs.fr.columns"]),
        (TWO_KGS + 'format = "tvs"\n', ["unknown format 'tvs'", "Did you mean 'tsv'?"]),
        (TWO_KGS + 'format = "sssom"\n', ["unknown format 'sssom'"]),
        (TWO_KGS + '[seeds]\nfile = "s.tsv"\nformat = "sssmo"\n', ["unknown format of groups 'sssmo'", "'sssom'"]),
        ("[kgs.en]\nfile = []\n[kgs.fr]\nfile = []\n", ["KG 'en' has no file"]),
        (f"name = {'1' * 5000}\n", []),
        (f"name = {'[' * 5000}\n", []),
    ],
)
def test_an_invalid_dataset_toml_is_named(tmp_path: Path, toml: str, words: list[str]) -> None:
    assert_says(refusal(tmp_path, {**GOOD, "dataset.toml": toml}), tmp_path / "dataset.toml", *words)


def test_a_dataset_toml_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "dataset.toml": b'name = "\xe9"\n'})
    assert_says(message, f"{tmp_path / 'dataset.toml'}: not UTF-8", "expected TOML")


def test_an_error_in_a_toml_file_with_another_name_names_that_file(tmp_path: Path) -> None:
    write_files(tmp_path, {**GOOD, "my.toml": TWO_KGS + 'format = "tvs"\n'})
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / "my.toml")
    assert_says(str(caught.value), tmp_path / "my.toml")


def test_one_kg_in_dataset_toml_is_too_few(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "dataset.toml": '[kgs.en]\nfile = "en.tsv"\n'})
    assert_says(message, "a data set of 1 KG", "at least two", "[kgs.NAME]")


def test_columns_are_for_tables_only(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = "en.nt"\ncolumns = ["a", "b", "c"]\n[kgs.fr]\nfile = "fr.tsv"\n'
    assert_says(refusal(tmp_path, {"en.nt": NT, "fr.tsv": OTHER, "dataset.toml": toml}), "'en'", "columns", "n-triples")


@pytest.mark.parametrize("name", ["\ud800", None, ""])
def test_ids_that_cannot_be_written_to_a_file_are_refused_early(name: str) -> None:
    with pytest.raises(MultiEAError):
        multiea.KnowledgeGraph.from_triples("en", [(name, "r", "b")])


def test_an_error_in_one_file_does_not_affect_another_data_set(tmp_path: Path) -> None:
    refusal(tmp_path, {**GOOD, "groups.tsv": "en\tde\n"})
    (tmp_path / "groups.tsv").unlink()
    assert len(facts(multiea.load(tmp_path).kgs[0])) == 3
