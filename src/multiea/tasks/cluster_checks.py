"""Checks of a cluster before work starts: the same versions on each node, a work folder that all share, memory."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from multiea.foundation.errors import MultiEAError, OutputError, SettingError, counted
from multiea.foundation.memory_budget import DEFAULT_SHARE, LEAST, parse_memory, shown_size
from multiea.tasks import node_facts

SECONDS = 60.0  # for all nodes to answer; starting a process on a busy node takes some
NOTICED_WITHIN = 15.0  # until Ray lists a node that it cannot reach as dead
SHOWN = 3
MAX_CPUS_OF_TASK = 4
NO_NODE = "the cluster has no node with a CPU; start some with `ray start --address=HEAD:6379`"


@dataclass(frozen=True)
class Node:
    """What a node says about itself. token: what it read in the work folder, or why it could not."""

    id: str
    address: str
    cpus: int
    versions: dict[str, str]
    token: str
    total_memory: int
    free_memory: int


@dataclass(frozen=True)
class ClusterShape:
    """What tasks get: memory of one, CPUs of one, and CPUs of a task that has a node for itself."""

    memory: int
    memory_of_node: int
    cpus: int
    cpus_of_node: int


def checked_cluster(work_folder: Path, memory: str | int | None) -> ClusterShape:
    """Asks all nodes; an error names those that cannot take part, and why."""
    token = secrets.token_hex(8)
    file = work_folder / f"token-{token}"
    try:
        file.write_text(token, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write to the work folder {work_folder}: {error.strerror}") from None
    try:
        nodes = _ask_nodes(file)
        _refuse_other_versions(nodes)
        _refuse_folders_not_shared(nodes, file, token)
    finally:
        for left in work_folder.glob(f"{file.name}*"):
            left.unlink(missing_ok=True)
    return _shape(nodes, memory)


def _ask_nodes(token_file: Path) -> list[Node]:
    """The answers of all nodes that run tasks."""
    import ray  # deferred: an extra
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    alive = {node["NodeID"]: node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1}
    if not alive:
        raise MultiEAError(NO_NODE)
    ray.cloudpickle.register_pickle_by_value(node_facts)
    ask = ray.remote(node_facts.answer)
    asked = {}
    for name in alive:
        only_there = NodeAffinitySchedulingStrategy(node_id=name, soft=False)
        asked[ask.options(num_cpus=0, scheduling_strategy=only_there).remote(str(token_file), name)] = name
    done, silent = ray.wait(list(asked), num_returns=len(asked), timeout=SECONDS)
    if silent:
        names = _named([alive[asked[one]]["NodeManagerAddress"] for one in silent])
        raise MultiEAError(
            f"{names} of the cluster did not answer within {SECONDS:.0f} s; see `ray status`, and remove it or wait"
        )
    nodes = []
    for one in done:
        info = alive[asked[one]]
        try:
            answer = ray.get(one)
        except ray.exceptions.RayError as error:
            if _is_lost(asked[one]):  # it was listed for some seconds after its end
                continue
            reason = " ".join(str(error).split())[-300:]
            raise MultiEAError(f"node {info['NodeManagerAddress']} of the cluster cannot run tasks: {reason}") from None
        nodes.append(Node(asked[one], info["NodeManagerAddress"], int(info["Resources"]["CPU"]), **answer))
    if not nodes:
        raise MultiEAError(NO_NODE)
    return nodes


def _is_lost(node: str) -> bool:
    """Whether a node is gone, as Ray notices after some seconds."""
    import ray  # deferred: an extra

    end = time.monotonic() + NOTICED_WITHIN
    while time.monotonic() < end:
        if node not in [one["NodeID"] for one in ray.nodes() if one["Alive"]]:
            return True
        time.sleep(0.2)
    return False


def _refuse_other_versions(nodes: list[Node]) -> None:
    for name, own in node_facts.versions().items():
        others = [node for node in nodes if node.versions[name] != own]
        if others:
            there = others[0].versions[name]
            what = f"{name} {there}, this machine has {own}"
            if name == "source":
                what = "another copy of the code of multiea, with the same version"
            elif there == node_facts.NOTHING:
                what = f"no {name}, this machine has {own}"
            verb = "has" if len(others) == 1 else "have"
            names = _named([node.address for node in others])
            raise MultiEAError(f"{names} of the cluster {verb} {what}; install the same on all nodes")


def _refuse_folders_not_shared(nodes: list[Node], file: Path, token: str) -> None:
    for node in nodes:
        came_back = file.with_name(f"{file.name}-{node.id}")
        if node.token != token or not came_back.is_file():
            reason = (
                node.token.removeprefix("error: ") if node.token.startswith("error: ") else "it sees another folder"
            )
            raise SettingError(
                f"node {node.address} of the cluster does not share the work folder {file.parent} ({reason}); name a "
                "folder on a file system that all nodes mount at the same place with --work-folder"
            )


def _shape(nodes: list[Node], memory: str | int | None) -> ClusterShape:
    """What fits the smallest node."""
    cpus_of_node = min(node.cpus for node in nodes)
    cpus = min(MAX_CPUS_OF_TASK, cpus_of_node)
    smallest = min(nodes, key=lambda node: node.total_memory)
    budget = max(LEAST, int(min(node.free_memory for node in nodes) * DEFAULT_SHARE))
    if memory is not None:
        budget = parse_memory(memory)
        if budget > smallest.total_memory:
            raise SettingError(
                f"memory {memory} is more than node {smallest.address} has: {shown_size(smallest.total_memory)}"
            )
    tasks_at_once = max(node.cpus // cpus for node in nodes)
    if budget // tasks_at_once < LEAST:
        raise SettingError(
            f"{shown_size(budget)} of memory is too little for {counted(tasks_at_once, 'task')} at a time on one node; "
            f"each needs {shown_size(LEAST)}"
        )
    return ClusterShape(budget // tasks_at_once, budget, cpus, cpus_of_node)


def _named(addresses: list[str]) -> str:
    more = f" and {len(addresses) - SHOWN} more" if len(addresses) > SHOWN else ""
    return f"{'node' if len(addresses) == 1 else 'nodes'} {', '.join(addresses[:SHOWN])}{more}"
