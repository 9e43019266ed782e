"""Run folders and config files of the first release (0.1.0) are still read.

The folder first_release holds what that release wrote; only paths were made relative. data: three KGs of 100
entities. pair: kg1 and kg2 aligned by propagation. grown: kg3 added to it. trained: all three, encoder multiea.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import multiea
from multiea.data.readers import read_groups
from support.command_line import align, invoke, succeeds

FIRST_RELEASE = Path(__file__).with_name("first_release")
RUNS = ("pair", "grown", "trained")
every_run = pytest.mark.parametrize("name", RUNS)


def stored(name: str, file: str) -> Any:
    return json.loads((FIRST_RELEASE / name / file).read_text(encoding="utf-8"))


def assert_close(ours: Any, stored_value: Any, rel: float = 1e-12) -> None:
    """The same keys and, but for rounding in the last digits, the same numbers."""
    if isinstance(stored_value, dict):
        assert list(ours) == list(stored_value)
        for key, value in stored_value.items():
            assert_close(ours[key], value, rel)
    elif isinstance(stored_value, list):
        for one, other in zip(ours, stored_value, strict=True):
            assert_close(one, other, rel)
    else:
        assert ours == (pytest.approx(stored_value, rel=rel) if isinstance(stored_value, float) else stored_value)


@every_run
def test_an_old_run_opens_with_its_groups(name: str) -> None:
    alignment = multiea.open(FIRST_RELEASE / name)
    table = pl.read_parquet(FIRST_RELEASE / name / "groups.parquet")
    columns = ["group_id", "kg", "entity", "confidence", "status"]
    assert table.columns == columns
    assert alignment.groups.select(columns).sort(columns).equals(table.select(columns).sort(columns))
    assert alignment.groups.columns == ["group_id", "kg", "entity", "name", "confidence", "status"]
    written = read_groups(FIRST_RELEASE / name / "groups.tsv", alignment.task.kgs)
    assert sorted(alignment.found.groups.members.tolist()) == sorted(written.members.tolist())


def test_an_old_run_opens_with_its_names_duplicates_and_lineage() -> None:
    pair, grown, trained = (multiea.open(FIRST_RELEASE / name) for name in RUNS)
    entities = pl.read_parquet(FIRST_RELEASE / "trained" / "entities.parquet")
    assert entities.columns == ["kg", "entity", "label"]
    named = entities.filter(pl.col("label") == "Name of " + pl.col("entity"))
    assert named.height == 10
    for kg in trained.task.kgs:
        assert kg.names is not None
        assert kg.names.to_list() == entities.filter(pl.col("kg") == kg.name)["label"].to_list()
    assert len(pair.duplicates) == 7
    assert grown.ids is not None
    lineage = (FIRST_RELEASE / "grown" / "lineage.tsv").read_text(encoding="utf-8").splitlines()
    assert grown.ids.lineage.height == len(lineage) - 1
    assert grown.completed_seeds is not None
    assert grown.history["open_seeds"]["kg3"]["found"] == 13


@every_run
def test_an_old_run_opens_with_its_settings(name: str) -> None:
    settings = multiea.open(FIRST_RELEASE / name).settings
    assert settings == multiea.read_settings(FIRST_RELEASE / name)
    assert settings.engine == ("multiea" if name == "trained" else "propagation")
    if name == "trained":
        assert "look_every = 1" in (FIRST_RELEASE / name / "config.toml").read_text(encoding="utf-8")
        assert (settings.training.evaluate_every, settings.training.epochs, settings.training.dimensions) == (1, 2, 8)
    else:
        assert (settings.propagation.dimensions, settings.duplicates) == (32, ("kg2",))


@every_run
def test_the_history_of_an_old_run_has_the_keys_of_today(name: str) -> None:
    history, old = multiea.open(FIRST_RELEASE / name).history, stored(name, "manifest.json")["history"]
    if name == "trained":
        assert history == old
        return
    renamed = {"labels": "marks", "started_with": "warm_start_groups"}
    assert list(history) == [renamed.get(key, key) for key in old]
    assert history["marks"] == old["labels"]
    assert history["rounds"] == [
        {"marks": one["labels"], "validation_f1": one["f1_held_back"]} for one in old["rounds"]
    ]
    assert history.get("warm_start_groups") == old.get("started_with")


@every_run
def test_evaluating_an_old_run_reproduces_its_scores(name: str) -> None:
    answer, metrics = (
        json.loads(succeeds("evaluate", FIRST_RELEASE / name, "--json").stdout),
        stored(name, "metrics.json"),
    )
    assert set(answer) == set(metrics) - {"engine", "bootstrap", "search", "seconds", "peak_rss_mb"}
    assert_close(answer, {key: value for key, value in metrics.items() if key in answer})


@every_run
def test_the_config_of_an_old_run_gives_the_same_groups(name: str, tmp_path: Path) -> None:
    align("--config", FIRST_RELEASE / name / "config.toml", "--out", tmp_path / "run")
    for file in ("groups.tsv", "seeds.tsv", "held_out.tsv"):
        assert (tmp_path / "run" / file).read_bytes() == (FIRST_RELEASE / name / file).read_bytes()
    new, old = (json.loads((run / "metrics.json").read_text()) for run in (tmp_path / "run", FIRST_RELEASE / name))
    for metrics in (new, old):
        del metrics["seconds"], metrics["peak_rss_mb"]
    assert new.pop("evidence") == ["structure"]
    for added in ("calibration", "validation"):  # not yet in the first release
        del new[added]
    assert list(new) == list(old)
    assert_close(new, old, rel=1e-6)  # sums in another order have other last digits


@every_run
def test_config_show_prints_an_old_run_with_the_keys_of_today(name: str) -> None:
    outcome = invoke("config", "show", FIRST_RELEASE / name)
    assert outcome.code == 0, outcome.output
    assert "look_every" not in outcome.stdout
    assert ("evaluate_every = 1" in outcome.stdout) == (name == "trained")


@every_run
def test_old_runs_are_exported_and_reported_with_their_triples(name: str, tmp_path: Path) -> None:
    run = FIRST_RELEASE / name
    succeeds("export", run, "--to", "groups", "--out", tmp_path / "groups.tsv")
    exported = pl.read_csv(tmp_path / "groups.tsv", separator="\t")
    assert exported.height == pl.read_parquet(run / "groups.parquet").height
    succeeds("export", run, "--to", "merged", "--out", tmp_path / "merged.nq")
    assert "without the triples" not in succeeds("report", run, "--out", tmp_path / "report.html").stdout


def test_an_old_run_serves_as_previous_run_and_as_run_to_add_a_kg_to(tmp_path: Path) -> None:
    shutil.copytree(FIRST_RELEASE, tmp_path / "copy")
    copy = tmp_path / "copy"
    words = [copy / "data" / "kg1.tsv", copy / "data" / "kg2.tsv", "--seeds", copy / "pair.tsv"]
    align(*words, "--previous", copy / "pair", "--out", tmp_path / "next")
    shared = set(pl.read_parquet(tmp_path / "next" / "groups.parquet")["group_id"])
    assert shared & set(pl.read_parquet(copy / "pair" / "groups.parquet")["group_id"])
    succeeds(
        "add", copy / "pair", copy / "data" / "kg3.tsv", "--seeds", copy / "links.tsv", "--out", tmp_path / "added"
    )
    assert multiea.open(tmp_path / "added").task.kg_names == ("kg1", "kg2", "kg3")


def test_old_and_new_runs_can_be_compared(tmp_path: Path) -> None:
    align("--config", FIRST_RELEASE / "trained", "--out", tmp_path / "new")
    answer = json.loads(succeeds("compare", FIRST_RELEASE / "trained", tmp_path / "new", "--json").stdout)
    assert answer["changes"]["counts"]["same"] > 0
    assert all(count == 0 for kind, count in answer["changes"]["counts"].items() if kind != "same")
