"""What a run records of its data set, split, previous run and timings, also where it is opened and saved again."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

import multiea
from multiea import AlignSettings, Data, Propagation, Task
from support.command_line import align

SHORT = Propagation(dimensions=64)


def quick(task: Task, settings: AlignSettings | None = None, **changes: Any) -> multiea.Alignment:
    return multiea.align(task, settings, propagation=SHORT, bootstrap="none", **changes)


def test_validation_groups_are_recorded_and_repeated(three_kgs: Path, tmp_path: Path) -> None:
    task = multiea.load(three_kgs, train_ratio=0.4, validation_ratio=0.1)
    quick(task).save(tmp_path / "run")
    align("--config", tmp_path / "run", "--out", tmp_path / "again")
    for name in ("seeds.tsv", "validation.tsv", "held_out.tsv", "groups.tsv", "config.toml"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()
    split = multiea.load(three_kgs).split(0.5, 0.2, random_state=3)
    assert (split.origin.data.train_ratio, split.origin.data.validation_ratio, split.origin.data.random_state) == (
        0.5,
        0.2,
        3,
    )


def test_an_opened_run_that_is_aligned_again_keeps_its_split(three_kgs: Path, tmp_path: Path) -> None:
    quick(multiea.load(three_kgs, random_state=5), random_state=5).save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run", with_triples=True)
    quick(opened.task, random_state=0).save(tmp_path / "other")
    assert multiea.open(tmp_path / "other").settings.data.random_state == 5
    align("--config", tmp_path / "other", "--out", tmp_path / "again")
    for name in ("seeds.tsv", "groups.tsv"):
        again, other = (sorted((tmp_path / run / name).read_text().splitlines()) for run in ("again", "other"))
        assert again == other


def test_only_the_previous_run_that_was_used_is_recorded(three_kgs: Path, tmp_path: Path) -> None:
    quick(multiea.load(three_kgs)).save(tmp_path / "first")
    settings = AlignSettings.default(data=Data(source=(str(three_kgs),), previous=str(tmp_path / "first")))
    task = multiea.load_task(settings)
    assert quick(task, settings).settings.data.previous == str(tmp_path / "first")
    without = quick(task)
    assert without.ids is None
    assert without.settings.data.previous is None


def test_saving_an_opened_run_keeps_its_timings_and_memory(three_kgs: Path, tmp_path: Path) -> None:
    quick(multiea.load(three_kgs)).save(tmp_path / "run")
    multiea.open(tmp_path / "run").save(tmp_path / "copy")
    one, other = (json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("run", "copy"))
    assert (other["seconds"], other["peak_rss_mb"]) == (one["seconds"], one["peak_rss_mb"])


def test_data_settings_that_the_task_was_not_loaded_with_give_a_warning(
    three_kgs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = multiea.load(three_kgs)
    with caplog.at_level(logging.WARNING):
        quick(task, AlignSettings.default(data=Data(source=(str(three_kgs),), train_ratio=0.9)))
    assert "data.train_ratio of the settings is not used" in caplog.text
    assert "data.source" not in caplog.text


def test_a_previous_run_over_other_kgs_is_named(three_kgs: Path, tmp_path: Path) -> None:
    quick(multiea.load(three_kgs)).save(tmp_path / "run")
    world = multiea.load("world")
    with pytest.raises(multiea.InputError, match="run: the previous run is over other KGs: kg1, kg2, kg3"):
        multiea.align(world, previous=tmp_path / "run")


def test_a_run_without_a_number_of_candidates_compares_all_pairs(tmp_path: Path) -> None:
    run = Path(__file__).with_name("first_release") / "pair"
    shutil.copytree(run, tmp_path / "run")
    config = tmp_path / "run" / "config.toml"
    lines = [line for line in config.read_text().splitlines() if not line.startswith("candidates")]
    config.write_text("\n".join(lines).replace("    0.3,\n    0.7,", "    0.2,\n    0.5,\n    0.3,") + "\n")
    enhancement = multiea.open(tmp_path / "run").enhancement
    assert (enhancement.candidates, enhancement.weights) == (None, (0.2, 0.5, 0.3))
