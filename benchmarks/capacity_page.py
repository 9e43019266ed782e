"""Writes the part of docs/scale.md about Wikidata's size from the stored measured tasks.

python benchmarks/capacity_page.py

The text is in benchmarks/capacity_text.py; all numbers come from `experiments/results/stages-100k.json`, the prediction
that is checked from `stages-50k.json`, both written by `benchmarks/stages.py --out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from capacity_limits import limits
from capacity_text import TEXT
from cluster_simulation import NODES, header, rows_of, total, utilisation
from measure import growth_exponent
from measured_stages import MeasuredRun
from multiea.similarity.large_tasks import ROWS_AT_ONCE
from simulated_cluster import GIGA, Cluster, Simulated, by_name, measured_again
from stage_growth import LEFT_OUT, PER_PAIR, Scaling, Size

PROJECT = Path(__file__).resolve().parents[1]
RESULTS = PROJECT / "experiments" / "results"
STORED, SMALLER = RESULTS / "stages-100k.json", RESULTS / "stages-50k.json"
PAGE = PROJECT / "docs" / "scale.md"
BEGIN, END = "<!-- made by benchmarks/capacity_page.py: begin -->\n", "<!-- end -->\n"
WIKIDATA, RELATIONS = Size(100_000_000, 1_500_000_000, 5), 10_000
IN_ALL = Size(20_000_000, 300_000_000, 5)
CLUSTERS = [Cluster(nodes) for nodes in NODES]


def main() -> None:
    """Replaces the part of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(
        before + BEGIN + part(MeasuredRun.read(STORED), MeasuredRun.read(SMALLER)) + END + rest.split(END)[1]
    )


def part(run: MeasuredRun, smaller: MeasuredRun) -> str:
    """The part of the page."""
    scaling = Scaling(run, WIKIDATA, task_memory=CLUSTERS[-1].task_memory, smaller=smaller)
    results = [by_name(scaling.stages(), cluster) for cluster in CLUSTERS]
    last = {stage.name: stage for stage in results[-1]}
    disk = scaling.disk()
    everything = total(results[-1])
    without = everything.seconds - last["comparing"].seconds - last["searching"].seconds
    index = next(task.written for task in run.tasks if task.stage == "indexing") * scaling.factor
    exponent = growth_exponent([smaller.entities, run.entities], [cpu_seconds(smaller), cpu_seconds(run)])
    faster = total(by_name(Scaling(run, WIKIDATA, exponent, CLUSTERS[-1].task_memory, smaller).stages(), CLUSTERS[-1]))
    return TEXT.format(
        run=run,
        own_seconds=run.seconds - run.waited,
        again=measured_again(run),
        again_difference=measured_again(run) / (run.seconds - run.waited) - 1,
        smaller=smaller,
        predicted=predicted(smaller, run),
        predicted_of=cpu_seconds(run),
        stages=table(header(CLUSTERS), rows_of(results)),
        hours=table(
            ("nodes", "hours", "processors in use"), [hours(c, r) for c, r in zip(CLUSTERS, results, strict=True)]
        ),
        disk=table(("shards", "bytes per entity", "for each", "TB"), disk_rows(scaling, disk)),
        disk_total=sum(disk.values()) / 1e12,
        limits=table(("entities per KG", "what", "where"), limit_rows(scaling)),
        block=ROWS_AT_ONCE * run.width / GIGA,
        task_memory=CLUSTERS[-1].task_memory / GIGA,
        storage_rate=everything.moved / everything.seconds / GIGA,
        candidates=scaling.candidates / 1e6,
        blocks=last["comparing"].tasks,
        rounds=len({task.round for task in run.tasks if task.stage == "comparing"}),
        embeddings=run.width * scaling.candidates / GIGA,
        comparing=last["comparing"].moved / 1e12,
        comparing_share=last["comparing"].seconds / everything.seconds,
        searching=last["searching"].moved / 1e12,
        search_blocks=last["searching"].tasks,
        index=index / GIGA,
        indexes=index * WIKIDATA.kgs / GIGA,
        without_hours=without / 3600,
        states=2 * WIKIDATA.entities * run.dimensions * 2 / GIGA,
        flow=WIKIDATA.entities * 2 * (2 * run.dimensions + run.dimensions // 2) / GIGA,
        embedding=WIKIDATA.entities * run.width / GIGA,
        joint=WIKIDATA.entities * run.width * WIKIDATA.kgs / GIGA,
        edges=2 * WIKIDATA.triples * 8 / GIGA,
        triples=12 * WIKIDATA.triples * WIKIDATA.kgs / GIGA,
        driver=max(stage.memory for stage in results[-1] if stage.bound == "driver") / GIGA,
        driver_hours=sum(stage.seconds for stage in results[-1] if stage.bound == "driver") / 3600,
        largest=max(stage.memory for stage in results[-1] if stage.bound != "driver") / GIGA,
        key=WIKIDATA.entities**2 * 2 * RELATIONS,
        pairs=WIKIDATA.pairs,
        in_all=in_all(run, smaller),
        exponent=exponent,
        faster=faster.seconds / 3600,
        faster_cpu=faster.cpu_seconds / 3600,
        cpu_hours=everything.cpu_seconds / 3600,
    )


def cpu_seconds(run: MeasuredRun) -> float:
    """Of all tasks and of the driver, without what is left out when sizes are scaled."""
    return sum(task.cpu_seconds for task in run.tasks if task.stage != LEFT_OUT)


def predicted(smaller: MeasuredRun, run: MeasuredRun) -> float:
    """The CPU seconds of a run as a smaller one predicts them."""
    stages = Scaling(smaller, Size(run.entities, run.triples, run.kgs), dimensions=run.dimensions).stages()
    return sum(work.cpu_seconds for stage in stages for work in stage.works)


def in_all(run: MeasuredRun, smaller: MeasuredRun) -> float:
    """The hours where Wikidata's size is that of all KGs together."""
    return total(by_name(Scaling(run, IN_ALL, smaller=smaller).stages(), CLUSTERS[-1])).seconds / 3600


def hours(cluster: Cluster, stages: list[Simulated]) -> tuple[str, ...]:
    """A row per cluster."""
    return (f"{cluster.nodes:,}", f"{total(stages).seconds / 3600:,.0f}", f"{utilisation(cluster, stages):.1%}")


def disk_rows(scaling: Scaling, disk: dict[str, float]) -> list[tuple[str, ...]]:
    """A row per kind of shards at the moment when they take most."""
    rows: list[tuple[str, ...]] = []
    for kind in sorted(disk, key=lambda kind: -disk[kind]):
        is_of_pairs = kind in PER_PAIR
        count = scaling.size.pairs if is_of_pairs else scaling.size.kgs
        each = disk[kind] / count / scaling.size.entities
        rows.append((kind, f"{each:,.0f}", "pair of KGs" if is_of_pairs else "KG", f"{disk[kind] / 1e12:,.2f}"))
    return rows


def limit_rows(scaling: Scaling) -> list[tuple[str, ...]]:
    """A row per limit, the first one first."""
    found = limits(scaling, CLUSTERS[-1].memory, RELATIONS)
    return [(f"{limit.entities / 1e6:,.1f} million", limit.what, limit.where) for limit in found]


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows in Markdown."""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
