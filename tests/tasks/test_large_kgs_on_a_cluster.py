"""Large KGs: the same groups in memory, in a folder with little memory, and on a cluster that loses nodes."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import multiea
from multiea import Task as AlignmentTask
from multiea.api import align_and_save
from multiea.grouping.alignment import AlignmentResult
from multiea.pipeline import large_propagator
from multiea.pipeline.align import align as align_task
from multiea.settings.bootstrapping import Bootstrapping
from multiea.settings.tree import AlignSettings
from multiea.similarity import search
from multiea.tasks.cluster import connected
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.ray_runner import RayRunner
from multiea.tasks.resources import Resources
from multiea.tasks.runner import LocalRunner, Task
from support.quick import SHORT_EMBEDDINGS, align
from support.ray_cluster import RayCluster, wait_until

STAGES = [
    "propagating",
    "embedding",
    "signing",
    "indexing",
    "searching",
    "joining",
    "comparing",
    "normalising",
    "adding paths",
]


class LosesNodes(RayRunner):
    """Adds a node to the cluster in each stage, the first time, and kills it as soon as it works."""

    def __init__(self, cluster: RayCluster, folder: Path) -> None:
        super().__init__(folder, memory=1 << 30, cpus=1)
        self._cluster, self.lost, self.working = cluster, list[str](), list[str]()

    def run(self, stage: str, tasks: Sequence[Task]) -> None:
        if stage in self.lost:
            super().run(stage, tasks)
            return
        self.lost.append(stage)
        flag = self._folder / "head-is-held"
        hold_head(flag)
        node = self._cluster.add_node()

        def lose() -> None:
            try:
                wait_until(lambda: bool(self._cluster.workers(node)))
                self.working.append(stage)
            finally:
                self._cluster.kill(node)
                flag.unlink()

        loser = threading.Thread(target=lose)
        loser.start()
        try:
            super().run(stage, tasks)
        finally:
            loser.join()


def hold_head(flag: Path) -> None:
    """Keeps the only CPU of the head busy while a file is there, so that tasks have to run on another node."""
    import ray

    @ray.remote(num_cpus=1)  # type: ignore[untyped-decorator]
    def hold(path: str) -> None:
        Path(path).write_text("held")
        while Path(path).exists():
            time.sleep(0.05)

    hold.remote(str(flag))
    wait_until(flag.exists)


class StoppedError(Exception):
    """The driver is gone."""


class StopsAt(LocalRunner):
    """Ends before a stage, at its second time, as if the driver were lost; counts the tasks that it ran."""

    def __init__(self, shards: FolderShards, stage: str | None) -> None:
        super().__init__(shards, memory=1)
        self._stage, self._left, self.ran = stage, 2, 0

    def run(self, stage: str, tasks: Sequence[Task]) -> None:
        self._left -= stage == self._stage
        if self._stage is not None and not self._left:
            raise StoppedError
        self.ran += sum(task.name not in self.shards for task in tasks)
        super().run(stage, tasks)


@pytest.fixture(autouse=True)
def as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(search.EXACT_PAIRS, "cpu", 0.0)


def assert_same(one: AlignmentResult, other: AlignmentResult) -> None:
    assert one.groups.equals(other.groups)
    np.testing.assert_array_equal(one.canonical_embeddings.numbers.numpy(), other.canonical_embeddings.numbers.numpy())


def test_little_memory_changes_no_group_and_a_lost_driver_goes_on(small: AlignmentTask, tmp_path: Path) -> None:
    settings = replace(AlignSettings.default(), propagation=SHORT_EMBEDDINGS, bootstrap=Bootstrapping(rounds=2))
    alone = multiea.align(small, settings)
    whole = StopsAt(FolderShards(tmp_path / "whole"), None)
    assert_same(align_task(small, settings, runner=whole), alone)
    shards = FolderShards(tmp_path / "interrupted")
    first, second = StopsAt(shards, "comparing"), StopsAt(shards, None)
    with pytest.raises(StoppedError):
        align_task(small, settings, runner=first)
    assert_same(align_task(small, settings, runner=second), alone)
    assert first.ran + second.ran == whole.ran  # nothing is done twice


def test_a_cluster_that_loses_a_node_in_each_stage_finds_the_same_groups(
    small: AlignmentTask, cluster: RayCluster, tmp_path: Path
) -> None:
    alone = align(small, bootstrap="none")
    with connected(cluster.address):
        runner = LosesNodes(cluster, tmp_path)
        spread = align_task(small, alone.settings, runner=runner)
    assert runner.lost == runner.working == STAGES
    assert_same(spread, alone)


@pytest.mark.parametrize("on_cluster", [False, True])
def test_scores_of_large_kgs_are_the_same_from_a_work_folder(
    small: AlignmentTask, cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_cluster: bool
) -> None:
    settings = AlignSettings.default(bootstrap="none")
    usual = align_and_save(settings, tmp_path / "usual", task=small)
    monkeypatch.setattr(large_propagator, "BYTES_PER_ENTITY", 1 << 40)  # too much for memory
    resources = Resources(work_folder=tmp_path / "work", cluster=cluster.address if on_cluster else None)
    limited = align_and_save(settings, tmp_path / "limited", task=small, resources=resources)
    assert (tmp_path / "work" / "shards" / "test" / "scores").is_dir()
    differing = ("seconds", "peak_rss_mb")
    assert [{k: v for k, v in run.metrics.items() if k not in differing} for run in (limited, usual)] == 2 * [
        {k: v for k, v in usual.metrics.items() if k not in differing}
    ]
    for name in ("groups.tsv", "pairs.parquet", "embeddings.safetensors"):
        assert (tmp_path / "limited" / name).read_bytes() == (tmp_path / "usual" / name).read_bytes()
