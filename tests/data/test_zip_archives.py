"""Zip archives: one file inside is read like that file, a whole data set like its folder."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea.foundation.errors import MultiEAError
from support.bad_input import assert_says
from support.datasets import facts, named, parquet, write_files
from support.reading import FACTS, TSV, kg_of

FILES: dict[str, str | bytes] = {"en.tsv": TSV, "fr.tsv": "x\tr\ty\n", "seeds.tsv": "en\tfr\nOslo\tx\n"}


def zipped(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def refusal_of(source: Path | list[Path]) -> str:
    with pytest.raises(MultiEAError) as caught:
        multiea.load(source)
    return str(caught.value)


@pytest.mark.parametrize("name", ["a.zip", "a.tsv.zip"])
def test_a_zip_with_one_file_is_read_like_that_file(tmp_path: Path, name: str) -> None:
    content = zipped({"inner/data.tsv": TSV, "__MACOSX/._data.tsv": b"\0", "inner/.DS_Store": b"\0"})
    assert facts(kg_of(tmp_path, {name: content})) == FACTS


def test_parquet_in_a_zip_is_read(tmp_path: Path) -> None:
    table = pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["b"]})
    assert facts(kg_of(tmp_path, {"a.zip": zipped({"x.parquet": parquet(table)})})) == {("a", "r", "b")}


def test_a_folder_may_have_zipped_kgs_and_groups(tmp_path: Path) -> None:
    packed: dict[str, str | bytes] = {
        name.replace(".tsv", ".zip"): zipped({name: content}) for name, content in FILES.items()
    }
    task = multiea.load(write_files(tmp_path, packed))
    assert task.kg_names == ("en", "fr")
    assert len(task.seeds) == 1


@pytest.mark.parametrize("inside", ["", "data/", "deep/er/"])
@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_an_archive_of_a_data_set_is_read_like_its_folder(tmp_path: Path, inside: str, ending: str) -> None:
    path = tmp_path / f"places{ending}"
    files = {inside + name: content for name, content in FILES.items()}
    if ending == ".zip":
        path.write_bytes(zipped(files))
    else:
        with tarfile.open(path, "w:gz") as tar:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(str(content).encode())
                tar.addfile(info, io.BytesIO(str(content).encode()))
    task = multiea.load(path)
    folder = multiea.load(write_files(tmp_path / "places", FILES))
    assert [facts(kg) for kg in task.kgs] == [facts(kg) for kg in folder.kgs]
    assert named(task.seeds, task) == named(folder.seeds, folder)
    assert task.origin.data.source == (str(path),)
    if not inside:
        assert task.name == "places"


def test_an_error_inside_an_archive_names_the_archive_and_the_file(tmp_path: Path) -> None:
    path = tmp_path / "places.zip"
    path.write_bytes(zipped({**FILES, "en.tsv": "a\tr\tb\na\tr\n"}))
    assert_says(refusal_of(path), f"{path}/en.tsv, line 2: 2 fields")


@pytest.mark.parametrize("name", ["../evil.tsv", "/tmp/evil.tsv", "a/../../evil.tsv"])
def test_files_outside_of_an_archive_are_refused_and_not_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / "places.zip"
    path.write_bytes(zipped({**FILES, name: "a\tr\tb\n"}))
    assert_says(refusal_of(path), f"{path}: a file outside of the archive: {name}")


def test_a_small_archive_of_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.archives.ALWAYS_UNPACKED", 1 << 20)
    path = tmp_path / "places.zip"
    path.write_bytes(zipped({**FILES, "de.tsv": "a\tr\tb\n" * (3 << 20)}))
    assert_says(refusal_of(path), f"{path}: an archive that unpacks to more than 200 times its size", "unpack it")


def test_a_zip_of_several_files_is_no_kg(tmp_path: Path) -> None:
    write_files(tmp_path, {"en.zip": zipped({"a.tsv": TSV, "b.tsv": TSV}), "fr.tsv": TSV})
    message = refusal_of([tmp_path / "en.zip", tmp_path / "fr.tsv"])
    assert_says(message, f"{tmp_path / 'en.zip'}: a zip archive of 2 files (a.tsv, b.tsv)", "named alone")


@pytest.mark.parametrize("content", [b"", b"no zip", zipped({"a.tsv": TSV})[:-30]])
def test_a_damaged_zip_is_named(tmp_path: Path, content: bytes) -> None:
    write_files(tmp_path, {"en.zip": content, "fr.tsv": TSV})
    assert_says(refusal_of([tmp_path / "en.zip", tmp_path / "fr.tsv"]), f"{tmp_path / 'en.zip'}: not a readable zip")
    assert_says(refusal_of(tmp_path / "en.zip"), str(tmp_path / "en.zip"), "archive")


def test_a_zip_with_a_wrong_checksum_is_named(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.tsv", TSV)
    damaged = buffer.getvalue().replace(b"Bergen", b"Xergen", 1)
    write_files(tmp_path, {"en.zip": damaged, "fr.tsv": TSV})
    message = refusal_of([tmp_path / "en.zip", tmp_path / "fr.tsv"])
    assert_says(message, f"{tmp_path / 'en.zip'}: the zip data is cut off or damaged")


def test_a_zip_of_an_unknown_format_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"en.zip": zipped({"a.docx": b"x"}), "fr.tsv": TSV})
    assert_says(refusal_of([tmp_path / "en.zip", tmp_path / "fr.tsv"]), f"{tmp_path / 'en.zip'}: unknown format")
