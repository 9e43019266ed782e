"""The model of a cluster: how long the tasks of a stage take on it, and what bounds them.

Tasks are given in their order to the first node with free processors, as many at a time as its processors and its
memory allow. A task takes the time of its serial part, of its parallel part on its processors, and of moving its bytes
over the network of its node. A stage takes at least as long as the shared storage needs for all its bytes, and ends
with its last task; only then the next one begins. Nothing is kept on nodes from task to task.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from measured_stages import MeasuredRun, Stage, Work
from multiea.foundation.memory_budget import DEFAULT_SHARE
from multiea.tasks.cluster_checks import MAX_CPUS_OF_TASK

GIGA = 1e9
SEVERAL = 0.5  # share of a stage that its longest task takes, from which on it is bound by that task


@dataclass(frozen=True)
class Cluster:
    """memory: of a node, in bytes; network: of a node, and storage: of all nodes together, in bytes per second."""

    nodes: int
    cores: int = 16
    memory: float = 128 * GIGA
    network: float = 1.25 * GIGA
    storage: float = 20 * GIGA

    @property
    def task_cores(self) -> int:
        """How many processors a task gets."""
        return min(self.cores, MAX_CPUS_OF_TASK)

    @property
    def task_memory(self) -> float:
        """How many bytes a task may use by default, in this way of sharing a node."""
        return self.memory * DEFAULT_SHARE / (self.cores // self.task_cores)

    def slots(self, memory: float) -> int:
        """How many tasks that need so much memory a node runs at a time; at least one, even if it does not fit."""
        by_memory = self.memory // memory if memory else self.cores
        return max(1, int(min(self.cores // self.task_cores, by_memory)))


@dataclass(frozen=True)
class Simulated:
    """How long a stage takes and why. is_too_large: whether a task needs more memory than a node has."""

    name: str
    tasks: int
    cpu_seconds: float
    moved: float
    memory: float
    seconds: float
    bound: str
    is_too_large: bool


def simulate(stage: Stage, cluster: Cluster) -> Simulated:
    """The time of one stage."""
    works, memory = stage.works, max(work.memory for work in stage.works)
    slots = cluster.slots(memory)
    threads = cluster.cores if stage.by_driver else cluster.task_cores
    durations = [duration(work, threads, cluster.network) for work in works]
    ends = [0.0] * min(cluster.nodes * slots, len(works))
    for seconds in durations:
        heapq.heapreplace(ends, ends[0] + seconds)
    moved = sum(work.moved for work in works)
    by_tasks, by_network = max(ends), moved / cluster.network / min(cluster.nodes, len(works))
    seconds = max(by_tasks, by_network, moved / cluster.storage)
    if seconds > max(by_tasks, by_network):
        bound = "storage"
    elif stage.by_driver:
        bound = "driver"
    elif len(works) <= cluster.nodes * slots and max(durations) > SEVERAL * seconds:
        bound = "one task"
    else:
        computing = sum(duration(work, threads, float("inf")) for work in works)
        bound = "CPU" if by_network < seconds and computing > sum(durations) / 2 else "network"
    cpu_seconds = sum(work.cpu_seconds for work in works)
    return Simulated(
        stage.name, len(works), cpu_seconds, moved, memory, seconds, bound, is_too_large=memory > cluster.memory
    )


def duration(work: Work, threads: int, network: float) -> float:
    """The seconds of a task on a node that it has for itself."""
    return work.serial + work.parallel / threads + work.moved / network


def joined(parts: Sequence[Simulated]) -> Simulated:
    """A stage over all rounds; bound by what bounds it longest."""
    bounds = {part.bound: sum(one.seconds for one in parts if one.bound == part.bound) for part in parts}
    tasks = sum(part.tasks for part in parts)
    cpu_seconds, moved, seconds = (
        sum(getattr(part, name) for part in parts) for name in ("cpu_seconds", "moved", "seconds")
    )
    memory, bound = max(part.memory for part in parts), max(bounds, key=lambda name: bounds[name])
    too_large = any(part.is_too_large for part in parts)
    return Simulated(parts[0].name, tasks, cpu_seconds, moved, memory, seconds, bound, too_large)


def by_name(stages: Sequence[Stage], cluster: Cluster) -> list[Simulated]:
    """All rounds of each stage together, in the order in which they first come."""
    parts = [simulate(stage, cluster) for stage in stages]
    return [joined([part for part in parts if part.name == name]) for name in dict.fromkeys(p.name for p in parts)]


def measured_again(run: MeasuredRun) -> float:
    """The simulated seconds of the measured run itself, on one node with as many processors as it had threads.

    What was read was in memory; what was written went to a disk, of which the rate is known.
    """
    fast, stages = float("inf"), run.stages()
    own = Cluster(1, run.threads, fast, fast, fast)
    written = sum(work.written for stage in stages for work in stage.works)
    return sum(stage.seconds for stage in by_name(stages, own)) + written / run.bytes_per_second["written"]
