"""Resources made ready: a work folder, a memory budget, and a cluster whose nodes were checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from multiea.foundation import progress
from multiea.foundation.memory_budget import memory_budget
from multiea.tasks.cluster import connected
from multiea.tasks.cluster_checks import ClusterShape, checked_cluster
from multiea.tasks.ray_runner import RayRunner
from multiea.tasks.resources import Resources
from multiea.tasks.runner import LocalRunner, Runner
from multiea.tasks.work_folder import WorkFolder, work_folder


@dataclass(frozen=True)
class Workplace:
    """Resources that are ready: the folder is there, and the nodes of the cluster were checked."""

    folder: WorkFolder
    memory: int
    cluster: ClusterShape | None = None

    def runner(self) -> Runner:
        """Runs the tasks of stages here, or spread over the cluster."""
        if self.cluster is None:
            return LocalRunner(self.folder.shards, self.memory)
        return RayRunner(self.folder.make(), self.memory, self.cluster.cpus)

    def runner_of_whole(self) -> Runner:
        """Runs one task on the cluster that gets a node for itself."""
        assert self.cluster is not None
        return RayRunner(self.folder.make(), self.cluster.memory_of_node, self.cluster.cpus_of_node)


@contextmanager
def prepared(resources: Resources, beside: Path | None = None) -> Iterator[Workplace]:
    """Connects and checks everything, before work starts; beside: where the output will be."""
    named = None if resources.work_folder is None else Path(resources.work_folder)
    with ExitStack() as stack:
        if resources.cluster is None:
            memory = memory_budget(resources.memory)
            yield Workplace(stack.enter_context(work_folder(named, beside)), memory)
            return
        with progress.stage("connecting to the cluster"):
            stack.enter_context(connected(resources.cluster))
            folder = stack.enter_context(work_folder(named, beside))
            shape = checked_cluster(folder.make(), resources.memory)
        yield Workplace(folder, shape.memory, shape)
