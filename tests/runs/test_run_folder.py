"""A run folder leads back to the data set it was made of."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import multiea
from multiea import Enhancement, InputError, Task
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from support.datasets import assert_same_kg


def test_a_run_finds_the_triples_of_its_data_set_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=3, entities=200, relations=10), tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["align", "data", "--out", "run", "--no-progress"])
    assert result.exit_code == 0, result.output
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    alignment = multiea.open(tmp_path / "run", with_triples=True)
    for kg, expected in zip(alignment.task.kgs, multiea.load(tmp_path / "data").kgs, strict=True):
        assert_same_kg(kg, expected)
    with (tmp_path / "data" / "kg2.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    with pytest.raises(InputError, match="is not what this run was made of: kg2"):
        multiea.open(tmp_path / "run", with_triples=True)


def run(*words: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, [*map(str, words), "--no-progress"])
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a data set and a run made of it."""
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=100, relations=10), tmp_path / "data")
    run("align", tmp_path / "data", "--out", tmp_path / "run")
    return tmp_path


def test_a_data_set_that_has_moved_is_found_where_one_says(made: Path) -> None:
    (made / "data").rename(made / "moved")
    export = ["export", made / "run", "--to", "merged", "--out", made / "merged.nq"]
    _, said = run(*export, code=2)
    assert "say where it is now by --data" in said
    run(*export, "--data", made / "moved")
    files = [made / "moved" / f"kg{number}.tsv" for number in (1, 2)]
    expected = multiea.load(made / "moved").kgs
    for place in (made / "moved", files):
        for kg, other in zip(multiea.open(made / "run", with_triples=True, data=place).task.kgs, expected, strict=True):
            assert_same_kg(kg, other)
    page = ["report", made / "run", "--out", made / "page.html"]
    assert "without the triples" in run(*page)[0]
    assert "without the triples" not in run(*page, "--force", "--data", made / "moved")[0]
    _, said = run(*page, "--force", "--data", made / "nowhere", code=2)
    assert "nowhere" in said
    _, said = run("export", made / "run", "--to", "sssom", "--out", made / "s.tsv", "--data", made / "moved", code=2)
    assert "--data changes nothing with --to sssom" in said


@pytest.mark.parametrize("name", ["seeds.tsv", "groups.tsv"])
def test_a_run_that_has_lost_lines_is_no_run(made: Path, name: str) -> None:
    path = made / "run" / name
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))
    for words in (["evaluate", made / "run"], ["export", made / "run", "--to", "groups", "--out", made / "g.csv"]):
        assert f"{path}: damaged or changed" in run(*words, code=2)[1]
    path.unlink()
    assert name in run("evaluate", made / "run", code=2)[1]


def test_a_users_own_files_in_a_run_folder_stay_when_it_is_replaced(made: Path) -> None:
    (made / "run" / "sub").mkdir()
    for place in ("notes.txt", "merged.parquet", "sub/more.txt"):
        (made / "run" / place).write_text("mine")
    (made / "run" / "report.html").write_text("of the run that was")
    _, said = run("align", made / "data", "--out", made / "run", "--force")
    assert "kept in" in said
    assert "merged.parquet, notes.txt, sub" in " ".join(said.split())
    for place in ("notes.txt", "merged.parquet", "sub/more.txt"):
        assert (made / "run" / place).read_text() == "mine"
    assert not (made / "run" / "report.html").exists()


