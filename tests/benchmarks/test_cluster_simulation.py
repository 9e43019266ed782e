"""The simulation of a cluster: what bounds a stage, how stages grow, and that bad input is refused with exit code 2."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cluster_simulation
from capacity_limits import limits
from measured_stages import MeasuredRun, Stage, Work
from multiea.data.packed_triples import can_pack
from multiea.foundation.errors import MultiEAError
from multiea.kernels.edges import Edges
from noted_tasks import Noted
from simulated_cluster import Cluster, measured_again, simulate
from stage_growth import Scaling, Size

ROWS = 100_000  # candidates of each KG: one block
STAGES = {
    "propagating": 3,
    "embedding": 3,
    "signing": 3,
    "indexing": 3,
    "searching": 6,
    "joining": 3,
    "comparing": 3,
    "normalising": 3,
    "adding paths": 3,
}
INDEX, WIDTH = 5_000_000, 1000


def content() -> dict[str, Any]:
    """A run of three KGs in one round, whose tasks take 3 CPU seconds each, 2 of them in the main thread."""
    tasks = [noted("reading", by_driver=True), noted("preparing", by_driver=True)]
    for stage, count in STAGES.items():
        tasks += [noted(stage) for _ in range(count)]
    tasks.append(noted("evaluating", by_driver=True))
    return {
        "kgs": 3,
        "entities": 200_000,
        "triples": 1_000_000,
        "relations": 200,
        "groups": 100_000,
        "dimensions": 256,
        "width": WIDTH,
        "threads": 2,
        "threading": "omp",
        "memory_budget": 1 << 32,
        "seconds": 2.0 * len(tasks) + 10.0,
        "waited": 10.0,
        "bytes_per_second": {"read": 1e12, "zeroed": 1e12, "written": 1e15},
        "disk": [{"stage": "joining", "round": "round0", "bytes": {"edges": 6_000_000, "pairs": 3_000_000}}],
        "tasks": [asdict(task) for task in tasks],
    }


def noted(stage: str, *, by_driver: bool = False) -> Noted:
    rows = ROWS if stage in ("searching", "comparing") else None
    written = INDEX if stage == "indexing" else 1_000_000
    read = (WIDTH + 20) * ROWS + 7_000_000 if stage == "comparing" else INDEX + 8 * ROWS + 7_000_000
    memory = (WIDTH + 4) * ROWS + 50_000_000 if stage == "comparing" else 50_000_000
    return Noted(stage, "round0", rows, by_driver, 2.0, 3.0, 2.0, read, written, memory, memory + 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stages.json"
    path.write_text(json.dumps(content()), encoding="utf-8")
    return path


@pytest.fixture
def run(file: Path) -> MeasuredRun:
    return MeasuredRun.read(file)


def stage_of(works: list[Work]) -> Stage:
    return Stage("searching", "round0", by_driver=False, works=works)


def scaled(run: MeasuredRun, name: str, **changes: int) -> list[Work]:
    """The tasks of a stage, where the size is that of the run but for some changes."""
    size = replace(Size(run.entities, run.triples, run.kgs), **changes)
    stages = Scaling(run, size, dimensions=run.dimensions).stages()
    return next(stage.works for stage in stages if stage.name == name)


@pytest.mark.parametrize("seed", range(5))
def test_more_nodes_are_never_slower_and_never_faster_than_their_processors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.pareto(1.5, (rng.integers(1, 200), 4)) * [3, 9, 4e9, 4e9]
    works = [Work(serial, parallel, read, written, 2e10) for serial, parallel, read, written in costs.tolist()]
    seconds = [simulate(stage_of(works), Cluster(nodes)).seconds for nodes in range(1, 60)]
    assert all(more <= fewer for fewer, more in pairwise(seconds))
    assert seconds[-1] < seconds[0] or len(works) == 1
    for nodes, taken in zip(range(1, 60), seconds, strict=True):
        assert taken >= sum(work.cpu_seconds for work in works) / (16 * nodes)


def test_a_stage_with_one_task_per_kg_does_not_spread_further() -> None:
    works = [Work(10.0, 40.0, 0, 0, 0)] * 3
    few, many = (simulate(stage_of(works), Cluster(nodes)) for nodes in (3, 100))
    assert few.seconds == many.seconds == 10 + 40 / 4
    assert many.bound == "one task"
    assert simulate(stage_of(works * 400), Cluster(3)).bound == "CPU"


def test_bytes_over_bandwidth_bound_a_stage() -> None:
    works = [Work(0.01, 0.0, 5e9, 5e9, 0)] * 1000
    many = simulate(stage_of(works), Cluster(100, storage=20e9))
    assert many.seconds == pytest.approx(1000 * 10e9 / 20e9)
    assert many.bound == "storage"
    few = simulate(stage_of(works), Cluster(2, network=1e9, storage=20e9))
    assert few.seconds == pytest.approx(1000 * 10e9 / 2 / 1e9)
    assert few.bound == "network"


def test_tasks_that_do_not_fit_side_by_side_run_one_after_the_other() -> None:
    works = [Work(5.0, 0.0, 0, 0, memory=100e9)] * 4
    assert simulate(stage_of(works), Cluster(1, memory=128e9)).seconds == 20
    assert simulate(stage_of(works), Cluster(1, memory=256e9)).seconds == 10
    assert simulate(stage_of(works), Cluster(1, memory=90e9)).is_too_large


def test_the_serial_and_the_parallel_part_of_a_task_are_told_apart(run: MeasuredRun) -> None:
    work = run.work_of(run.tasks[0])  # 3 CPU s with 2 threads, of which the main thread had 2: 1 + 2 / 2
    assert (work.serial, work.parallel) == (1.0, 2.0)


def test_the_measured_run_itself_takes_as_long_as_it_took(run: MeasuredRun) -> None:
    assert measured_again(run) == pytest.approx(run.seconds - run.waited)


def test_the_same_size_takes_the_same_work(run: MeasuredRun) -> None:
    for stage in run.stages():
        if stage.name not in ("searching", "evaluating"):  # searching has scratch memory for each thread
            same = scaled(run, stage.name)
            assert len(same) == len(stage.works)
            for one, other in zip(same, stage.works, strict=True):
                assert asdict(one) == pytest.approx(asdict(other))


def test_tasks_per_kg_grow_with_triples_and_tasks_per_pair_with_entities(run: MeasuredRun) -> None:
    before, after = scaled(run, "propagating"), scaled(run, "propagating", triples=4 * run.triples)
    assert len(after) == 3
    assert after[0].cpu_seconds == pytest.approx(4 * before[0].cpu_seconds)
    assert after[0].memory == pytest.approx(4 * before[0].memory)
    pairs = scaled(run, "joining", entities=4 * run.entities, kgs=5)
    assert len(pairs) == 10
    assert pairs[0].cpu_seconds == pytest.approx(4 * scaled(run, "joining")[0].cpu_seconds)
    paths = scaled(run, "adding paths", kgs=5)  # three third KGs instead of one
    assert paths[0].cpu_seconds == pytest.approx(3 * scaled(run, "adding paths")[0].cpu_seconds)
    assert scaled(run, "adding paths", kgs=4)[0].written == scaled(run, "adding paths")[0].written


def test_blocks_read_the_other_kg_as_a_whole(run: MeasuredRun) -> None:
    factor = 100
    blocks = scaled(run, "comparing", entities=factor * run.entities)
    assert len(blocks) == 3 * -(-factor * ROWS // 131_072)
    read = sum(work.read for work in blocks)
    whole = (WIDTH + 20) * ROWS * factor
    of_rows = 3 * factor * 7_000_000
    assert read == pytest.approx(len(blocks) * whole + of_rows)
    searching = scaled(run, "searching", entities=factor * run.entities)
    assert len(searching) == 2 * len(blocks)
    of_index = (INDEX + 8 * ROWS) * factor
    assert sum(work.read for work in searching) == pytest.approx(len(searching) * of_index + 2 * of_rows)
    own = sum(work.cpu_seconds for work in blocks)
    copied = len(blocks) * whole / 1e12
    assert own - copied == pytest.approx(3 * factor * 3.0, rel=0.01)


def test_what_a_comparing_task_holds_is_bounded_by_its_memory(run: MeasuredRun) -> None:
    size = Size(100 * run.entities, run.triples, 3)
    for room in (1e9, 4e9):
        works = next(s.works for s in Scaling(run, size, task_memory=room).stages() if s.name == "comparing")
        assert max(work.memory for work in works) == pytest.approx(room / 4 + 50_000_000 * 131_072 / ROWS)


def test_cpu_seconds_may_grow_faster_than_entities(run: MeasuredRun) -> None:
    size = Size(100 * run.entities, 100 * run.triples, 3)
    linear, faster = (Scaling(run, size, exponent).stages()[2].works[0] for exponent in (1.0, 1.5))
    assert faster.cpu_seconds == pytest.approx(10 * linear.cpu_seconds)
    assert faster.read == linear.read


def test_memory_that_is_there_at_any_size_does_not_grow(run: MeasuredRun) -> None:
    fixed = 20_000_000  # of 50,000,000, which is 35,000,000 where entities are half as many
    tasks = [replace(task, memory=task.memory - (task.memory - fixed) // 2) for task in run.tasks]
    smaller = replace(run, entities=run.entities // 2, triples=run.triples // 2, tasks=tasks)
    size = Size(100 * run.entities, 100 * run.triples, 3)
    stages = {stage.name: stage.works[0] for stage in Scaling(run, size, smaller=smaller).stages()}
    assert stages["joining"].memory == pytest.approx(fixed + 100 * 30_000_000)
    assert stages["preparing"].memory == pytest.approx(fixed + 100 * 30_000_000)


def test_disk_grows_with_kgs_or_with_pairs_of_kgs(run: MeasuredRun) -> None:
    disk = Scaling(run, Size(run.entities, 2 * run.triples, 5), dimensions=256).disk()
    assert disk["edges"] == pytest.approx(6_000_000 * 2 * 5 / 3)
    assert disk["pairs"] == pytest.approx(3_000_000 * 10 / 3)


def test_the_limits_of_keys_are_those_of_the_code(run: MeasuredRun) -> None:
    relations, nothing = 1_000_000, np.empty((0, 3), np.int32)
    found = limits(Scaling(run, Size(200_000, 1_000_000, 3), dimensions=256), 1e18, relations)
    of_edges, of_triples = (
        next(limit.entities for limit in found if limit.where == f"{module}.py")
        for module in ("kernels/edges", "data/packed_triples")
    )
    with pytest.raises(MultiEAError):
        Edges.of(nothing, of_edges, relations)
    assert Edges.of(nothing, of_edges - 1, relations).entities == of_edges - 1
    assert can_pack(relations, of_triples - 1)
    assert not can_pack(relations, of_triples)
    with pytest.raises(MultiEAError):  # Wikidata's size
        Edges.of(nothing, 100_000_000, 10_000)


def test_a_smaller_run_of_another_kind_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = file.with_name("other.json")
    for changes, message in (({"kgs": 4}, "other KGs"), ({}, "the smaller run has 200,000 entities")):
        other.write_text(json.dumps(content() | changes), encoding="utf-8")
        refused(file, ["--smaller", str(other)], message, capsys, monkeypatch)


def test_the_table_and_what_breaks_are_printed(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["cluster_simulation.py", str(file)])
    cluster_simulation.main()
    printed = capsys.readouterr().out
    row = next(line for line in printed.splitlines() if line.startswith("propagating"))
    assert row.split()[1] == "5"
    assert "the measured run itself: 66 s simulated" in printed
    assert "breaks at 21,474,837 entities per KG" in printed


@pytest.mark.parametrize(
    ("words", "changes", "message"),
    [
        (["--kgs", "1"], {}, "KGs 2 to 11"),
        (["--kgs", "12"], {}, "KGs 2 to 11"),
        (["--entities", "0"], {}, "must be positive"),
        (["--nodes", "0"], {}, "above 0"),
        (["--network", "-1"], {}, "above 0"),
        (["--exponent", "nan"], {}, "above 0"),
        ([], {"threads": 1}, "one thread"),
        ([], {"kgs": 2}, "two KGs"),
        ([], {"dimensions": 512}, "--dimensions 256"),
        ([], {"tasks": []}, "no measured tasks"),
        ([], {"tasks": [{"stage": "searching"}]}, "is not a file that"),
        ([], {"bytes_per_second": {}}, "is not a file that"),
        ([], {"tasks": [asdict(noted("dreaming"))]}, "dreaming"),
    ],
)
def test_bad_input_is_an_error_with_exit_code_2(
    file: Path,
    words: list[str],
    changes: dict[str, Any],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file.write_text(json.dumps(content() | changes), encoding="utf-8")
    refused(file, words, message, capsys, monkeypatch)


@pytest.mark.parametrize("text", [None, "", "[]", '{"kgs": 3}', "no JSON"])
def test_what_is_no_measured_run_is_refused(
    file: Path, text: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.unlink() if text is None else file.write_text(text, encoding="utf-8")
    refused(file, [], "cannot be read" if text is None else "is not a file that", capsys, monkeypatch)


def refused(
    file: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["cluster_simulation.py", str(file), *words])
    with pytest.raises(SystemExit) as ended:
        cluster_simulation.main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
