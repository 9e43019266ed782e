"""Invalid tables of records are refused with an error that names the place, what was found and what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea.foundation.errors import InputError, SettingError
from support.bad_input import assert_says, refusal
from support.datasets import parquet, write_files
from support.reading import kg_of
from support.records import excel

GOOD: dict[str, str | bytes] = {"fr.csv": "id,label\nx,Oslo\ny,Voss\n"}


def refused(folder: Path, name: str, content: str | bytes, toml: str = "") -> str:
    """The message for one file; toml: what dataset.toml says about it."""
    files: dict[str, str | bytes] = {**GOOD, name: content}
    if toml:
        files["dataset.toml"] = f'[kgs.en]\nfile = "{name}"\n{toml}\n[kgs.fr]\nfile = "fr.csv"\n'
    return refusal(folder, files)


def test_a_table_without_an_id_column_is_named(tmp_path: Path) -> None:
    message = refused(tmp_path, "en.csv", "city,label,size,note\nx,Oslo,1,n\nx,Bergen,2,n\n")
    assert_says(message, f"{tmp_path / 'en.csv'}, line 1", "no column of ids", "'city'", "repeated", 'id = "..."')


def test_a_repeated_id_is_named_with_both_lines(tmp_path: Path) -> None:
    message = refused(tmp_path, "en.csv", "id,label\nx,Oslo\ny,Voss\n\nx,Bergen\nx,Moss\n")
    assert_says(message, f"{tmp_path / 'en.csv'}, line 5", "the id 'x' of line 2 again (2 such rows)", "one row per")


def test_an_id_repeated_in_a_later_block_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 32)
    text = "id,label\n" + "".join(f"x{i},Oslo {i}\n" for i in range(50)) + "x7,again\n"
    assert_says(refused(tmp_path, "en.csv", text), "line 52", "the id 'x7' of line 9 again")


@pytest.mark.parametrize("missing", ["", "  "])
def test_a_missing_id_is_named(tmp_path: Path, missing: str) -> None:
    message = refused(tmp_path, "en.csv", f"id,label\nx,Oslo\n{missing},Voss\n")
    assert_says(message, f"{tmp_path / 'en.csv'}, line 3: no id in the column 'id'", "expected an id in every row")


def test_two_columns_that_both_could_be_ids_are_named(tmp_path: Path) -> None:
    table = "id,uri,label\n1,x,Oslo\n2,y,Voss\n"
    message = refused(tmp_path, "en.csv", table)
    assert_says(message, str(tmp_path / "en.csv"), "'id' and 'uri' both could be the ids", 'dataset.toml: id = "id"')
    toml = '[kgs.en]\nfile = "en.csv"\nid = "uri"\n[kgs.fr]\nfile = "fr.csv"\n'
    task = multiea.load(write_files(tmp_path, {**GOOD, "en.csv": table, "dataset.toml": toml}))
    assert set(task.kgs[0].entities) == {"x", "y"}


@pytest.mark.parametrize("header", ["id,label", "code,label,size,note"])
def test_a_table_without_rows_is_named(tmp_path: Path, header: str) -> None:
    assert_says(refused(tmp_path, "en.csv", header + "\n"), f"{tmp_path / 'en.csv'}: a table without rows")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("en.parquet", parquet(pl.DataFrame({"id": [], "label": []}, schema={"id": pl.String, "label": pl.String}))),
        ("en.xlsx", excel(("s", [["id", "label"]]))),
    ],
)
def test_an_empty_typed_table_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    assert_says(refused(tmp_path, name, content), f"{tmp_path / name}: a table without rows")


@pytest.mark.parametrize("header", ["id,label", "id,label,size", "key,label,size,rank"])
def test_a_header_alone_is_a_table_without_rows_and_no_triple(tmp_path: Path, header: str) -> None:
    assert_says(refused(tmp_path, "en.csv", f"{header}\n"), f"{tmp_path / 'en.csv'}: a table without rows")


@pytest.mark.parametrize("content", ["", "\n\n"])
@pytest.mark.parametrize("name", ["en.csv", "en.jsonl"])
def test_an_empty_file_is_named(tmp_path: Path, name: str, content: str) -> None:
    assert_says(refused(tmp_path, name, content), str(tmp_path / name), "KG 'en' is empty")


@pytest.mark.parametrize("name", ["en.csv", "en.xlsx"])
def test_two_columns_of_one_name_are_named(tmp_path: Path, name: str) -> None:
    rows = [["id", "label", "label", "x"], ["1", "a", "b", "c"]]
    content = excel(("s", rows)) if name == "en.xlsx" else "".join(",".join(row) + "\n" for row in rows)
    assert_says(refused(tmp_path, name, content), str(tmp_path / name), "two columns are named 'label'", "different")


@pytest.mark.parametrize("name", ["en.csv", "en.xlsx"])
def test_a_column_without_a_name_is_named(tmp_path: Path, name: str) -> None:
    rows = [["", "id", "label", "x"], ["0", "1", "b", "c"]]
    content = excel(("s", rows)) if name == "en.xlsx" else "".join(",".join(row) + "\n" for row in rows)
    assert_says(refused(tmp_path, name, content), str(tmp_path / name), "column 1 has no name", "index=False")


def test_data_instead_of_a_header_is_named(tmp_path: Path) -> None:
    message = refused(tmp_path, "en.csv", "x,Oslo,59.9,10.7\ny,Voss,60.6,6.4\n")
    assert_says(
        message,
        f"{tmp_path / 'en.csv'}, line 1",
        "among them 59.9, which is a value",
        "a header that names every column",
    )


def test_a_row_with_too_few_fields_is_named(tmp_path: Path) -> None:
    message = refused(tmp_path, "en.csv", "id,label,size,x\nx,Oslo,1,\ny,Voss\n")
    assert_says(message, f"{tmp_path / 'en.csv'}, line 3: 2 fields; expected 4", "the columns of records")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"id": 1, "a": "x"}\n\n{"id": 2, "a": }\n', ["line 3", "invalid JSON"]),
        ('{"id": 1}\n[1, 2]\n', ["line 2: [1, 2]", "one JSON object per line"]),
        ('{"id": 1}\n"x"\n', ['line 2: "x"']),
        (
            '{"id": 1, "a": "x"}\n{"id": 2, "a": {"b": 1}}\n',
            ["line 2", "'a' is an object here and no object in line 1"],
        ),
        (
            '{"id": 1, "a": ["x"]}\n{"id": 2, "a": {"b": 1}}\n',
            ["line 2", "'a' is an object here and no object in line"],
        ),
        ('{"id": 1, "a": 1}\n{"id": 2, "a": true}\n', ["line 2", "'a' is true or false here and a number in line 1"]),
        ('{"id": 1, "a": 1}\n{"id": 2, "a": ["x"]}\n', ["line 2", "'a' is a list here and a number in line 1"]),
        ('{"id": 1, "a": "x"}\n{"a": "y"}\n', ["line 2", "no id in the column 'id'"]),
        ('{"id": ["x"], "a": "x"}\n', ["the id column 'id' is of type List"]),
        ("{}\n", ["line 1"]),
    ],
)
def test_invalid_json_lines_are_named(tmp_path: Path, content: str, words: list[str]) -> None:
    assert_says(refused(tmp_path, "en.jsonl", content), str(tmp_path / "en.jsonl"), *words)


def test_an_excel_file_with_several_sheets_is_named_with_its_sheets(tmp_path: Path) -> None:
    table = [["id", "label"], ["x", "Oslo"]]
    content = excel(("places", table), ("people", table))
    message = refused(tmp_path, "en.xlsx", content)
    assert_says(message, str(tmp_path / "en.xlsx"), "2 sheets: places, people", 'sheet = "places"')
    message = refused(tmp_path, "en.xlsx", content, toml='sheet = "poeple"')
    assert_says(message, "unknown sheet 'poeple'", "Did you mean 'people'?")


@pytest.mark.parametrize("content", [b"", b"no excel", excel(("s", [["id"]]))[:300]])
def test_a_corrupt_excel_file_is_named(tmp_path: Path, content: bytes) -> None:
    assert_says(refused(tmp_path, "en.xlsx", content), str(tmp_path / "en.xlsx"), "not a readable Excel file")


def test_an_excel_file_without_content_is_named(tmp_path: Path) -> None:
    assert_says(refused(tmp_path, "en.xlsx", excel(("s", []))), str(tmp_path / "en.xlsx"), "no sheet with content")


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    message = refused(tmp_path, "en.xlsx", excel(("s", [["id", "label"], ["x", "y"]])))
    assert_says(message, str(tmp_path / "en.xlsx"), "the extra 'excel'", "pip install 'multiea[excel]'")


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('id = "ID"', ["unknown column 'ID'", "id, label, size, note"]),
        ('relations = ["lable"]', ["unknown column 'lable'", "Did you mean 'label'?"]),
        ('names = ["lable"]', ["unknown property or column of KG 'en': 'lable'", "label, note, size", "Did you mean"]),
        ('ignore = ["x"]', ["unknown property or column of KG 'en': 'x'"]),
        ('names = ["label"]\nignore = ["label"]', ["'label' is listed twice"]),
        ('delimiter = ",,"', ["kgs.en.delimiter: ',,'", "expected one character"]),
        ('separator = ""', ["kgs.en.separator: ''"]),
        ("names = 3", ["kgs.en.names: 3", "expected a list of columns or properties"]),
        (
            'sheet = "x"',
            ["KG 'en': sheet is for Excel files (.xlsx) only, not for", "en.csv; remove sheet from [kgs.en]"],
        ),
        ('columns = ["id", "label", "size"]\nid = "id"', ["KG 'en': id is for records; columns are for triples"]),
        ('coloumns = ["x"]', ["unknown key at kgs.en.coloumns", "Did you mean 'columns'?"]),
    ],
)
def test_a_wrong_key_of_dataset_toml_is_named(tmp_path: Path, toml: str, words: list[str]) -> None:
    assert_says(refused(tmp_path, "en.csv", "id,label,size,note\nx,Oslo,1,\ny,Voss,2,\n", toml), *words)


def test_choices_for_tables_are_refused_for_rdf(tmp_path: Path) -> None:
    message = refused(tmp_path, "en.nt", "<http://x/a> <http://x/p> <http://x/b> .\n", toml='id = "id"')
    assert_says(message, "KG 'en': id is for tables", "not for n-triples")


def test_a_role_for_a_property_that_no_kg_has_is_refused(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {**GOOD, "en.csv": "id,label,size\nx,Oslo,1\ny,Voss,2\n"})
    with pytest.raises(InputError, match=r"unknown property or column of this data set: 'lable'.*label, size"):
        multiea.load(folder, roles={"lable": "name"})
    with pytest.raises(SettingError, match="unknown role of 'label': 'nmae'; choose one of: name"):
        multiea.load(folder, roles={"label": "nmae"})
    with pytest.raises(SettingError, match="roles must be a mapping"):
        multiea.load(folder, roles=["label"])  # type: ignore[arg-type]


def test_one_property_with_two_roles_in_the_settings_is_refused() -> None:
    with pytest.raises(SettingError, match=r"'x' can be in one of data\.names, data\.attributes and data\.ignore"):
        multiea.Data(names=("x",), ignore=("x",))


def test_a_json_ld_file_with_a_remote_context_is_named(tmp_path: Path) -> None:
    text = '{"@context": "https://schema.org", "@id": "http://x/a", "name": "Oslo"}'
    assert_says(refused(tmp_path, "en.jsonld", text), str(tmp_path / "en.jsonld"), "Contexts are not downloaded")
    assert_says(refused(tmp_path / "b", "en.jsonld", '{"@id": '), "en.jsonld, line 1: invalid")


def test_json_ld_is_read(tmp_path: Path) -> None:
    text = """{"@context": {"name": "http://schema.org/name", "in": {"@id": "http://x/in", "@type": "@id"}},
    "@graph": [{"@id": "http://x/a", "name": "Oslo", "in": "http://x/b"}, {"@id": "http://x/b", "name": "Norway"}]}"""
    kg = kg_of(tmp_path, {"a.jsonld": text})
    assert len(kg.triples) == 1
    assert kg.names is not None
    assert set(kg.names) == {"Oslo", "Norway"}
