"""TSV, CSV and Parquet tables of triples are read to the same KG."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import multiea
from support.datasets import facts, parquet, write_files
from support.reading import FACTS, TSV, kg_of

CSV = "Oslo,capital of,Norway\nBergen,lies in,Norway\nNorway,is a,country\n"


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize(("name", "text"), [("a.tsv", TSV), ("a.csv", CSV)])
def test_a_table_of_three_columns_is_read(tmp_path: Path, name: str, text: str, gz: str) -> None:
    assert facts(kg_of(tmp_path, {f"{name}{gz}": text})) == FACTS


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    "header",
    [
        ("head", "relation", "tail"),
        ("tail", "head", "relation"),
        ("Subject", "PREDICATE", "Object"),
        ("since", "object", "id", "predicate", "subject"),
        (" relation", "tail ", "head", "weight"),
    ],
)
def test_a_standard_header_determines_the_columns(tmp_path: Path, header: tuple[str, ...], separator: str) -> None:
    place = {"head": 0, "subject": 0, "relation": 1, "predicate": 1, "tail": 2, "object": 2}
    rows = [[place.get(name.strip().lower()) for name in header]]
    lines = [header] + [[fact[i] if i is not None else "x" for i in rows[0]] for fact in sorted(FACTS)]
    text = "".join(separator.join(line) + "\n" for line in lines)
    assert facts(kg_of(tmp_path, {"a.csv" if separator == "," else "a.tsv": text})) == FACTS


def test_csv_fields_may_contain_commas_line_breaks_and_doubled_quotes(tmp_path: Path) -> None:
    text = '"Oslo, city",says,"two\nlines"\r\n"a ""quoted"" name",says,"""\r\n\r\n"""\r\nplain,says,"x"\n'
    assert facts(kg_of(tmp_path, {"a.csv": text})) == {
        ("Oslo, city", "says", "two\nlines"),
        ('a "quoted" name', "says", '"\r\n\r\n"'),
        ("plain", "says", "x"),
    }


def test_quotes_in_tsv_are_part_of_the_id(tmp_path: Path) -> None:
    assert facts(kg_of(tmp_path, {"a.tsv": '"Oslo\tsays "so"\t""\n'})) == {('"Oslo', 'says "so"', '""')}


@pytest.mark.parametrize("separator", [",", "\t"])
def test_byte_order_mark_crlf_and_blank_lines_are_not_data(tmp_path: Path, separator: str) -> None:
    text = "\ufeff\r\n" + TSV.replace("\t", separator).replace("\n", "\r\n\r\n") + "\n\n"
    assert facts(kg_of(tmp_path, {"a.csv" if separator == "," else "a.tsv": text})) == FACTS


def test_a_last_line_without_line_break_is_read(tmp_path: Path) -> None:
    assert facts(kg_of(tmp_path, {"a.tsv": TSV.rstrip("\n")})) == FACTS
    assert facts(kg_of(tmp_path, {"a.csv": CSV.rstrip("\n") + "\r"})) == FACTS


@pytest.mark.parametrize(
    "start", ["x^2", "x\x01", "xک", "\x1f", "#", " ", "\ufeffx", "\x00", "(µ/ý", "PAR1", "null", "-"]
)
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_file_may_start_with_any_id(tmp_path: Path, start: str, ending: str) -> None:
    line = "{},r,b\nc,r,d\n".replace(",", "," if ending == "csv" else "\t")
    expected = start.removeprefix("\ufeff")
    assert facts(kg_of(tmp_path, {f"a.{ending}": line.format(start)})) == {(expected, "r", "b"), ("c", "r", "d")}


def test_an_id_that_starts_with_a_byte_order_mark_keeps_it_inside_the_file(tmp_path: Path) -> None:
    assert facts(kg_of(tmp_path, {"a.tsv": "a\tr\tb\n\ufeffc\tr\td\n"})) == {("a", "r", "b"), ("\ufeffc", "r", "d")}


def test_an_unusual_first_line_is_reported_as_a_probable_header(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [f"e{i}\tr\te{i + 1}\n" for i in range(20)]
    kg_of(tmp_path, {"a.tsv": "from\tby\tto\n" + "".join(lines)})
    assert "looks like a header" in caplog.text
    caplog.clear()
    kg_of(tmp_path, {"a.tsv": "".join(lines)})
    assert not caplog.records


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_parquet_is_read_by_standard_column_names_in_any_order(tmp_path: Path, gz: str) -> None:
    rows = sorted(FACTS)
    table = pl.DataFrame({"extra": [1.5] * 3, "tail": [t for *_, t in rows], "head": [h for h, *_ in rows]})
    content = parquet(table.with_columns(Relation=pl.Series([r for _, r, _ in rows], dtype=pl.Categorical)))
    assert facts(kg_of(tmp_path, {f"a.parquet{gz}": gzip.compress(content) if gz else content})) == FACTS


def test_parquet_with_three_integer_columns_of_any_name_is_read(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [1, 2], "b": [0, 0], "c": [2, 10**12]})
    assert facts(kg_of(tmp_path, {"a.parquet": parquet(table)})) == {("1", "0", "2"), ("2", "0", "1000000000000")}


def test_unused_parquet_columns_may_have_any_type(tmp_path: Path) -> None:
    table = pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["b"]})
    extra = table.with_columns(numbers=pl.lit([1.0, 2.0]), pair=pl.struct(x=1), raw=pl.lit(b"\xff"))
    assert facts(kg_of(tmp_path, {"a.parquet": parquet(extra)})) == {("a", "r", "b")}


def test_parquet_in_several_blocks_is_read_completely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.readers.tables.PARQUET_ROWS", 3)
    table = pl.DataFrame({"head": range(10), "relation": ["r"] * 10, "tail": range(10, 20)})
    assert facts(kg_of(tmp_path, {"a.parquet": parquet(table)})) == {(str(i), "r", str(i + 10)) for i in range(10)}


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?"])
def test_parquet_files_are_found_under_names_with_wildcards(tmp_path: Path, name: str) -> None:
    table = pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["b"]})
    other = pl.DataFrame({"head": ["wrong"], "relation": ["r"], "tail": ["wrong"]})
    write_files(tmp_path, {"a1.parquet": parquet(other), "ab.parquet": parquet(other)})
    assert facts(kg_of(tmp_path, {f"{name}.parquet": parquet(table)})) == {("a", "r", "b")}


def test_an_error_after_a_header_and_blank_lines_names_the_right_line(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.csv": "head,relation,tail\n\nx,r,y\n\n\nx,,y\n", "b.tsv": "x\tr\ty\n"})
    with pytest.raises(multiea.InputError, match=r"a\.csv, line 6: an empty field"):
        multiea.load(tmp_path)
