"""What each task of aligning large KGs costs: seconds, bytes of shards, and memory, for generated KGs.

KGs are aligned in a fresh process by one task after the other, with shards in a folder, however small they are. A table
by stage is printed; --out stores all tasks, from which `benchmarks/cluster_simulation.py` computes larger sizes and
clusters. CPU seconds do not depend on what else the machine does. Where it has other work, the seconds are longer: the
seconds in which the main thread waited for a processor are given.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numba.np.ufunc.parallel import threading_layer

import multiea
from growth import exact_search_up_to
from measure import measure, print_table
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.engines.large_flow import sizes_of_many
from multiea.foundation.memory_budget import memory_budget
from multiea.pipeline.align import align
from multiea.runs.run import Run
from multiea.runs.saving import save_run
from multiea.settings.tree import AlignSettings
from multiea.tasks.folder_shards import FolderShards
from noted_tasks import NotingRunner, seconds_waited

WARM_UP = Synthesis(kgs=3, entities=600)  # so that compiled code is there and loaded before anything is measured
PROBE = 1 << 28  # bytes that are read and zeroed to learn how fast that is
READING, EVALUATING, SAVING = "reading", "evaluating", "saving"
HEADER = (
    "stage",
    "tasks",
    "CPU s",
    "CPU s of driver",
    "read MB",
    "written MB",
    "memory of a task MB",
    "with mapped files",
)


def main() -> None:
    """Generates KGs, aligns them and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=100_000, help="per KG")
    parser.add_argument("--triples-per-entity", type=float, default=15.0, help="about as many as Wikidata has")
    parser.add_argument("--kgs", type=int, default=3)
    parser.add_argument("--dimensions", type=int, help="of a mark; by default as for so many entities")
    parser.add_argument("--memory", help="the memory budget, such as 4GiB")
    parser.add_argument("--out", type=Path, help="a JSON file for all tasks")
    options = parser.parse_args()
    if options.out is not None and (options.out.is_dir() or not options.out.parent.is_dir()):
        parser.error(f"--out must be a file in a folder that exists, got {options.out}")
    try:
        made = Synthesis(kgs=options.kgs, entities=options.entities, triples_per_entity=options.triples_per_entity)
        propagation = multiea.Propagation(dimensions=options.dimensions)
        settings = AlignSettings.default(evidence="structure", propagation=propagation)
        memory = memory_budget(options.memory)
    except multiea.MultiEAError as error:
        parser.error(str(error))
    os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that wait for work would count as working
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(measured_run, Path(folder), made, settings, memory).result
    if options.out is not None:
        options.out.write_text(json.dumps(measured) + "\n", encoding="utf-8")
    print_table(HEADER, [*rows_of(measured["tasks"])])
    print(f"{measured['seconds']:.0f} s in all, of which {measured['waited']:.0f} s waiting for a processor")


def measured_run(folder: Path, made: Synthesis, settings: AlignSettings, memory: int) -> dict[str, Any]:
    """Aligns generated KGs and says what each task cost."""
    for name in ("small", "data"):
        (folder / name).mkdir()
    write_synthetic(WARM_UP, folder / "small")
    with exact_search_up_to(0.0):
        _aligned(folder / "small", settings, NotingRunner(FolderShards(folder / "first"), memory))
    kgs = write_synthetic(made, folder / "data")["kgs"].values()
    shutil.rmtree(folder / "first")
    start, waited = time.perf_counter(), seconds_waited()
    runner = NotingRunner(FolderShards(folder / "shards"), memory)
    with exact_search_up_to(0.0):
        groups = _aligned(folder / "data", settings, runner)
    seconds, waited = time.perf_counter() - start, seconds_waited() - waited
    sizes = sizes_of_many(settings.propagation, made.kgs * made.entities)
    return {
        "kgs": made.kgs,
        "entities": made.entities,
        "triples": sum(kg["triples"] for kg in kgs) // made.kgs,
        "relations": max(kg["relations"] for kg in kgs),
        "groups": groups,
        "dimensions": sizes.dimensions,
        "width": sizes.width,
        "threads": torch.get_num_threads(),
        "threading": str(threading_layer()),  # type: ignore[no-untyped-call]
        "memory_budget": memory,
        "seconds": round(seconds, 2),
        "waited": round(waited, 2),
        "bytes_per_second": rates(folder),
        "disk": runner.after_stages,
        "tasks": [asdict(task) for task in runner.noted],
    }


def _aligned(folder: Path, settings: AlignSettings, runner: NotingRunner) -> int:
    """Reads, aligns, evaluates and saves; returns the number of groups found."""
    task = multiea.load(folder)
    runner.driver_did(READING, read=size_of(folder))
    alignment = align(task, settings, runner=runner)
    runner.driver_did("grouping")
    run = Run.of(alignment)
    runner.driver_did(EVALUATING)
    save_run(run, folder / "run")
    runner.driver_did(SAVING, written=size_of(folder / "run"))
    return len(alignment.found.groups)


def size_of(folder: Path) -> int:
    """The bytes of the files in a folder."""
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())


def rates(folder: Path) -> dict[str, float]:
    """How fast one processor reads a file that is in memory already, zeroes fresh memory, and writes to the disk.

    In bytes per second; of reading and zeroing its own time counts, of writing all of it.
    """
    shards, ones = FolderShards(folder / "probe"), np.ones(PROBE, np.uint8)
    best = {"read": 0.0, "zeroed": 0.0, "written": 0.0}
    for _ in range(3):
        before = time.perf_counter()
        shards.put("probe", {"bytes": ones})
        writing = time.perf_counter() - before
        start = time.thread_time()
        shards.rows("probe", "bytes", 0, PROBE)
        middle = time.thread_time()
        np.empty(PROBE, np.uint8).fill(0)
        times = {"read": middle - start, "zeroed": time.thread_time() - middle, "written": writing}
        best = {name: max(best[name], PROBE / seconds) for name, seconds in times.items()}
    return {name: round(rate) for name, rate in best.items()}


def rows_of(tasks: list[dict[str, Any]]) -> Iterable[tuple[str, ...]]:
    """A row per stage and one of all."""
    for stage in [*dict.fromkeys(task["stage"] for task in tasks), None]:
        some = [task for task in tasks if stage in (None, task["stage"])]
        spread = [task for task in some if not task["by_driver"]]
        total = {key: sum(task[key] for task in some) for key in ("cpu_seconds", "read", "written")}
        of_driver = total["cpu_seconds"] - sum(task["cpu_seconds"] for task in spread)
        yield (
            stage or "all",
            f"{len(spread):,}",
            f"{total['cpu_seconds'] - of_driver:.1f}",
            f"{of_driver:.1f}",
            f"{total['read'] / 1e6:,.0f}",
            f"{total['written'] / 1e6:,.0f}",
            *(f"{max(task[kind] for task in some) / 1e6:,.0f}" for kind in ("memory", "with_files")),
        )


if __name__ == "__main__":
    main()
