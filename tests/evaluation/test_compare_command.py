"""The command `multiea compare`: tables, JSON, files, and errors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from multiea import Alignment, Groups, Task
from multiea.cli.main import app
from multiea.evaluation.changes import KINDS
from multiea.evaluation.comparison import compare
from multiea.evaluation.data_differences import data_differences
from multiea.evaluation.run_summary import RunSummary
from multiea.grouping.found_groups import FoundGroups
from support.summaries import run_with_groups


@pytest.fixture(scope="module")
def folders(pair: tuple[Alignment, Alignment], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two runs over the same held-out groups, one over fewer, one over other KGs, one without held-out groups."""
    root = tmp_path_factory.mktemp("runs")
    first, second = pair
    task = first.task
    fewer = Task(task.kgs, task.seeds, task.held_out.take(np.arange(50)))
    renamed = [replace(kg, name=f"other {kg.name}") for kg in task.kgs]
    names = tuple(kg.name for kg in renamed)
    seeds, held_out = (Groups(names, groups.members) for groups in (task.seeds, task.held_out))
    strangers = Task(renamed, seeds, held_out)
    of_strangers = FoundGroups.from_members(Groups(names, first.found.groups.members), first.found.confidence)
    runs = {
        "one": first,
        "two": second,
        "fewer": replace(first, task=fewer),
        "none": replace(first, task=Task(task.kgs, task.seeds)),
        "strangers": replace(first, task=strangers, found=of_strangers),
    }
    for name, alignment in runs.items():
        alignment.save(root / name)
    return {name: str(root / name) for name in runs}


def answer_of(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["compare", *words, "--json", "--no-progress"])
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_the_command_answers_in_json_and_writes_all_changes(
    folders: dict[str, str], summaries: list[RunSummary], tmp_path: Path
) -> None:
    answer = answer_of(folders["one"], folders["two"], "--out", str(tmp_path / "changes.tsv"))
    expected = compare(summaries)
    assert answer["runs"][1]["scores"]["pairs.f1"] == pytest.approx(summaries[1].scores["pairs f1"])
    assert answer["tested"][0]["tests"][0]["p"] == pytest.approx(expected.tested[0].tests[0].p)
    assert answer["tested"][0]["tests"][0]["groups"] == len(summaries[0].pairs)
    assert answer["tested"][0]["pair_f1"]["resamples"] == 10_000
    assert expected.changes is not None
    assert answer["changes"]["counts"] == expected.changes.counts
    table = pl.read_csv(tmp_path / "changes.tsv", separator="\t")
    assert table["change"].n_unique() == sum(expected.changes.counts[kind] for kind in KINDS[1:])
    assert set(table["right"]) <= {"right", "wrong", "unknown", "given"}
    result = CliRunner().invoke(
        app, ["compare", folders["one"], folders["two"], "--out", str(tmp_path / "changes.tsv")]
    )
    assert result.exit_code == 2
    assert "exists" in result.stderr


def test_the_command_shows_tables_and_how_many_groups_they_rest_on(folders: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["compare", folders["one"], folders["two"], "--no-progress"])
    assert result.exit_code == 0, result.output
    for words in (
        "M-Hits@1, test",
        "McNemar",
        "1 run tested against 1, 2 tests in all",
        "10,000 bootstrap resamples of",
        "only in second",
        "The most confident of",
        "not counted: 135 seeds of both",
    ):
        assert words in result.output
    result = CliRunner().invoke(app, ["compare", folders["one"], folders["two"], folders["one"], "--no-progress"])
    assert "2 runs tested against 1, 4 tests in all: p (Holm)" in result.output
    assert "The most confident of" not in result.output


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("fewer", "its 50 held-out groups are not the"),
        ("none", "no held-out groups"),
        ("strangers", "over other KGs (other kg1, other kg2, other kg3) than the first (kg1, kg2, kg3)"),
    ],
)
def test_runs_that_cannot_be_tested_are_shown_with_the_reason(folders: dict[str, str], other: str, reason: str) -> None:
    answer = answer_of(folders["one"], folders[other], folders["two"])
    assert reason in answer["tested"][0]["why_not"]
    assert answer["tested"][0]["tests"] == []
    assert answer["tested"][1]["why_not"] is None
    assert answer["tests"] == 2
    result = CliRunner().invoke(app, ["compare", folders["one"], folders[other], "--no-progress"])
    assert f"2 is not tested against 1: {answer['tested'][0]['why_not']}" in result.output
    assert "McNemar" not in result.output


