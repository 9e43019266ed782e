"""Measuring the tasks of an alignment: what is read and written is counted, and the result stays the same."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import stages
from counting_shards import CountingShards
from growth import exact_search_up_to
from multiea import AlignSettings, Task
from multiea.pipeline.align import align
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.runner import LocalRunner
from multiea.tasks.shards import MemoryShards, Shards
from noted_tasks import NotingRunner

BUDGET = 1 << 30


def both_kinds(folder: Path) -> list[Shards]:
    return [MemoryShards(), FolderShards(folder / "shards")]


@pytest.mark.parametrize("kind", [0, 1])
def test_arrays_count_once_when_they_are_taken_and_rows_as_they_are(tmp_path: Path, kind: int) -> None:
    shards = CountingShards(both_kinds(tmp_path)[kind])
    shards.put("round0/lists/0-1/0", {"columns": np.zeros((100, 2), np.int32), "others": np.zeros(10, np.int8)})
    with shards.writing("edges/0", {"starts": ((5,), np.int64)}) as arrays:
        arrays["starts"][:] = 1
    assert (shards.read, shards.written) == (0, 800 + 10 + 40)
    assert shards.sizes() == {"lists": 810, "edges": 40}
    found = shards.get("round0/lists/0-1/0")
    assert shards.read == 0
    found["columns"]
    found["columns"]
    shards.get("round0/lists/0-1/0")["columns"]
    assert shards.read == 800
    shards.rows("round0/lists/0-1/0", "columns", 3, 8)
    assert shards.read == 800 + 40
    assert dict(**shards.get("edges/0"))["starts"].sum() == 5
    assert shards.read == 800 + 40 + 40
    shards.start()
    assert (shards.read, shards.written) == (0, 0)
    shards.drop("edges/0")
    assert shards.sizes() == {"lists": 810}
    assert "edges/0" not in shards


def test_every_task_is_noted_and_the_groups_are_the_same(small: Task, tmp_path: Path) -> None:
    settings = AlignSettings.default(evidence="structure")
    runner = NotingRunner(FolderShards(tmp_path), BUDGET)
    with exact_search_up_to(0.0):
        plain = align(small, settings, runner=LocalRunner(MemoryShards(), BUDGET))
        noted = align(small, settings, runner=runner)
    assert plain.groups.equals(noted.groups)
    counts = {key: len(list(some)) for key, some in groupby(runner.noted, lambda task: (task.round, task.stage))}
    for number in ("round0", "final"):
        for stage, tasks in {"propagating": 3, "searching": 6, "joining": 3, "adding paths": 3}.items():
            assert counts[number, stage] == tasks
    assert counts["start", "preparing"] == 1
    assert counts["round0", "grouping"] == 1
    assert counts["final", "joining embeddings"] == 1
    cosines = [task for task in runner.noted if task.stage == "comparing"]
    pools = [len(kg.entities) - int(small.seeds.present[:, at].sum()) for at, kg in enumerate(small.kgs)]
    assert sum(task.rows or 0 for task in cosines if task.round == "final") == 2 * pools[0] + pools[1]
    assert all(task.read > task.written > 0 for task in cosines)
    assert sum(task.cpu_seconds for task in runner.noted) > 0
    assert {moment["stage"] for moment in runner.after_stages} == {t.stage for t in runner.noted if not t.by_driver}
    assert all(moment["bytes"]["edges"] > 0 for moment in runner.after_stages)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "nowhere/stages.json"], "folder that exists"),
        (["--entities", "3"], "entities must be"),
        (["--triples-per-entity", "0"], "triples_per_entity must be"),
        (["--dimensions", "7"], "propagation.dimensions must be"),
        (["--memory", "much"], "memory must be"),
    ],
)
def test_bad_input_is_refused_before_anything_is_measured(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["stages.py", *words])
    with pytest.raises(SystemExit) as ended:
        stages.main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
