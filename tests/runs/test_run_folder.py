"""A run folder leads back to the data set it was made from, and to the same alignment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import Enhancement, InputError, Task
from multiea.data.synthetic import Synthesis, write_synthetic
from support.command_line import Outcome, invoke, succeeds
from support.datasets import assert_same_kg


def fails(*words: object) -> str:
    """The message of a command that exits with code 2."""
    outcome: Outcome = invoke(*words, "--no-progress")
    assert outcome.code == 2, outcome.output
    return outcome.stderr


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a data set and a run made from it."""
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=100, relations=10), tmp_path / "data")
    succeeds("align", tmp_path / "data", "--out", tmp_path / "run")
    return tmp_path


def test_a_run_finds_the_triples_of_its_data_set_from_any_folder(
    three_kgs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    for path in three_kgs.iterdir():
        (tmp_path / "data" / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    succeeds("align", "data", "--out", "run")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    alignment = multiea.open(tmp_path / "run", with_triples=True)
    for kg, expected in zip(alignment.task.kgs, multiea.load(tmp_path / "data").kgs, strict=True):
        assert_same_kg(kg, expected)
    with (tmp_path / "data" / "kg2.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    with pytest.raises(InputError, match="has changed since the run: kg2"):
        multiea.open(tmp_path / "run", with_triples=True)


def test_a_data_set_that_has_moved_is_found_with_data(made: Path) -> None:
    (made / "data").rename(made / "moved")
    export = ["export", made / "run", "--to", "merged", "--out", made / "merged.nq"]
    assert "name its place with --data" in fails(*export)
    succeeds(*export, "--data", made / "moved")
    files = [made / "moved" / f"kg{number}.tsv" for number in (1, 2)]
    expected = multiea.load(made / "moved").kgs
    for place in (made / "moved", files):
        for kg, other in zip(multiea.open(made / "run", with_triples=True, data=place).task.kgs, expected, strict=True):
            assert_same_kg(kg, other)
    page = ["report", made / "run", "--out", made / "page.html"]
    assert "without the triples" in succeeds(*page).stdout
    assert "without the triples" not in succeeds(*page, "--force", "--data", made / "moved").stdout
    assert "nowhere" in fails(*page, "--force", "--data", made / "nowhere")
    sssom = ["export", made / "run", "--to", "sssom", "--out", made / "s.tsv"]
    assert "--data has no effect with --to sssom; it is for --to merged, networkx, pyg" in fails(
        *sssom, "--data", made / "moved"
    )


@pytest.mark.parametrize("name", ["seeds.tsv", "groups.tsv"])
def test_a_run_that_has_lost_lines_is_refused(made: Path, name: str) -> None:
    path = made / "run" / name
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))
    for words in (["evaluate", made / "run"], ["export", made / "run", "--to", "groups", "--out", made / "g.csv"]):
        assert f"{path}: damaged or changed" in fails(*words)
    path.unlink()
    assert name in fails("evaluate", made / "run")


def test_a_users_own_files_in_a_run_folder_stay_when_it_is_replaced(made: Path) -> None:
    (made / "run" / "sub").mkdir()
    for place in ("notes.txt", "merged.parquet", "sub/more.txt"):
        (made / "run" / place).write_text("mine")
    (made / "run" / "report.html").write_text("of the previous run")
    message = succeeds("align", made / "data", "--out", made / "run", "--force").stderr
    assert "kept in" in message
    assert "merged.parquet, notes.txt, sub" in " ".join(message.split())
    for place in ("notes.txt", "merged.parquet", "sub/more.txt"):
        assert (made / "run" / place).read_text() == "mine"
    assert not (made / "run" / "report.html").exists()


def test_a_grown_run_whose_data_has_moved_needs_every_place(made: Path) -> None:
    pl.DataFrame({"kg1": ["kg1:0", "kg1:1"], "new": ["x", "y"]}).write_csv(made / "links.csv")
    (made / "new.tsv").write_text("x\tr\ty\ny\tr\tz\n")
    succeeds("add", made / "run", made / "new.tsv", "--seeds", made / "links.csv", "--out", made / "run3")
    for to, name in (("merged", "m.nq"), ("same-as", "l.nt")):
        message = fails("export", made / "run3", "--to", to, "--out", made / "data" / name)
        assert "is in the folder of the data set and would be read with it" in message
    (made / "data").rename(made / "moved")
    (made / "new.tsv").rename(made / "moved.tsv")
    export = ["export", made / "run3", "--to", "merged", "--out", made / "m.nq"]
    message = fails(*export, "--data", made / "moved")
    assert "expected 2: the data set of the first run, then the file of each KG that was added" in message
    (made / "elsewhere").mkdir()
    (made / "moved.tsv").rename(made / "elsewhere" / "new.tsv")
    succeeds(*export, "--data", made / "moved", "--data", made / "elsewhere" / "new.tsv")


def test_nothing_is_exported_to_the_folder_of_the_data_set(made: Path) -> None:
    for to, name in (("merged", "merged.parquet"), ("same-as", "links.nt"), ("groups", "found.tsv")):
        message = fails("export", made / "run", "--to", to, "--out", made / "data" / name)
        assert "is in the folder of the data set and would be read with it" in message
    assert multiea.load(made / "data").kg_names == ("kg1", "kg2")


def test_a_run_of_a_task_made_in_python_does_not_know_its_triples(small: Task, tmp_path: Path) -> None:
    multiea.align(Task(small.kgs, small.seeds, small.held_out)).save(tmp_path / "run")
    with pytest.raises(InputError, match=r"in memory, which it does not record.*--data \(data=\)"):
        multiea.open(tmp_path / "run", with_triples=True)


def test_a_run_of_a_loaded_task_knows_its_triples(small: Task, tmp_path: Path) -> None:
    multiea.align(small).save(tmp_path / "run")
    for kg, expected in zip(multiea.open(tmp_path / "run", with_triples=True).task.kgs, small.kgs, strict=True):
        assert_same_kg(kg, expected)


def test_the_confidences_of_pairs_survive_the_run_folder(small: Task, tmp_path: Path) -> None:
    alignment = multiea.align(small)
    alignment.save(tmp_path / "run")
    again = multiea.open(tmp_path / "run")
    np.testing.assert_allclose(again.found.pair_confidence, alignment.found.pair_confidence)
    np.testing.assert_array_equal(again.found.matched, alignment.found.matched)
    assert again.pairs.columns == alignment.pairs.columns
    order = ["group_id", "left_kg", "right_kg"]
    assert again.pairs.sort(order).equals(alignment.pairs.sort(order))


def test_the_matched_pairs_of_a_group_link_its_members(small: Task) -> None:
    alignment = multiea.align(small)
    pairs = alignment.pairs.filter(pl.col("status") == "found")
    sizes = alignment.found.groups.sizes
    assert len(pairs) == (sizes * (sizes - 1) // 2).sum()
    matched = pairs.filter("matched").group_by("group_id").len()
    of_groups = alignment.groups.filter(pl.col("status") == "found").group_by("group_id").len("members")
    together = of_groups.join(matched, on="group_id")
    assert len(together) == len(of_groups)
    linked = together["len"] >= together["members"] - 1
    assert linked.sum() > 0.95 * len(linked)  # a dropped member may have been the link
    assert pairs["matched"].any()
    assert not pairs["matched"].all()
    assert pairs["confidence"].is_between(0, 1).all()


@pytest.mark.parametrize("enhancement", ["none", "sharpened", Enhancement("none"), Enhancement("sharpened")])
def test_an_opened_run_compares_entities_as_before(small: Task, tmp_path: Path, enhancement: str | Enhancement) -> None:
    alignment = multiea.align(small, enhancement=enhancement, bootstrap="none")
    alignment.save(tmp_path / "run")
    again = multiea.open(tmp_path / "run")
    assert again.settings == alignment.settings
    assert again.evaluate()["m_hits"] == alignment.evaluate()["m_hits"]