def test_scores_are_computed_where_a_run_folder_has_none(folders: dict[str, str]) -> None:
    metrics = Path(folders["two"]) / "metrics.json"
    text = metrics.read_text(encoding="utf-8")
    before = answer_of(folders["one"], folders["two"])["runs"][1]
    try:
        metrics.unlink()
        after = answer_of(folders["one"], folders["two"])["runs"][1]
        metrics.write_text("{", encoding="utf-8")
        result = CliRunner().invoke(app, ["compare", folders["one"], folders["two"]])
    finally:
        metrics.write_text(text, encoding="utf-8")
    assert after["scores"]["m_hits.test.1"] == pytest.approx(before["scores"]["m_hits.test.1"])
    assert result.exit_code == 2
    assert "damaged" in result.stderr


def test_scores_that_no_run_has_are_not_shown(folders: dict[str, str]) -> None:
    with_scores = CliRunner().invoke(app, ["compare", folders["one"], folders["none"]]).stdout
    without = CliRunner().invoke(app, ["compare", folders["none"], folders["none"]]).stdout
    assert "M-Hits" in with_scores
    assert "M-Hits" not in without
    assert "groups found" in without


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_errors_are_one_line_and_write_nothing(folders: dict[str, str], tmp_path: Path, tail: list[str]) -> None:
    out = tmp_path / "changes.tsv"
    one, two, strangers = folders["one"], folders["two"], folders["strangers"]
    for words, message in (
        ([one], "at least two run folders"),
        ([one, str(tmp_path / "nowhere")], "nowhere: does not exist"),
        ([one, two, one, "--out", str(out)], "--out writes the changes between two runs, but 3 were given"),
        ([one, strangers, "--out", str(out)], "fewer than two KGs in common"),
        ([one, two, "--random-state", "-1"], "random_state must be"),
    ):
        result = CliRunner().invoke(app, ["compare", *words, *tail, "--no-progress"])
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
        assert not out.exists()


def test_what_differs_between_the_data_of_runs_is_said(folders: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["compare", folders["one"], folders["strangers"], "--no-progress"])
    assert "the data of 1 and 2 differ, so their scores are not directly comparable: KG 'kg1' (" in result.output
    assert "is in 1 only; " in result.output
    assert "KG 'other kg1' (" in result.output
    result = CliRunner().invoke(app, ["compare", folders["one"], folders["two"], folders["fewer"], "--no-progress"])
    assert "the data of" not in result.output
    answer = answer_of(folders["one"], folders["two"], folders["strangers"])
    (sentence,) = answer["data_differences"]
    assert sentence.startswith("the data of 1 and 3 differ")
    assert set(answer["runs"][2]["entities"]) == {"other kg1", "other kg2", "other kg3"}


def test_entities_and_triples_that_differ_are_counted(summaries: list[RunSummary]) -> None:
    one = replace(summaries[0], contents={"kg1": "x", "kg2": "y"})
    ids = one.entities["kg1"]
    fewer = replace(one, entities=dict(one.entities) | {"kg1": pl.concat([ids[:-3], pl.Series(["new"])])})
    (sentence,) = data_differences([one, fewer])
    size = len(ids)
    assert sentence.endswith(f": 'kg1' has {size:,} entities in 1 and {size - 2:,} in 2, {size - 3:,} in both")
    (sentence,) = data_differences([one, one, replace(one, contents={"kg1": "x", "kg2": "z"})])
    assert sentence.startswith("the data of 1 and 3 differ")
    assert sentence.endswith(f": 'kg2' has the same {len(one.entities['kg2']):,} entities but other triples in 3")


def test_of_many_kgs_that_differ_some_are_named() -> None:
    runs = [run_with_groups({}), run_with_groups({})]
    entities = {f"kg{number:02}": pl.Series(["a", "b"]) for number in range(40)}
    (sentence,) = data_differences([replace(runs[0], entities=entities), runs[1]])
    assert sentence.count("is in 1 only") == 5
    assert sentence.endswith("; and 35 KGs more")
