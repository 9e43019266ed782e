"""Invalid OpenEA and DBP15K folders are refused with an error that names the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.bad_input import (
    DBP15K,
    OPENEA,
    OTHER,
    assert_says,
    refusal,
)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"triples_1": "0\t7\t1\n0\t7\t9\n"},
            ["triples_1, line 2: unknown entity id 9 (1 such case)", "expected ids from"],
        ),
        (
            {"rel_ids_1": "6\tp\n"},
            ["triples_1, line 1: unknown relation id 7", "expected ids from the relation ids file"],
        ),
        ({"ref_ent_ids": "0\t2\n1\t9\n"}, ["ref_ent_ids, line 2: unknown entity id 9"]),
        ({"ref_ent_ids": "0\t2\n0\t3\n"}, ["ref_ent_ids: entity 'zh a' of KG 'zh' is in two groups (lines 1 and 2"]),
        ({"ent_ids_1": "0\tzh a\n0\tzh b\n1\tc\n"}, ["ent_ids_1", "the id 0 appears twice", "expected each id once"]),
        ({"ent_ids_1": ""}, ["ent_ids_1: the file is empty", "expected an id and a name in every line"]),
        ({"ent_ids_1": "0\tzh a\n1\n"}, ["ent_ids_1, line 2: 1 field", "expected 2"]),
        ({"ent_ids_1": "0\tzh\ta\n"}, ["ent_ids_1, line 1: 3 fields", "expected 2"]),
        ({"triples_1": "0\t7\n"}, ["triples_1, line 1: 2 fields", "expected 3"]),
        ({"triples_1": "0\t7\t1\n0\t\t1\n"}, ["triples_1, line 2: an empty field", "expected 3 fields, none empty"]),
        ({"ent_ids_1": "0\tzh a\n1\t\n"}, ["ent_ids_1, line 2: an empty field", "expected 2 fields, none empty"]),
        ({"ref_ent_ids": b"\xff"}, ["ref_ent_ids, line 1: not UTF-8"]),
    ],
)
def test_an_invalid_dbp15k_folder_is_named(tmp_path: Path, files: dict[str, str | bytes], words: list[str]) -> None:
    assert_says(refusal(tmp_path / "zh_en", {**DBP15K, **files}), tmp_path / "zh_en", *words)


@pytest.mark.parametrize("missing", ["ent_ids_2", "triples_2", "ref_ent_ids"])
def test_a_missing_file_of_a_dbp15k_folder_is_named(tmp_path: Path, missing: str) -> None:
    message = refusal(tmp_path / "zh_en", {name: text for name, text in DBP15K.items() if name != missing})
    assert_says(message, tmp_path / "zh_en", missing)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"rel_triples_1": "a\tr\n"}, ["rel_triples_1, line 1: 2 fields", "expected 3"]),
        ({"rel_triples_1": "a\tr\tb\na\tr\n"}, ["rel_triples_1, line 2: 2 fields", "expected 3"]),
        ({"rel_triples_1": "a\tr\tb\n\na\t\tb\n"}, ["rel_triples_1, line 3: an empty field", "none empty"]),
        ({"ent_links": "a\tx\nb\tno\n"}, ["ent_links: 1 entity in the groups is not in the KG: 'no' (en, line 2)"]),
        ({"ent_links": "a\tx\n\na\ty\n"}, ["ent_links: entity 'a' of KG 'zh' is in two groups (lines 1 and 3"]),
        ({"ent_links": "a\tx\ty\n"}, ["ent_links, line 1: 3 fields", "expected 2"]),
    ],
)
def test_an_invalid_openea_folder_is_named(tmp_path: Path, files: dict[str, str | bytes], words: list[str]) -> None:
    assert_says(refusal(tmp_path / "zh_en", {**OPENEA, **files}), tmp_path / "zh_en", *words)


def test_an_error_in_a_gzipped_pair_file_names_the_gzipped_file(tmp_path: Path) -> None:
    files = {"rel_triples_1.gz": "a\tr\n", "rel_triples_2": OTHER, "ent_links": ""}
    assert_says(refusal(tmp_path / "zh_en", files), tmp_path / "zh_en" / "rel_triples_1.gz", "2 fields")


@pytest.mark.parametrize("missing", ["rel_triples_2", "ent_links"])
def test_a_missing_file_of_an_openea_folder_is_named(tmp_path: Path, missing: str) -> None:
    message = refusal(tmp_path / "zh_en", {name: text for name, text in OPENEA.items() if name != missing})
    assert_says(message, f"{tmp_path / 'zh_en' / missing}: no such file", "Check that the folder is complete")
