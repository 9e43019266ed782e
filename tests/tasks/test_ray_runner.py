"""Tasks on a real cluster of two nodes: the same shards, also where a node or the driver is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from multiea.foundation import progress
from multiea.foundation.errors import InputError, MultiEAError, SettingError
from multiea.tasks.cluster import connected
from multiea.tasks.cluster_checks import checked_cluster
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.ray_runner import RayRunner
from multiea.tasks.runner import Task
from support.cluster_tasks import dies, finds_fault, nothing, refuses, square, threads
from support.progress import RecordedStages
from support.ray_cluster import PATHS, RayCluster, wait_until

DRIVER = """
import signal
import sys
from pathlib import Path
from multiea.tasks.cluster import connected
from multiea.tasks.ray_runner import RayRunner
from multiea.tasks.runner import Task
from support.cluster_tasks import square
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
folder = Path(sys.argv[2])
with connected(sys.argv[1]):
    tasks = [Task(f"squares/{number}", square, (number, str(folder), 0.6)) for number in range(6)]
    RayRunner(folder, 1 << 30, 1).run("squares", tasks)
"""


@pytest.fixture(scope="module")
def connection(cluster: RayCluster) -> Iterator[None]:
    with connected(cluster.address):
        yield


@pytest.fixture
def runner(connection: None, tmp_path: Path) -> RayRunner:
    return RayRunner(tmp_path, memory=1 << 30, cpus=1)


def squares(folder: Path, count: int, seconds: float = 0.0) -> list[Task]:
    return [Task(f"squares/{number}", square, (number, str(folder), seconds)) for number in range(count)]


def executions(folder: Path) -> Counter[str]:
    file = folder / "executions"
    return Counter(file.read_text().split() if file.is_file() else [])


def processes(folder: Path) -> set[int]:
    file = folder / "processes"
    return set(map(int, file.read_text().split())) if file.is_file() else set()


def assert_squares(folder: Path, count: int) -> None:
    shards = FolderShards(folder / "shards")
    assert [int(shards.get(f"squares/{n}")["square"]) for n in range(count)] == [n * n for n in range(count)]


def test_tasks_run_in_other_processes_and_only_once(runner: RayRunner, tmp_path: Path) -> None:
    stages = RecordedStages()
    with progress.shown_by(stages):
        runner.run("squares", squares(tmp_path, 3))
        runner.run("squares", squares(tmp_path, 5))
    assert_squares(tmp_path, 5)
    assert executions(tmp_path) == Counter("01234")
    assert int(runner.shards.get("squares/0")["process"]) != os.getpid()
    assert stages.done["squares"] == (5, 5)


def test_what_a_task_is_doing_is_shown_by_the_driver(runner: RayRunner, tmp_path: Path) -> None:
    stages = RecordedStages()
    with progress.shown_by(stages):
        runner.run("squares", squares(tmp_path, 1, seconds=1.5))
    assert "squares/0: squaring" in stages.notes


def test_a_task_uses_as_many_threads_as_it_has_cpus(runner: RayRunner) -> None:
    runner.run("threads", [Task("threads", threads)])
    assert runner.shards.get("threads")["threads"] == 1


def test_our_errors_and_warnings_come_through_as_themselves(
    runner: RayRunner, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(SettingError, match=r"^not like this$"):
        runner.run("wrong", [*squares(tmp_path, 1), Task("wrong", refuses)])
    assert "this will not do" in caplog.messages
    with pytest.raises(InputError) as caught:
        runner.run("wrong", [Task("fault", finds_fault)])
    assert str(caught.value) == "en.nt, line 3: a fault; expected none. Look again."
    with pytest.raises(RuntimeError, match="forgetful ended without writing"):
        runner.run("one", [Task("forgetful", nothing)])


def test_a_task_whose_process_always_dies_is_given_up(runner: RayRunner, tmp_path: Path) -> None:
    with pytest.raises(MultiEAError, match=r"deadly: lost 6 times \(.*the same command .* goes on"):
        runner.run("dying", [Task("deadly", dies, (str(tmp_path),))])
    assert executions(tmp_path) == Counter({"deadly": 6})


def test_a_stage_ends_with_the_same_shards_when_a_node_is_killed(
    cluster: RayCluster, runner: RayRunner, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = cluster.add_node()
    wait_until(lambda: len(nodes_alive()) == 2)

    def kill_in_the_middle() -> None:
        wait_until(lambda: bool(processes(tmp_path) & cluster.workers(node)))
        cluster.kill(node)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    runner.run("squares", squares(tmp_path, 6, seconds=1.5))
    killer.join()
    assert_squares(tmp_path, 6)
    assert len(nodes_alive()) == 1
    assert "node 127.0.0.1 of the cluster was lost; its tasks run again on others" in caplog.messages
    assert sorted(executions(tmp_path).values()) == [1, 1, 1, 1, 1, 2]  # the one on the node that was lost


def nodes_alive() -> list[str]:
    import ray

    return [node["NodeID"] for node in ray.nodes() if node["Alive"]]


def test_a_killed_driver_is_started_again_and_runs_what_was_missing(cluster: RayCluster, tmp_path: Path) -> None:
    command = [sys.executable, "-c", DRIVER, cluster.address, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": PATHS}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as driver:
        wait_until(lambda: len(list(tmp_path.rglob("squares/*.shard"))) >= 2)
        driver.send_signal(signal.SIGKILL)
    there = [file.stem for file in tmp_path.rglob("squares/*.shard")]
    assert 2 <= len(there) < 6
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert_squares(tmp_path, 6)
    assert all(executions(tmp_path)[number] == 1 for number in there)
    assert sum(executions(tmp_path).values()) <= 8


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143)])
def test_an_interrupted_stage_ends_its_tasks(
    cluster: RayCluster, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    command = [sys.executable, "-c", DRIVER, cluster.address, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": PATHS}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as driver:
        wait_until(lambda: executions(tmp_path).total() >= 2)
        driver.send_signal(number)
        driver.communicate(timeout=60)
    assert driver.returncode == code
    assert executions(tmp_path).total() <= 3


def test_the_shape_of_the_cluster_is_that_of_its_smallest_node(connection: None, tmp_path: Path) -> None:
    shape = checked_cluster(tmp_path, "1GiB")
    assert (shape.cpus, shape.cpus_of_node, shape.memory, shape.memory_of_node) == (1, 1, 1 << 30, 1 << 30)
    assert list(tmp_path.iterdir()) == []
