"""The data of the experiments: the paper's benchmarks, or in quick mode small generated KGs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from multiea.data.benchmarks import RECIPES, Build, build_benchmark
from multiea.data.groups import Groups
from multiea.data.load import load
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.task import Task
from multiea.data.write import write_task
from multiea.foundation.atomic_files import new_folder
from multiea.foundation.errors import SettingError

TaskOf = Callable[[str, int, float], Task]  # arguments: data, random state, share of the groups that are seeds
DataName = Callable[[str], str | None]  # the name of the data that would be used; None if there is none
TRAIN_RATIO = 0.3
QUICK_ENTITIES = 400


def benchmark_tasks(source: Path | None, folder: Path, *, quick: bool) -> tuple[TaskOf, DataName]:
    """Functions that load the data of a cell and name it; data sets are built once below `folder`."""

    def task_of(data: str, random_state: int, train_ratio: float) -> Task:
        place = folder / data
        if not place.exists():
            with new_folder(place, "data set") as draft:
                (_generate(data, draft) if quick else _build(data, source, draft))
        return load(place, train_ratio=train_ratio, random_state=random_state)

    def data_name(data: str) -> str | None:
        available = quick or source is not None or (folder / data).exists()
        return task_of(data, 0, TRAIN_RATIO).name if available else None

    return task_of, data_name


def _generate(data: str, folder: Path) -> None:
    """Writes small KGs, as many as the benchmark has and with the same names."""
    names = RECIPES[data].kg_names
    with tempfile.TemporaryDirectory() as place:
        write_synthetic(Synthesis(kgs=len(names), entities=QUICK_ENTITIES), Path(place))
        made = load(place)
    kgs = [replace(kg, name=name) for kg, name in zip(made.kgs, names, strict=True)]
    write_task(Task(kgs, Groups(names, made.known.members), name=data), folder)


def _build(data: str, source: Path | None, folder: Path) -> None:
    if source is None:
        raise SettingError("give --source, a folder or an archive with DBP15K and DWY100K (or DWY15K)")
    task = build_benchmark(Build(data), source)
    write_task(task, folder)
    (folder / "dataset.toml").write_text(f'name = "{task.name}"\n', encoding="utf-8")
