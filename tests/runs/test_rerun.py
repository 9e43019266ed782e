"""The config file of a run runs it again, from any folder and with some settings changed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea.settings.enhancement import Enhancement
from support.command_line import align, succeeds

SHORT_TRAINING = ["--set", "training.epochs=4", "--set", "training.dimensions=16", "--set", "training.evaluate_every=2"]
ANCHOR = ["--strategy", "anchor", "--anchor", "kg2"]


def config(run: Path) -> dict[str, object]:
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "words",
    [
        ["world"],
        ["DATA", "--engine", "multiea", *SHORT_TRAINING, *ANCHOR, "--random-state", "3"],
        ["DATA", "--engine", "propagation+multiea", "--fusion-weight", "0.4", *SHORT_TRAINING],
        ["DATA", "--engine", "psr", "--pairwise", "--strategy", "mean", *SHORT_TRAINING, "--set", "training.margin=2"],
        ["DATA", "--duplicates", "kg3", "--duplicates", "kg1", "--duplicates", "kg3", "--bootstrap", "test"],
        ["DATA", "--train-ratio", "0.6", "--enhancement", "profile", "--set", "propagation.hops=1"],
        ["DATA", "--set", "enhancement.candidates=none", "--set", "bootstrap.rounds=2"],
        ["DATA/kg1.tsv", "DATA/kg3.tsv", "--seeds", "unknown-entities.tsv", "--lenient"],
        ["linked.tsv", "DATA/kg2.tsv", "--seeds", "linked-seeds.tsv", "--train-ratio", "0.5"],
    ],
    ids=" ".join,
)
def test_the_config_of_a_run_runs_it_again_from_any_folder(
    words: list[str], three_kgs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("DATA").symlink_to(three_kgs)
    Path("linked.tsv").symlink_to(three_kgs / "kg1.tsv")
    known = pl.read_csv(three_kgs / "groups.tsv", separator="\t").drop_nulls(["kg1", "kg2", "kg3"])
    known.select(linked="kg1", kg2="kg2").write_csv("linked-seeds.tsv", separator="\t")
    unknown = pl.DataFrame({"kg1": ["nobody", known["kg1"][-1]], "kg3": [known["kg3"][-2], "nobody"]})
    pl.concat([known.select("kg1", "kg3").head(60), unknown]).write_csv("unknown-entities.tsv", separator="\t")
    align(*words, "--out", "run")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    align("--config", tmp_path / "here" / "run" / "config.toml", "--out", "again")
    first, again = tmp_path / "here" / "run", tmp_path / "elsewhere" / "again"
    assert (again / "groups.parquet").read_bytes() == (first / "groups.parquet").read_bytes()
    assert "found" in pl.read_parquet(again / "groups.parquet")["status"]
    for name in ("groups.tsv", "seeds.tsv", "held_out.tsv", "config.toml"):
        assert (again / name).read_text(encoding="utf-8") == (first / name).read_text(encoding="utf-8")
    assert multiea.open(again).settings == multiea.open(first).settings


def test_a_run_folder_serves_as_config_and_options_change_a_part_of_it(three_kgs: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    align(three_kgs, "--out", first, "--train-ratio", "0.5", "--set", "propagation.hops=1")
    align("--config", first, "--out", second, "--random-state", "7")
    assert config(second) == config(first) | {"random_state": 7}


@pytest.mark.parametrize("named_again", [True, False])
def test_a_run_made_in_python_runs_again_on_its_data_set(three_kgs: Path, tmp_path: Path, named_again: bool) -> None:
    task = multiea.load(three_kgs)
    multiea.align(task, enhancement=Enhancement(candidates=None)).save(tmp_path / "run")
    words = [three_kgs] if named_again else []
    align(*words, "--config", tmp_path / "run", "--out", tmp_path / "again")
    tables = [pl.read_parquet(tmp_path / name / "groups.parquet") for name in ("run", "again")]
    assert tables[0].equals(tables[1])


def test_running_again_names_the_kgs_that_have_changed_since(three_kgs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for path in three_kgs.iterdir():
        (data / path.name).write_bytes(path.read_bytes())
    align(data, "--out", tmp_path / "run")
    again = ["align", "--config", tmp_path / "run", "--force", "--out", tmp_path / "again"]
    assert "changed since" not in succeeds(*again).stderr
    with (data / "kg2.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    warning = " ".join(succeeds(*again).stderr.split())
    assert f"warning: changed since {tmp_path / 'run'} was made: kg2; its groups may differ" in warning


def test_a_split_with_another_random_state_is_recorded_and_repeated(three_kgs: Path, tmp_path: Path) -> None:
    task = multiea.load(three_kgs, random_state=5)
    multiea.align(task, random_state=1, bootstrap="none").save(tmp_path / "run")
    multiea.align(task, random_state=5, bootstrap="none").save(tmp_path / "same")
    assert multiea.open(tmp_path / "run").settings.data.random_state == 5
    assert multiea.open(tmp_path / "same").settings.data.random_state is None
    align("--config", tmp_path / "run", "--out", tmp_path / "again")
    for name in ("seeds.tsv", "groups.tsv", "config.toml"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()
