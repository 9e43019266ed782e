"""Files of another kind than their name says: the error says what they are and what to do."""

from __future__ import annotations

import bz2
import lzma
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

from multiea.data.readers import HINTS
from support.bad_input import assert_says, refusal
from support.command_line import invoke, refused
from support.datasets import parquet, write_files
from support.records import excel

OTHER = "id,name\nx1,Faust\nx2,Woyzeck\n"
TABLE = "id;name;born\n1;Anna;1950\n2;Bea;1951\n"


def zipped(text: str) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", text)
    return buffer.getvalue()


NOISE = bytes(np.random.default_rng(0).integers(0, 256, 2000, dtype=np.uint8)).replace(b"\n", b"")
KINDS = [
    (excel(("s", [["id", "name"], ["1", "Anna"]])), "not text but an Excel file", ".xlsx"),
    (zipped(TABLE), "not text but a zip archive", "Add .zip to its name"),
    (parquet(pl.DataFrame({"id": ["1"], "name": ["Anna"]})), "not text but a Parquet table", "end in .parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + NOISE, "not text but an old Excel", "Save it as .xlsx"),
    (lzma.compress(TABLE.encode()), "compressed with xz", "Unpack it"),
    (bz2.compress(TABLE.encode()), "compressed with bzip2", "Unpack it"),
    (NOISE, "not text but binary data", "Save it as text"),
]


@pytest.mark.parametrize(("content", "found", "hint"), KINDS, ids=[found for _, found, _ in KINDS])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.ttl", "a.nt", "a.owl", "seeds.csv"])
def test_a_file_of_another_kind_is_named(tmp_path: Path, name: str, content: bytes, found: str, hint: str) -> None:
    message = refusal(tmp_path, {"b.csv": OTHER, "c.csv": OTHER, name: content})
    assert_says(message, tmp_path / name, found, hint)
    assert "iconv" not in message


def test_text_in_latin_1_is_still_told_how_to_convert_it(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"b.csv": OTHER, "a.csv": "id,name\n1,Büchner\n".encode("latin-1")})
    assert_says(message, "line 2: not UTF-8 (byte 0xfc)", "iconv -f latin1")


def test_lines_that_end_in_carriage_returns_are_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"b.csv": OTHER, "a.csv": TABLE.replace("\n", "\r")})
    assert_says(message, "a.csv, line 1: lines that end in a carriage return only", r"tr '\r' '\n'")


@pytest.mark.parametrize(("name", "hint"), [("b.xls", "save the .xls file as .xlsx"), ("b.ods", "Save the .ods file")])
def test_spreadsheets_that_are_not_read_are_told_what_to_save_them_as(tmp_path: Path, name: str, hint: str) -> None:
    folder = write_files(tmp_path, {"a.csv": OTHER, name: b"\xd0\xcf\x11\xe0"})
    outcome = invoke("inspect", folder)
    assert outcome.code == 2
    assert outcome.stderr.count(hint) == 2  # in the warning about the file and in the error
    assert hint in refused("inspect", folder / "a.csv", folder / name)
    assert {".json", ".xls"} <= set(HINTS)
