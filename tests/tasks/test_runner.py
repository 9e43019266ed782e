"""The runner in one process: what is there is not made again, and progress counts all of it."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from multiea.foundation import progress
from multiea.foundation.errors import SettingError
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.runner import LocalRunner, Task, check_written
from multiea.tasks.shards import Shards
from support.cluster_tasks import nothing, refuses, square
from support.progress import RecordedStages


def squares(folder: Path, count: int = 4) -> list[Task]:
    return [Task(f"squares/{number}", square, (number, str(folder))) for number in range(count)]


def test_a_second_run_makes_only_what_is_missing(tmp_path: Path) -> None:
    runner = LocalRunner(FolderShards(tmp_path / "shards"))
    runner.run("squares", squares(tmp_path))
    runner.shards.drop("squares/2")
    runner.run("squares", squares(tmp_path))
    assert [int(runner.shards.get(f"squares/{n}")["square"]) for n in range(4)] == [0, 1, 4, 9]
    assert sorted((tmp_path / "executions").read_text().split()) == ["0", "1", "2", "2", "3"]


def test_progress_counts_what_was_there_as_done(tmp_path: Path) -> None:
    runner, stages = LocalRunner(), RecordedStages()
    runner.run("squares", squares(tmp_path, 2))
    with progress.shown_by(stages):
        runner.run("squares", squares(tmp_path))
    assert stages.done["squares"] == (4, 4)


def test_an_error_comes_through_and_what_is_finished_stays(tmp_path: Path) -> None:
    runner = LocalRunner()
    with pytest.raises(SettingError, match="not like this"):
        runner.run("both", [*squares(tmp_path, 1), Task("wrong", refuses)])
    assert "squares/0" in runner.shards


def test_mistakes_in_a_stage_are_noticed() -> None:
    with pytest.raises(RuntimeError, match="forgetful ended without writing"):
        LocalRunner().run("one", [Task("forgetful", nothing)])
    with pytest.raises(ValueError, match="two tasks"):
        LocalRunner().run("two", [Task("same", nothing), Task("same", nothing)])


def test_shards_of_any_kind_serve(tmp_path: Path) -> None:
    def doubled(shards: Shards, name: str, source: str) -> None:
        shards.put(name, {"a": shards.get(source)["a"] * 2})

    for runner in (LocalRunner(), LocalRunner(FolderShards(tmp_path))):
        runner.shards.put("one", {"a": np.ones(2)})
        runner.run("doubling", [Task("two", doubled, ("one",))])
        assert runner.shards.get("two")["a"].tolist() == [2, 2]
        assert runner.memory > 0


def test_a_task_whose_shard_is_shown_late_has_written_it(tmp_path: Path) -> None:
    """A network file system that was asked for a shard before may go on saying for a while that it is not there."""
    (tmp_path / "shards").mkdir()
    shards, place = FolderShards(tmp_path / "shards", patience=30), FolderShards(tmp_path / "shards")
    task = Task("late", square)
    writer = threading.Timer(0.5, place.put, ("late", {"a": np.zeros(1)}))
    writer.start()
    check_written(shards, task)
    writer.join()
    with pytest.raises(RuntimeError, match="without writing its shard"):
        check_written(place, Task("never", square))
