"""OpenEA and DBP15K folders are read in their original layout."""

from __future__ import annotations

from pathlib import Path

import pytest

import multiea
from support.datasets import facts, group, named, write_files
from support.reading import FACTS, FRENCH, TSV, load_with


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_an_openea_folder_is_read_in_place(tmp_path: Path, gz: str) -> None:
    files = {f"rel_triples_1{gz}": TSV, f"rel_triples_2{gz}": FRENCH, f"ent_links{gz}": "Oslo\tOslo\nNorway\tNorvège\n"}
    task = load_with(tmp_path / "EN_FR_15K_V1", files)
    assert task.name == "EN_FR_15K_V1"
    assert task.kg_names == ("EN", "FR")
    assert facts(task.kgs[0]) == FACTS
    assert named(task.known, task) == {group(EN="Oslo", FR="Oslo"), group(EN="Norway", FR="Norvège")}


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_fold_of_an_openea_folder_keeps_its_split(tmp_path: Path, gz: str) -> None:
    fold = "721_5fold/1/"
    files = {"rel_triples_1": TSV, "rel_triples_2": FRENCH, "ent_links": "Oslo\tOslo\n"}
    files |= {f"{fold}train_links{gz}": "Oslo\tOslo\n", f"{fold}valid_links{gz}": "country\tpays\n"}
    files |= {f"{fold}test_links{gz}": "Norway\tNorvège\n"}
    task = multiea.load(write_files(tmp_path / "EN_FR", files) / fold)
    assert task.kg_names == ("EN", "FR")
    assert named(task.seeds, task) == {group(EN="Oslo", FR="Oslo")}
    assert named(task.validation, task) == {group(EN="country", FR="pays")}
    assert named(task.held_out, task) == {group(EN="Norway", FR="Norvège")}


def test_an_openea_folder_is_found_from_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"rel_triples_1": TSV, "rel_triples_2": FRENCH, "ent_links": "Oslo\tOslo\n", "721_5fold/1/train_links": ""}
    write_files(tmp_path / "EN_FR", files)
    monkeypatch.chdir(tmp_path / "EN_FR")
    assert (multiea.load(".").name, multiea.load(".").kg_names) == ("EN_FR", ("EN", "FR"))
    assert multiea.load("721_5fold/1").kg_names == ("EN", "FR")


DBP15K = {
    "ent_ids_1": "0\thttp://zh/a\n1\thttp://zh/b\n4\thttp://zh/alone\n",
    "ent_ids_2": "2\thttp://en/a\n3\thttp://en/b\n5\thttp://en/c\n",
    "triples_1": "0\t7\t1\n",
    "triples_2": "2\t8\t3\n3\t8\t5\n",
}
RELATION_IDS = {"rel_ids_1": "7\thttp://zh/p\n", "rel_ids_2": "8\thttp://en/p\n"}


def gzipped(files: dict[str, str], gz: str) -> dict[str, str | bytes]:
    return {f"{name}{gz}": content for name, content in files.items()}


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_dbp15k_folder_is_read_in_place(tmp_path: Path, gz: str) -> None:
    links = {"ref_ent_ids": "0\t2\n1\t3\n"}
    task = load_with(tmp_path / "zh_en", gzipped(DBP15K | RELATION_IDS | links, gz))
    assert task.name == "zh_en"
    assert task.kg_names == ("zh", "en")
    assert facts(task.kgs[0]) == {("http://zh/a", "http://zh/p", "http://zh/b")}
    assert set(task.kgs[0].entities) == {"http://zh/a", "http://zh/b", "http://zh/alone"}
    assert facts(task.kgs[1]) == {
        ("http://en/a", "http://en/p", "http://en/b"),
        ("http://en/b", "http://en/p", "http://en/c"),
    }
    assert named(task.known, task) == {
        group(zh="http://zh/a", en="http://en/a"),
        group(zh="http://zh/b", en="http://en/b"),
    }


def test_dbp15k_relations_without_names_keep_their_numbers(tmp_path: Path) -> None:
    task = load_with(tmp_path / "zh_en", {**DBP15K, "ref_ent_ids": "0\t2\n"})
    assert facts(task.kgs[0]) == {("http://zh/a", "7", "http://zh/b")}


def test_dbp15k_seeds_are_those_of_sup_ent_ids(tmp_path: Path) -> None:
    task = load_with(tmp_path / "zh_en", {**DBP15K, "ref_ent_ids": "0\t2\n", "sup_ent_ids": "1\t3\n4\t5\n"})
    assert named(task.held_out, task) == {group(zh="http://zh/a", en="http://en/a")}
    assert named(task.seeds, task) == {
        group(zh="http://zh/b", en="http://en/b"),
        group(zh="http://zh/alone", en="http://en/c"),
    }


def test_numbered_folders_of_dbp15k_take_kg_names_from_the_parent_folder(tmp_path: Path) -> None:
    task = load_with(tmp_path / "zh_en" / "0_3", {**DBP15K, "ref_ent_ids": "0\t2\n"})
    assert task.kg_names == ("zh", "en")


def test_the_location_of_a_pair_benchmark_does_not_change_it(tmp_path: Path) -> None:
    files = {"rel_triples_1": "a\tr\tb\n", "rel_triples_2": "x\tr\ty\n", "ent_links": "a\tx\nb\ty\n"}
    names = {}
    for place in ("plain/x", "john_doe/x", "zh_en/mapping/0_3", "EN_FR_15K_V1"):
        names[place] = multiea.load(write_files(tmp_path / place, files)).kg_names
    assert names == {
        "plain/x": ("kg1", "kg2"),
        "john_doe/x": ("kg1", "kg2"),
        "zh_en/mapping/0_3": ("zh", "en"),
        "EN_FR_15K_V1": ("EN", "FR"),
    }