def test_a_grown_run_whose_data_has_moved_is_told_each_place(made: Path) -> None:
    pl.DataFrame({"kg1": ["kg1:0", "kg1:1"], "new": ["x", "y"]}).write_csv(made / "ties.csv")
    (made / "new.tsv").write_text("x\tr\ty\ny\tr\tz\n")
    run("add", made / "run", made / "new.tsv", "--seeds", made / "ties.csv", "--out", made / "run3")
    for to, name in (("merged", "m.nq"), ("same-as", "l.nt")):
        _, said = run("export", made / "run3", "--to", to, "--out", made / "data" / name, code=2)
        assert "would lie among the files of the data set" in said
    (made / "data").rename(made / "moved")
    (made / "new.tsv").rename(made / "moved.tsv")
    export = ["export", made / "run3", "--to", "merged", "--out", made / "m.nq"]
    _, said = run(*export, "--data", made / "moved", code=2)
    assert "expected 2: the data set of the first run, then the file of each KG that was added" in said
    (made / "moved.tsv").rename(made / "moved" / "new.tsv")
    (made / "elsewhere").mkdir()
    (made / "moved" / "new.tsv").rename(made / "elsewhere" / "new.tsv")
    run(*export, "--data", made / "moved", "--data", made / "elsewhere" / "new.tsv")


def test_running_again_says_what_has_changed_since(made: Path) -> None:
    again = ["align", "--config", made / "run", "--force", "--out", made / "again"]
    assert "not as they were" not in run(*again)[1]
    with (made / "data" / "kg2.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    assert f"not as they were when {made / 'run'} was made: kg2" in " ".join(run(*again)[1].split())


def test_nothing_is_exported_among_the_files_of_the_data_set(made: Path) -> None:
    for to, name in (("merged", "merged.parquet"), ("same-as", "links.nt"), ("groups", "found.tsv")):
        _, said = run("export", made / "run", "--to", to, "--out", made / "data" / name, code=2)
        assert "would lie among the files of the data set" in said
    assert multiea.load(made / "data").kg_names == ("kg1", "kg2")


def test_a_run_of_a_task_made_in_python_does_not_know_its_triples(small: Task, tmp_path: Path) -> None:
    multiea.align(small).save(tmp_path / "run")
    with pytest.raises(InputError, match="does not say which data set"):
        multiea.open(tmp_path / "run", with_triples=True)


def test_what_is_known_of_pairs_survives_the_run_folder(small: Task, tmp_path: Path) -> None:
    alignment = multiea.align(small)
    alignment.save(tmp_path / "run")
    again = multiea.open(tmp_path / "run")
    np.testing.assert_allclose(again.found.of_pairs, alignment.found.of_pairs)
    np.testing.assert_array_equal(again.found.matched, alignment.found.matched)
    assert again.pairs.columns == alignment.pairs.columns
    order = ["group_id", "left_kg", "right_kg"]
    assert again.pairs.sort(order).equals(alignment.pairs.sort(order))


def test_a_pair_of_a_group_is_matched_or_follows_from_pairs_that_are(small: Task) -> None:
    alignment = multiea.align(small)
    pairs = alignment.pairs.filter(pl.col("status") == "found")
    sizes = alignment.found.groups.sizes
    assert len(pairs) == (sizes * (sizes - 1) // 2).sum()
    matched = pairs.filter("matched").group_by("group_id").len()
    of_groups = alignment.groups.filter(pl.col("status") == "found").group_by("group_id").len("members")
    together = of_groups.join(matched, on="group_id")
    assert len(together) == len(of_groups)
    assert (together["len"] >= together["members"] - 1).mean() > 0.95  # a dropped member may have been the link
    assert 0 < pairs["matched"].mean() < 1
    assert pairs["confidence"].is_between(0, 1).all()


@pytest.mark.parametrize("enhancement", ["none", "sharpened", Enhancement("none"), Enhancement("sharpened")])
def test_a_run_opened_again_compares_as_it_did(small: Task, tmp_path: Path, enhancement: str | Enhancement) -> None:
    alignment = multiea.align(small, enhancement=enhancement, bootstrap="none")
    alignment.save(tmp_path / "run")
    again = multiea.open(tmp_path / "run")
    assert again.enhancement == alignment.enhancement
    assert again.evaluate()["m_hits"] == alignment.evaluate()["m_hits"]
