"""Missing, empty or damaged files are refused with an error that names the file."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

import multiea
from multiea.foundation.errors import MultiEAError
from support.bad_input import (
    GOOD,
    NT,
    OPENEA,
    OTHER,
    SSSOM_HEADER,
    TSV,
    XML,
    assert_says,
    refusal,
)
from support.datasets import write_files


def test_a_missing_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / "nowhere")
    assert_says(str(caught.value), tmp_path / "nowhere", "no data set", "expected a folder", "world", "Check")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    with pytest.raises(MultiEAError) as caught:
        multiea.load([tmp_path / "en.tsv", tmp_path / "de.tsv"])
    assert_says(str(caught.value), f"{tmp_path / 'de.tsv'}: no such file", "Check the spelling")


def test_a_missing_file_of_dataset_toml_is_named(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = "en.tsv"\n[kgs.fr]\nfile = "gone.nt"\n'
    assert_says(refusal(tmp_path, {**GOOD, "dataset.toml": toml}), f"{tmp_path / 'gone.nt'}: no such file")


def test_a_missing_dataset_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(MultiEAError, match="no such file") as caught:
        multiea.load(tmp_path / "my.toml")
    assert_says(str(caught.value), tmp_path / "my.toml")


def test_missing_seeds_are_named(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    with pytest.raises(MultiEAError, match="no such file") as caught:
        multiea.load(tmp_path, seeds=tmp_path / "links.tsv")
    assert_says(str(caught.value), tmp_path / "links.tsv")


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MultiEAError):
        multiea.load(tmp_path / ("a" * 300))
    toml = f'[kgs.en]\nfile = "{"a" * 300}.tsv"\n[kgs.fr]\nfile = "fr.tsv"\n'
    assert_says(refusal(tmp_path, {**GOOD, "dataset.toml": toml}), "aaa.tsv")


def test_a_single_file_is_refused_as_data_set(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    for source in (tmp_path / "en.tsv", [tmp_path / "en.tsv"]):
        with pytest.raises(MultiEAError, match="a single file is not a data set") as caught:
            multiea.load(source)
        assert_says(str(caught.value), tmp_path / "en.tsv", "expected at least two KGs")


@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.nt", "en.nt.gz", "en.parquet", "en.rdf"])
def test_a_folder_where_a_file_is_expected_is_named(tmp_path: Path, name: str) -> None:
    toml = f'[kgs.en]\nfile = "{name}"\n[kgs.fr]\nfile = "fr.tsv"\n'
    message = refusal(tmp_path, {f"{name}/inside.tsv": TSV, "fr.tsv": OTHER, "dataset.toml": toml})
    assert_says(message, f"{tmp_path / name}: this is a folder", "expected a file")


@pytest.mark.parametrize("folder", ["dataset.toml", "my.toml"])
def test_a_folder_instead_of_a_toml_file_is_named(tmp_path: Path, folder: str) -> None:
    write_files(tmp_path / folder, {"inside.txt": "x"})
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / folder)
    assert_says(str(caught.value), tmp_path / folder)


@pytest.mark.parametrize("empty", ["", "\n", "\r\n\n", "\ufeff"])
@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.tsv.gz"])
def test_an_empty_table_is_named(tmp_path: Path, name: str, empty: str) -> None:
    message = refusal(tmp_path, {name: empty, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: KG 'en' is empty", "expected at least one triple")


@pytest.mark.parametrize("name", ["en.nt", "en.nq", "en.ttl", "en.nt.gz"])
def test_empty_rdf_is_named(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {name: "# nothing\n", "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: KG 'en' is empty", "expected at least one triple")


def test_a_file_with_only_a_header_is_an_empty_kg(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.csv": "head,relation,tail\n", "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}: KG 'en' is empty")


def test_an_empty_kg_of_a_pair_benchmark_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path / "zh_en", {**OPENEA, "rel_triples_2": ""})
    assert_says(message, tmp_path / "zh_en" / "rel_triples_2", "KG 'en' is empty", "expected at least one triple")


@pytest.mark.parametrize("name", ["en.doc", "en", "en.json.gz", ".tsv"])
def test_an_unknown_format_is_named_with_the_known_ones(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {name: TSV, "fr.tsv": OTHER})
    with pytest.raises(MultiEAError) as caught:
        multiea.load([tmp_path / name, tmp_path / "fr.tsv"])
    assert_says(
        str(caught.value), f"{tmp_path / name}: unknown format", "expected a name ending in", ".tsv", ".nt", ".gz"
    )


def test_a_file_of_mappings_without_a_role_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "mappings.sssom.tsv": SSSOM_HEADER})
    assert_says(message, "mappings.sssom.tsv")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such file names")
def test_a_file_name_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    (tmp_path / os.fsdecode(b"\xff.tsv")).write_text(TSV)
    with pytest.raises(MultiEAError):
        multiea.load(tmp_path)


LONG_TEXTS = {
    "en.tsv.gz": "".join(f"a{i}\tr\tb{i}\n" for i in range(500)),
    "en.csv.gz": "".join(f"a{i},r,b{i}\n" for i in range(500)),
    "en.nt.gz": "".join(NT.replace("/a>", f"/{i}>") for i in range(500)),
    "en.nq.gz": "".join(NT.replace("/a>", f"/{i}>") for i in range(500)),
    "en.ttl.gz": "".join(NT.replace("/a>", f"/{i}>") for i in range(500)),
    "en.rdf.gz": XML
    + "".join(f"<rdf:Description><x:p>{i}</x:p></rdf:Description>\n" for i in range(500))
    + "</rdf:RDF>",
    "en.parquet.gz": "PAR1" + "".join(map(str, range(500))),
}


@pytest.mark.parametrize("name", LONG_TEXTS)
@pytest.mark.parametrize("keep", [5, 0.5, -4])
def test_truncated_gzip_is_named(tmp_path: Path, name: str, keep: float) -> None:
    packed = gzip.compress(LONG_TEXTS[name].encode())
    cut = packed[: int(len(packed) * keep) if isinstance(keep, float) else keep]
    message = refusal(tmp_path, {name: cut, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: the gzip data is cut off or damaged", "again")


@pytest.mark.parametrize("name", ["en.tsv.gz", "en.nt.gz", "en.rdf.gz", "en.parquet.gz"])
def test_a_file_named_gz_that_is_not_gzipped_is_named(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {name: TSV.encode(), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: the name ends in .gz but the file is not gzipped", "Rename it")


@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.nt", "en.nq", "en.ttl", "en.rdf"])
def test_a_gzipped_file_without_gz_in_its_name_is_named(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {name: gzip.compress(TSV.encode()), "fr.tsv": OTHER})
    assert_says(message, tmp_path / name, "It looks gzipped: add .gz to its name")


def test_data_after_the_end_of_gzip_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.tsv.gz": gzip.compress(TSV.encode()) + b"junk", "fr.tsv": OTHER})
    assert_says(message, tmp_path / "en.tsv.gz")
