"""The command `multiea align`: the run folder it writes, and the cases it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import multiea
from multiea import Task
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.write import write_groups, write_kgs


def test_without_held_out_groups_it_aligns_and_says_that_nothing_could_be_scored(tmp_path: Path, small: Task) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_kgs(small.kgs, data)
    write_groups(small.seeds, small.kgs, data / "seeds.tsv")
    arguments = ["align", str(data), "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "no scores: there are no held-out groups" in result.output
    assert len(multiea.open(tmp_path / "run").found.groups) > 10
    again = CliRunner().invoke(app, ["evaluate", str(tmp_path / "run")])
    assert "no scores: there are no held-out groups" in again.output


def test_the_command_writes_a_run_and_evaluate_scores_it_the_same(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=300, relations=20), tmp_path / "data")
    out = tmp_path / "run"
    arguments = ["align", str(tmp_path / "data"), "--out", str(out), "--json", "--train-ratio", "0.5"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    metrics = json.loads(result.stdout)
    assert set(metrics["seconds"]) == {"read", "engine", "similarity", "grouping", "total"}
    scored = CliRunner().invoke(app, ["evaluate", str(out), "--json"])
    assert json.loads(scored.stdout)["m_hits"] == metrics["m_hits"]
    assert {path.name for path in out.iterdir()} == {
        "config.toml", "seeds.tsv", "held_out.tsv", "groups.tsv", "groups.parquet", "pairs.parquet", "entities.parquet",
        "embeddings.safetensors", "metrics.json", "manifest.json",
    }  # fmt: skip


def test_a_failed_run_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=100), tmp_path / "data")
    arguments = ["align", str(tmp_path / "data"), "--out", str(tmp_path / "run"), "--engine", "multiea"]
    result = CliRunner().invoke(app, [*arguments, "--strategy", "meen"])
    assert result.exit_code == 2
    assert "choose one of: each, anchor, mean" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("engine", "option", "value"),
    [
        ("propagation", "--epochs", "3"),
        ("propagation", "--strategy", "mean"),
        ("propagation", "--fusion-weight", "0.5"),
        ("multiea", "--bootstrap", "none"),
        ("multiea", "--fusion-weight", "0.5"),
    ],
)
def test_an_option_the_engine_does_not_use_is_refused(engine: str, option: str, value: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["align", "world", "--out", str(out), "--engine", engine, option, value])
    assert result.exit_code == 2
    assert f"{option} has no effect with --engine {engine}" in result.output
    assert not out.exists()


def test_a_run_never_replaces_its_own_input(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=100), tmp_path / "data")
    arguments = ["align", str(tmp_path / "data"), "--out", str(tmp_path / "data"), "--epochs", "1", "--force"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "is not a run" in result.stderr
    assert (tmp_path / "data" / "kg1.tsv").is_file()
