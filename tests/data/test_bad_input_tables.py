"""Invalid tables of triples are refused with an error that names the file, the line, and what was expected."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from support.bad_input import (
    GOOD,
    OTHER,
    TSV,
    assert_says,
    refusal,
)
from support.datasets import parquet


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("wrong", [["a", "r"], ["a", "r", "b", "c"], ["a"]])
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_line_with_too_few_or_too_many_fields_is_named(
    tmp_path: Path, separator: str, wrong: list[str], gz: str
) -> None:
    name = ("en.csv" if separator == "," else "en.tsv") + gz
    lines = ["a r b", "", "b r c", " ".join(wrong), "c r d"]
    message = refusal(tmp_path, {name: "\n".join(lines).replace(" ", separator), "fr.tsv": OTHER})
    count = f"{len(wrong)} field" + "s" * (len(wrong) > 1)
    kind = "commas" if separator == "," else "tabs"
    assert_says(message, f"{tmp_path / name}, line 4: {count};", "expected 3", kind, "head, relation, tail")


@pytest.mark.parametrize("fields", [1, 2, 4])
def test_a_table_with_a_wrong_number_of_columns_is_named(tmp_path: Path, fields: int) -> None:
    message = refusal(tmp_path, {"en.tsv": ("\t".join("abcd"[:fields]) + "\n") * 3, "fr.tsv": OTHER})
    assert_says(
        message, f"{tmp_path / 'en.tsv'}, line 1: {fields} field", "expected three fields: head, relation, tail"
    )


@pytest.mark.parametrize("line", ["a\t\tb", "\tr\tb", "a\tr\t", "a\tr\t\r", "\t\t"])
@pytest.mark.parametrize("separator", ["\t", ","])
def test_an_empty_field_is_named(tmp_path: Path, line: str, separator: str) -> None:
    name = "en.csv" if separator == "," else "en.tsv"
    message = refusal(tmp_path, {name: f"{TSV}\n{line}\n{TSV}".replace("\t", separator), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}, line 5: an empty field", "expected head, relation, tail, none empty")


def test_a_quoted_empty_field_is_empty(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.csv": 'a,r,b\n"a\nb",r,c\na,"",b\n', "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 4: an empty field")


@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.tsv.gz", "groups.tsv", "entities.tsv"])
def test_text_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    data = "a\tr\té\n\n".encode() * 3 + "a\tr\té\n".encode("latin-1")
    files = {**GOOD, name: gzip.compress(data) if name.endswith(".gz") else data}
    if name not in GOOD and name.startswith("en."):
        del files["en.tsv"]
    message = refusal(tmp_path, files)
    assert_says(message, f"{tmp_path / name}, line 7: not UTF-8 (byte 0xe9)", "expected UTF-8 text", "iconv")


def test_the_line_of_an_invalid_byte_is_right_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 64)
    message = refusal(tmp_path, {"en.tsv": b"a\tr\tb\n" * 123 + b"a\tr\t\xff\n", "fr.tsv": OTHER})
    assert_says(message, "line 124: not UTF-8 (byte 0xff)")


def test_the_line_of_a_wrong_record_is_right_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 64)
    message = refusal(tmp_path, {"en.csv": '"a\n",r,"b\r\n"\n\n' * 100 + "a,r\n", "fr.tsv": OTHER})
    assert_says(message, "line 401: 2 fields")


def test_utf_16_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.tsv": TSV.encode("utf-16"), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.tsv'}, line 1: not UTF-8")


def test_an_endless_record_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr("multiea.data.files.LONGEST_RECORD", 1 << 20)
    message = refusal(tmp_path, {"en.csv": 'a,r,b\nc,r,"' + "d,e,f\n" * 200_000, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 2: a record longer than 1 MiB", "An unclosed quote")


@pytest.mark.parametrize("line", ['a,say "hi",b', '"a"b,r,c', 'a,r,b"', 'a"b,r,c', '"a" ,r,c', 'a, "r",c'])
def test_a_stray_quote_is_named(tmp_path: Path, line: str) -> None:
    message = refusal(tmp_path, {"en.csv": f'a,r,"two\nlines"\n{line}\nb,r,c\n', "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 3: a quote", "expected a field with quotes")


def test_an_unclosed_quote_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.csv": 'a,r,b\nb,"r,c\nc,r,d\n', "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 2: a quote")


@pytest.mark.parametrize("data", [b"", b"no parquet", b"PAR1" + b"\xff" * 40 + b"PAR1"])
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_corrupt_parquet_file_is_named(tmp_path: Path, data: bytes, gz: str) -> None:
    name = f"en.parquet{gz}"
    message = refusal(tmp_path, {name: gzip.compress(data) if gz else data, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: not a readable Parquet table")


def test_a_truncated_parquet_file_is_named(tmp_path: Path) -> None:
    whole = parquet(pl.DataFrame({"head": range(99), "relation": range(99), "tail": range(99)}))
    for cut in (whole[:-1], whole[: len(whole) // 2], whole[4:]):
        assert_says(
            refusal(tmp_path, {"en.parquet": cut, "fr.tsv": OTHER}),
            f"{tmp_path / 'en.parquet'}: not a readable Parquet",
        )


def test_a_parquet_file_that_has_neither_triples_nor_records_is_named(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": ["x", "x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["x", "y"]})
    message = refusal(tmp_path, {"en.parquet": parquet(table), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.parquet'}: 4 columns", "expected three columns: head, relation, tail", "'a'")


def test_an_empty_cell_of_a_parquet_file_is_named(tmp_path: Path) -> None:
    table = pl.DataFrame({"head": ["a", "b"], "relation": ["r", None], "tail": ["c", "d"]})
    message = refusal(tmp_path, {"en.parquet": parquet(table), "fr.tsv": OTHER})
    assert_says(message, str(tmp_path / "en.parquet"), "2: an empty field", "none empty")


def test_an_unknown_column_is_named_with_the_most_similar_one(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = "en.csv"\ncolumns = ["who", "does", "whom"]\n[kgs.fr]\nfile = "fr.tsv"\n'
    message = refusal(tmp_path, {"en.csv": "who,dose,whom\na,r,b\n", "fr.tsv": OTHER, "dataset.toml": toml})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 1", "unknown column 'does'", "Did you mean 'dose'?")


def test_a_field_with_the_separator_of_a_csv_file_is_named_with_its_line(tmp_path: Path) -> None:
    records = "id;name\n1;Anna Berg\n2;Ben; Roth\n3;Cara Nu\n"
    message = refusal(tmp_path, {"en.csv": records, "fr.csv": "id,name\n1,Anna Berg\n"})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 3: 3 fields", "expected 2 as in the first line", "semicolons")
    assert_says(message, "Put a field that contains semicolons in quotes", 'delimiter = ";"')


@pytest.mark.parametrize("columns", ["id,name", "id,name,city", "country,city"])
def test_an_index_that_pandas_wrote_is_recognised(tmp_path: Path, columns: str) -> None:
    rows = [f"{row},x{row}" + ",y" * columns.count(",") for row in range(3)]
    message = refusal(tmp_path, {"en.csv": "\n".join([f",{columns}", *rows]), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 1: column 1 has no name", "to_csv(index=False)")


@pytest.mark.parametrize(
    ("encoding", "name"), [("utf-16", "utf-16"), ("utf-16-le", "utf-16le"), ("utf-16-be", "utf-16be")]
)
@pytest.mark.parametrize("text", ["id,name\n1,Anna\n2,Ben\n", "id,name\n1,Jürgen\n2,Ben\n"])
def test_utf_16_is_recognised(tmp_path: Path, encoding: str, name: str, text: str) -> None:
    message = refusal(tmp_path, {"en.csv": text.encode(encoding), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 1: not UTF-8 but {name.upper()}", f"iconv -f {name} -t utf-8")
    assert "latin1" not in message
