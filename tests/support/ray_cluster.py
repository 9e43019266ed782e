"""A real Ray cluster of nodes on this machine, reachable from it only."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.places import PROJECT

OBJECT_STORE = 80 << 20
PATHS = os.pathsep.join(str(PROJECT / name) for name in ("src", "tests"))
OTHERS = re.compile("IDLE|Agent")  # processes of Ray that run no task
QUICK_TO_NOTICE = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500}


class RayCluster:
    """A head node with one CPU; more nodes can be added and killed."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster

        self._folder = folder
        self._cluster = Cluster()
        (folder / "ray").mkdir()  # the head writes its address there; it does not make the folder
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAY_TMPDIR", str(folder))
            self._cluster.add_node(**self._options(), include_dashboard=False, _system_config=QUICK_TO_NOTICE)
        self.address = str(self._cluster.address)

    def add_node(self, variables: Mapping[str, str] | None = None) -> Any:
        return self._cluster.add_node(**self._options(variables), wait=False)

    def kill(self, node: Any) -> None:
        """Kills the processes of a node, its workers first, as a power failure would."""
        for process in [one for several in node.all_processes.values() for one in several]:
            for pid in [*children_of(process.process.pid), process.process.pid]:
                with_suppressed_absence(os.kill, pid, signal.SIGKILL)
            process.process.wait()
        self._cluster.worker_nodes.discard(node)

    def workers(self, node: Any) -> set[int]:
        """The processes of a node that run a task at this moment: Ray writes its name into their command line."""
        (raylet,) = node.all_processes["raylet"]
        titles = {pid: command_line_of(pid) for pid in children_of(raylet.process.pid)}
        return {pid for pid, title in titles.items() if title.startswith("ray::") and not OTHERS.search(title)}

    def shutdown(self) -> None:
        self._cluster.shutdown()

    def _options(self, variables: Mapping[str, str] | None = None) -> dict[str, Any]:
        return {
            "num_cpus": 1,
            "object_store_memory": OBJECT_STORE,
            "node_ip_address": "127.0.0.1",
            "temp_dir": str(self._folder),
            "env_vars": {"PYTHONPATH": PATHS, **(variables or {})},
        }


def with_suppressed_absence(function: Callable[..., object], *args: object) -> None:
    try:
        function(*args)
    except ProcessLookupError:
        return


def command_line_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0")
    except OSError:  # it has just ended
        return ""


def children_of(pid: int) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(place.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        if parent == pid:
            found.append(int(place.parent.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


@contextmanager
def another_node(cluster: RayCluster, variables: Mapping[str, str]) -> Iterator[None]:
    """A further node with these environment variables; killed at the end."""
    node = cluster.add_node(variables)
    try:
        yield
    finally:
        cluster.kill(node)
