"""What aligning KGs of a given size would take on a cluster, simulated from the measured tasks of a smaller run.

The tasks that `benchmarks/stages.py --out` has stored are scaled to the wanted size (benchmarks/stage_growth.py), and
their stages are simulated one after the other (benchmarks/simulated_cluster.py). They are bound by: the CPUs; the
network of the nodes; the shared storage; one task (there are fewer tasks than nodes could run at a time, so that more
nodes do not help); or the driver, whose own work is done by one process.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf
from pathlib import Path

from capacity_limits import limits
from measure import print_table
from measured_stages import BadInputError, MeasuredRun
from simulated_cluster import GIGA, Cluster, Simulated, by_name, joined, measured_again
from stage_growth import Scaling, Size

NODES = (1, 10, 100)


def main() -> None:
    """Reads the measured tasks, simulates clusters, and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path, help="a JSON file that benchmarks/stages.py --out has written")
    parser.add_argument("--entities", type=int, default=100_000_000, help="of each KG")
    parser.add_argument("--triples", type=int, default=1_500_000_000, help="of each KG")
    parser.add_argument("--kgs", type=int, default=5)
    parser.add_argument("--relations", type=int, default=10_000, help="of each KG")
    parser.add_argument("--nodes", type=int, nargs="+", default=[*NODES])
    parser.add_argument("--cores", type=int, default=Cluster.cores, help="of a node")
    parser.add_argument("--memory", type=float, default=Cluster.memory / GIGA, help="of a node, GB")
    parser.add_argument("--network", type=float, default=Cluster.network / GIGA, help="of a node, GB/s")
    parser.add_argument("--storage", type=float, default=Cluster.storage / GIGA, help="of all nodes together, GB/s")
    parser.add_argument("--exponent", type=float, default=1.0, help="with which CPU seconds grow with entities")
    parser.add_argument("--smaller", type=Path, help="a measured run with fewer entities: what part of memory grows")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    machine = (options.cores, *(value * GIGA for value in (options.memory, options.network, options.storage)))
    if not all(0 < value < inf for value in (*options.nodes, *machine, options.relations, options.exponent)):
        parser.error("nodes, cores, memory, network, storage, relations and the exponent must be numbers above 0")
    clusters = [Cluster(nodes, *machine) for nodes in sorted(set(options.nodes))]
    size = Size(options.entities, options.triples, options.kgs)
    try:
        run = MeasuredRun.read(options.measured)
        smaller = None if options.smaller is None else MeasuredRun.read(options.smaller)
        scaling = Scaling(run, size, options.exponent, clusters[0].task_memory, smaller)
        results = [by_name(scaling.stages(), cluster) for cluster in clusters]
    except BadInputError as error:
        parser.error(str(error))
    if options.json:
        rows = {cluster.nodes: [*map(asdict, stages)] for cluster, stages in zip(clusters, results, strict=True)}
        json.dump({"size": asdict(size), "nodes": rows, "disk": scaling.disk()}, sys.stdout, indent=1)
        return
    print(f"{size.kgs} KGs, each of {size.entities:,} entities and {size.triples:,} triples")
    print_table(header(clusters), rows_of(results))
    for line in summary(scaling, clusters, results):
        print(line)
    for limit in limits(scaling, clusters[0].memory, options.relations):
        print(f"breaks at {limit.entities:,} entities per KG: {limit.what}, {limit.where}")


def header(clusters: Sequence[Cluster]) -> tuple[str, ...]:
    """The names of the columns."""
    nodes = [f"{cluster.nodes:,} node{'s' * (cluster.nodes > 1)}" for cluster in clusters]
    return ("stage", "tasks", "CPU hours", "TB moved", "GB of a task", *(f"s on {name}" for name in nodes), "bound by")


def rows_of(results: Sequence[list[Simulated]]) -> list[tuple[str, ...]]:
    """A row per stage, and one of all; what bounds it is said for the largest cluster."""
    rows = []
    for of_stage in [*zip(*results, strict=True), [total(stages) for stages in results]]:
        last = of_stage[-1]
        too_large = " (more than a node has)" * last.is_too_large
        rows.append(
            (
                last.name,
                f"{last.tasks:,}",
                f"{last.cpu_seconds / 3600:,.1f}",
                f"{last.moved / 1e12:,.2f}",
                f"{last.memory / GIGA:,.1f}",
                *(f"{one.seconds:,.0f}" for one in of_stage),
                last.bound + too_large,
            )
        )
    return rows


def total(stages: Sequence[Simulated]) -> Simulated:
    """All stages together."""
    return replace(joined(stages), name="all", bound="", is_too_large=False)


def utilisation(cluster: Cluster, stages: Sequence[Simulated]) -> float:
    """The share of the processors' time that tasks use."""
    everything = total(stages)
    return everything.cpu_seconds / (everything.seconds * cluster.nodes * cluster.cores)


def summary(scaling: Scaling, clusters: Sequence[Cluster], results: Sequence[list[Simulated]]) -> list[str]:
    """Hours and utilisation on each cluster, disk, and how well the measured run itself is simulated."""
    lines = []
    for cluster, stages in zip(clusters, results, strict=True):
        hours, used = total(stages).seconds / 3600, utilisation(cluster, stages)
        lines.append(f"{cluster.nodes:,} nodes: {hours:,.1f} hours, {used:.1%} of the processors used")
    disk = scaling.disk()
    largest = sorted(disk, key=lambda kind: -disk[kind])[:3]
    parts = ", ".join(f"{kind} {disk[kind] / 1e12:,.2f}" for kind in largest)
    lines.append(f"disk: {sum(disk.values()) / 1e12:,.1f} TB, most of it {parts} TB")
    run = scaling.run
    again, idle = measured_again(run), run.seconds - run.waited
    lines.append(
        f"the measured run itself: {again:.0f} s simulated, {run.seconds:.0f} s measured, of which it waited "
        f"{run.waited:.0f} s for a processor; without these: {again / idle - 1:+.0%}"
    )
    return lines


if __name__ == "__main__":
    main()
