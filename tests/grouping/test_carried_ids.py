"""Group ids that are carried on from run to run, in Python, in run folders and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import multiea
from multiea import Alignment, Groups, KnowledgeGraph, Task
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.grouping.found_groups import FoundGroups
from support.shuffling import Shuffling


def alignment_of(task: Task, members: list[list[int]]) -> Alignment:
    """An alignment that found these groups."""
    base = multiea.align(task)
    found = Groups(task.kg_names, np.array(members, dtype=np.int32))
    return replace(base, found=FoundGroups.from_members(found, np.full(found.members.shape, 0.5)))


@pytest.fixture(scope="module")
def task() -> Task:
    kgs = [KnowledgeGraph.from_triples(kg, [(f"{kg}{i}", "r", f"{kg}{i + 1}") for i in range(11)]) for kg in "abc"]
    return Task(kgs, Groups.from_names(kgs, [{kg: f"{kg}{i}" for kg in "abc"} for i in range(3)]))


def test_ids_are_carried_on_over_saved_and_opened_runs(task: Task, tmp_path: Path) -> None:
    first = alignment_of(task, [[3, 3, -1], [4, 4, 4]])
    second = alignment_of(task, [[4, 4, 5], [3, 3, 6]]).following(first.as_ancestor())
    assert second.ids is not None
    assert second.ids.found == first.group_ids()[1][::-1]
    assert second.ids.known == first.group_ids()[0]
    assert second.ids.fates() == dict.fromkeys(second.ids.fates(), 0) | {"kept": 3, "grown": 1, "changed": 1}
    second.save(tmp_path / "second")
    opened = multiea.open(tmp_path / "second")
    assert opened.groups.equals(second.groups)
    assert opened.pairs.equals(second.pairs)
    assert opened.fingerprint == replace(second, ids=None).fingerprint  # depends on the groups, not on their ids
    assert opened.ids is not None
    assert opened.ids.lineage.equals(second.ids.lineage)
    for previous in (second, opened, tmp_path / "second", str(tmp_path / "second")):
        third = multiea.align(task, previous=previous)
        assert third.ids is not None
        assert third.ids.known == first.group_ids()[0]
    first.save(tmp_path / "first")
    assert not (tmp_path / "first" / "lineage.tsv").exists()
    assert multiea.open(tmp_path / "first").ids is None
    assert multiea.open(tmp_path / "first").groups.equals(first.groups)


def test_a_retired_id_stays_retired_over_saved_runs(task: Task, tmp_path: Path) -> None:
    first = alignment_of(task, [[3, 3, -1]])
    lost = first.group_ids()[1][0]
    alignment_of(task, [[5, 5, -1]]).following(first.as_ancestor()).save(tmp_path / "second")
    opened = multiea.open(tmp_path / "second").as_ancestor()
    alignment_of(task, [[5, 5, -1]]).following(opened).save(tmp_path / "third")
    fourth = alignment_of(task, [[3, 3, -1]]).following(multiea.open(tmp_path / "third").as_ancestor())
    assert fourth.ids is not None
    assert fourth.ids.found != [lost]
    assert dict(fourth.ids.lineage.select("group_id", "became").iter_rows())[lost] == "retired"


def test_a_damaged_lineage_and_ids_of_other_groups_are_refused(task: Task, tmp_path: Path) -> None:
    first = alignment_of(task, [[3, 3, -1]])
    second = alignment_of(task, [[5, 5, -1]]).following(first.as_ancestor())
    second.save(tmp_path / "second")
    with pytest.raises(ValueError, match="the ids belong to other groups"):
        replace(second, found=alignment_of(task, [[5, 5, -1], [6, 6, -1]]).found).group_ids()
    (tmp_path / "second" / "lineage.tsv").write_text("group_id\tbecame\tbefore\tafter\tinto\ng\tkept\tx\ty\t\n")
    readers: list[Callable[[Path], object]] = [multiea.open, lambda folder: multiea.align(task, previous=folder)]
    for read in readers:
        with pytest.raises(multiea.InputError, match=r"second/lineage\.tsv: damaged: "):
            read(tmp_path / "second")


def test_the_order_of_kgs_entities_and_groups_does_not_change_ids(tmp_path: Path) -> None:
    small = multiea.load(data_sets(tmp_path)[0])
    before = multiea.align(Task(small.kgs, small.seeds.take(np.arange(len(small.seeds) // 2)), name="before"))
    after = multiea.align(small, previous=before)
    shuffled = Shuffling.of(Task(small.kgs, small.seeds), seed=1, kg_order=[2, 0, 1]).task
    again = multiea.align(shuffled, previous=before)
    key = ["group_id", "kg", "entity"]
    assert again.groups.select(key).sort(key).equals(after.groups.select(key).sort(key))
    assert again.ids is not None
    assert after.ids is not None
    assert again.ids.lineage.equals(after.ids.lineage)


def data_sets(tmp_path: Path) -> tuple[Path, Path]:
    for name, kgs in (("three", 3), ("four", 4)):
        (tmp_path / name).mkdir()
        write_synthetic(Synthesis(kgs=kgs, entities=150, relations=10), tmp_path / name)
    return tmp_path / "three", tmp_path / "four"


def test_align_with_a_previous_run_reports_the_fates_of_groups_and_new_kgs(tmp_path: Path) -> None:
    three, four = data_sets(tmp_path)
    runner, run, second = CliRunner(), str(tmp_path / "run"), str(tmp_path / "second")
    assert runner.invoke(app, ["align", str(three), "--out", run, "--no-progress"]).exit_code == 0
    result = runner.invoke(app, ["align", str(four), "--out", second, "--previous", run, "--json", "--no-progress"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    lineage = pl.read_csv(tmp_path / "second" / "lineage.tsv", separator="\t")
    assert answer["lineage"]["gone"] == lineage.filter(pl.col("became") == "gone").height
    assert answer["new_kgs"] == ["kg4"]
    assert "new since the previous run: kg4" in result.stderr
    groups = pl.read_parquet(tmp_path / "second" / "groups.parquet")
    old = pl.read_parquet(tmp_path / "run" / "groups.parquet")
    assert set(lineage.filter(pl.col("after") > 0)["group_id"]) == set(groups["group_id"])
    assert set(lineage.filter(pl.col("before") > 0)["group_id"]) == set(old["group_id"])
    result = runner.invoke(app, ["align", str(three), "--out", run, "--previous", run, "--force", "--no-progress"])
    assert result.exit_code == 0, result.output
    assert f"ids carried on from {run}: " in result.output
    assert pl.read_parquet(tmp_path / "run" / "groups.parquet").equals(old)


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_a_previous_run_that_does_not_fit_is_an_error_before_any_work(
    task: Task, tmp_path: Path, tail: list[str]
) -> None:
    (tmp_path / "x.tsv").write_text("p\tr\tq\n", encoding="utf-8")
    (tmp_path / "y.tsv").write_text("p\tr\tq\n", encoding="utf-8")
    (tmp_path / "seeds.tsv").write_text("x\ty\np\tp\n", encoding="utf-8")
    out, other, runner = tmp_path / "out", tmp_path / "runs" / "other", CliRunner()
    words = ["align", str(tmp_path), "--out", str(out), *tail, "--previous"]
    result = runner.invoke(app, [*words, str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert "nowhere: does not exist" in result.stderr
    multiea.align(task).save(other)
    result = runner.invoke(app, [*words, str(other)])
    assert result.exit_code == 2
    assert "previous run is over other KGs: a, b, c" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not out.exists()
