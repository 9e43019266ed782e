"""The command `multiea add`: runs that grow from each other, and the cases it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.write import write_groups
from support.datasets import assert_same_kg, named
from support.parting import parted


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words if word is not None])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs over two, three and four KGs, each grown from the one before, and the data they were made from."""
    folder = tmp_path_factory.mktemp("adding")
    (folder / "all").mkdir()
    write_synthetic(Synthesis(kgs=4, entities=200, relations=10, overlap=0.8), folder / "all")
    task = multiea.load(folder / "all")
    three = parted(task, 3)
    two = parted(three.before, 2)
    (folder / "data").mkdir()
    for one in two.before.kgs:
        shutil.copy(folder / "all" / f"{one.name}.tsv", folder / "data")
    write_groups(two.before.seeds, two.before.kgs, folder / "data" / "seeds.tsv")
    write_groups(two.before.held_out, two.before.kgs, folder / "data" / "held_out.tsv")
    for part, number in ((two, 3), (three, 4)):
        kgs = (*part.before.kgs, part.kg)
        write_groups(part.seeds, kgs, folder / f"seeds{number}.tsv")
        write_groups(part.held_out, kgs, folder / f"held_out{number}.tsv")
        shutil.copy(folder / "all" / f"kg{number}.tsv", folder)
    run("align", folder / "data", "--out", folder / "run2", "--no-progress")
    for number in (3, 4):
        known = ["--seeds", folder / f"seeds{number}.tsv", "--held-out", folder / f"held_out{number}.tsv"]
        place = ["--out", folder / f"run{number}", "--no-progress"]
        run("add", folder / f"run{number - 1}", folder / f"kg{number}.tsv", *known, *place)
    return folder


def test_runs_can_be_grown_repeatedly_and_opened_with_all_triples(folder: Path) -> None:
    task = multiea.load(folder / "all")
    opened = multiea.open(folder / "run4", with_triples=True)
    assert opened.task.kg_names == task.kg_names
    for one, expected in zip(opened.task.kgs, task.kgs, strict=True):
        assert_same_kg(one, expected)
    assert named(opened.task.seeds, opened.task) == named(task.seeds, task)
    assert named(opened.task.held_out, opened.task) == named(task.held_out, task)
    ids = [set(multiea.open(folder / f"run{number}").groups["group_id"]) for number in (2, 3, 4)]
    assert len(ids[0] & ids[2]) > 0.5 * len(ids[0])
    assert (folder / "run4" / "lineage.tsv").is_file()


def test_a_grown_run_can_be_repeated_from_its_settings(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("align", "--config", folder / "run4", "--out", "again", "--no-progress")
    opened, again = multiea.open(folder / "run4"), multiea.open("again")
    assert again.fingerprint == opened.fingerprint
    assert again.groups["group_id"].to_list() == opened.groups["group_id"].to_list()
    assert (tmp_path / "again" / "config.toml").read_text() == (folder / "run4" / "config.toml").read_text()


def test_a_new_kg_may_have_another_name_than_its_file(folder: Path, tmp_path: Path) -> None:
    table = pl.read_csv(folder / "seeds3.tsv", separator="\t").rename({"kg3": "other"})
    table.write_csv(tmp_path / "seeds.tsv", separator="\t")
    words = ["--name", "other", "--seeds", tmp_path / "seeds.tsv", "--no-progress"]
    run("add", folder / "run2", folder / "kg3.tsv", *words, "--out", tmp_path / "run")
    opened = multiea.open(tmp_path / "run", with_triples=True)
    assert opened.task.kg_names == ("kg1", "kg2", "other")
    shown = run("report", tmp_path / "run", "--out", tmp_path / "page.html", "--no-progress")
    assert "page.html" in shown
    assert f"<span>--config {tmp_path / 'run'}</span>" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["RUN/data", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv"], "expected a run folder"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv", "--name", "kg1"], "already has a KG named 'kg1'"),
        (["RUN/run3", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv"], "already has a KG named 'kg3'"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/data/seeds.tsv"], "no seed has a member in the new KG 'kg3'"),
        (["RUN/run2", "RUN/kg3.what", "--seeds", "RUN/seeds3.tsv"], "unknown format"),
        (["RUN/run2", "RUN/none.tsv", "--seeds", "RUN/seeds3.tsv"], "no such file"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds4.tsv"], "'kg4', which is not a KG"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv", "--held-out", "RUN/seeds3.tsv"], "is in two groups"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv", "--device", "gpu"], "unknown device 'gpu'"),
    ],
)
def test_errors_are_one_line_and_write_nothing(folder: Path, tmp_path: Path, words: list[str], message: str) -> None:
    (folder / "kg3.what").touch()
    words = [word.replace("RUN", str(folder)) for word in words]
    output = run("add", *words, "--out", tmp_path / "out", "--no-progress", code=2)
    (line,) = [line for line in output.splitlines() if not line.startswith("warning")]
    assert message in line
    assert not list(tmp_path.iterdir())


def test_a_run_of_tables_is_told_to_be_aligned_again(tmp_path: Path) -> None:
    table = "id,name\n" + "".join(f"{row},{name}\n" for row, name in enumerate(["Oslo", "Bergen", "Lyon", "Graz"]))
    for kg in ("a", "b", "c"):
        (tmp_path / f"{kg}.csv").write_text(table)
    (tmp_path / "seeds.tsv").write_text("a\tc\n1\t1\n")
    run("align", tmp_path / "a.csv", tmp_path / "b.csv", "--out", tmp_path / "run", "--no-progress")
    words = [tmp_path / "run", tmp_path / "c.csv", "--seeds", tmp_path / "seeds.tsv", "--out", tmp_path / "run2"]
    output = run("add", *words, "--no-progress", code=2)
    assert "tables without triples, and a KG is added by structure alone; expected KGs with triples" in output
    assert "the old groups keep their ids: multiea align DATASET --previous RUN --out RUN2" in output
    assert "with_triples" not in output


def test_a_run_that_others_grow_from_is_not_overwritten(folder: Path) -> None:
    words = ["--seeds", folder / "seeds4.tsv", "--force", "--no-progress"]
    for target in ("run3", "run2"):
        output = run("add", folder / "run3", folder / "kg4.tsv", *words, "--out", folder / target, code=2)
        assert "is the run that the new run grows from" in output
    output = run("align", "--config", folder / "run4", "--out", folder / "run2", "--force", "--no-progress", code=2)
    assert "is the run that the new run grows from" in output


def test_settings_that_a_grown_run_cannot_have_are_refused(folder: Path, tmp_path: Path) -> None:
    for words in (["--train-ratio", "0.5"], ["--previous", folder / "run2"]):
        output = run("align", "--config", folder / "run4", *words, "--out", tmp_path / "out", code=2)
        assert "cannot be combined with data.grown_from" in output
    output = run("align", "world", "--set", "data.held_out=x", "--out", tmp_path / "out", code=2)
    assert "data.held_out can only be used with data.grown_from" in output


def test_no_kg_is_added_to_a_run_whose_data_has_changed_or_is_gone(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "moved"
    shutil.copytree(folder, place)
    config = place / "run2" / "config.toml"
    config.write_text(config.read_text().replace(str(folder), str(place)))
    words = ["add", place / "run2", place / "kg3.tsv", "--seeds", place / "seeds3.tsv", "--out", tmp_path / "out"]
    with (place / "data" / "kg2.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    assert "has changed since the run: kg2" in run(*words, code=2)
    shutil.rmtree(place / "data")
    assert "no data set" in run(*words, code=2)
    assert not (tmp_path / "out").exists()
