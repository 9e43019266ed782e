"""Runs cells: trains, scores with each enhancement, and stores what was measured, so that nothing is run twice."""

from __future__ import annotations

import json
import platform
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch

from multiea.api import align
from multiea.data.benchmarks import RECIPES, Build, build_benchmark
from multiea.data.groups import Groups
from multiea.data.load import load
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.task import Task
from multiea.data.write import write_task
from multiea.foundation import progress
from multiea.foundation.atomic_files import new_folder
from multiea.foundation.errors import InputError, MultiEAError, SettingError
from multiea.foundation.version import __version__
from multiea.reproduction.cells import Cell
from multiea.reproduction.gold_order import scores_by_order
from multiea.settings.engines import check_engine, default_enhancement, default_training
from multiea.settings.training import Training
from multiea.settings.tree import RENAMED_KEYS

TaskOf = Callable[[str, int, float], Task]  # data, random state, share of groups that are seeds
DataName = Callable[[str], str | None]  # what the data at hand are called, None where there are none
TRAIN_RATIO = 0.3
QUICK_ENTITIES = 400
MEGABYTE = 1 << 20  # the paper's: four bytes a parameter


def run_cells(
    cells: Sequence[Cell], results: Path, task_of: TaskOf, data_name: DataName, *, quick: bool, device: str
) -> int:
    """Runs what is not stored yet of the data at hand; returns how many runs that were."""
    names = {data: data_name(data) for data in sorted({cell.data for cell in cells})}
    open_runs = [
        (cell, state, value)
        for cell in cells
        for state, value in cell.runs()
        if not _is_up_to_date(
            _stored(results, cell).get(_key(state, value)), cell, value, names[cell.data], quick=quick
        )
    ]
    for cell, _, value in open_runs:
        _check(cell, value, quick=quick)
    start, total = time.perf_counter(), len(open_runs)
    with progress.stage("experiments", total) as advance:
        for done, (cell, state, value) in enumerate(open_runs):
            left = (time.perf_counter() - start) / max(1, done) * (total - done) / 60
            about = f", about {left:.0f} min" if done else ""
            advance(0, f"{done} done, running {cell.name}, {total - done - 1} left{about}")
            try:
                row = run_cell(cell, state, value, task_of, quick=quick, device=device)
            except SettingError as error:
                raise SettingError(f"{cell.name}, one of {total} runs that are not stored yet: {error}") from None
            store(results, cell, row)
            advance(1)
    return total


def _check(cell: Cell, value: float | None, *, quick: bool) -> None:
    """Names the experiment whose settings cannot be, before any is run."""
    try:
        check_engine(cell.settings["engine"])
        _training(cell, value, quick=quick)
        for mode in cell.enhancements:
            default_enhancement(cell.settings["engine"], mode)
    except (MultiEAError, TypeError, LookupError, AttributeError) as error:
        raise InputError(f"the experiment {cell.name} cannot be run: {error}") from None


def run_cell(
    cell: Cell, random_state: int, value: float | None, task_of: TaskOf, *, quick: bool, device: str
) -> dict[str, Any]:
    """One run of a cell and all that is measured of it."""
    settings = cell.setting(value)
    task = task_of(cell.data, random_state, settings.pop("train_ratio", TRAIN_RATIO))
    gamma = settings.pop("gamma", None)
    engine, training = settings.pop("engine"), _training(cell, value, quick=quick)
    rest = {key: part for key, part in settings.items() if key not in _of_training()}
    modes = {mode: default_enhancement(engine, mode) for mode in cell.enhancements}
    if gamma is not None:
        modes = {mode: replace(enhancement, weights=(gamma, 1 - gamma)) for mode, enhancement in modes.items()}
    start = time.perf_counter()
    first, *others = modes.values()
    alignment = align(
        task, engine=engine, enhancement=first, training=training, random_state=random_state, device=device, **rest
    )
    if alignment.history.get("interrupted"):
        raise KeyboardInterrupt  # half a training is no result
    scores = {cell.enhancements[0]: _scores(alignment.evaluate())}
    for mode, enhancement in zip(cell.enhancements[1:], others, strict=True):
        scores[mode] = _scores(alignment.with_enhancement(enhancement).evaluate())
    orders = scores_by_order(alignment, cell.orders, random_state) if cell.orders else {}
    pairs = alignment.history.get("pairs", {})
    parameters = alignment.history.get("parameters", 0)
    cuda = alignment.embeddings.device.type == "cuda"
    return {
        "random_state": random_state,
        "value": value,
        "data": task.name,
        "settings": settings_of(cell, value, quick=quick),
        "scores": scores,
        "orders": orders,
        "pairs": {name: {key: part[key] for key in ("parameters", "seconds")} for name, part in pairs.items()},
        "parameters": parameters,
        "parameter_mb": parameters * 4 / MEGABYTE,
        "peak_memory_mb": alignment.history.get("peak_memory_mb"),
        "training_seconds": alignment.history.get("seconds", alignment.seconds["engine"]),
        "seconds": time.perf_counter() - start,
        "device": torch.cuda.get_device_name() if cuda else f"{torch.get_num_threads()} CPU cores",
        "versions": {"multiea": __version__, "torch": torch.__version__, "python": platform.python_version()},
    }


def settings_of(cell: Cell, value: float | None, *, quick: bool) -> dict[str, Any]:
    """All a run depends on but its data and random state: a stored run with other settings is run again."""
    settings = cell.setting(value) | asdict(_training(cell, value, quick=quick))
    return {key: list(part) if isinstance(part, tuple) else part for key, part in settings.items()}


def current_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings with today's names."""
    renamed = {old.split(".")[1]: new.split(".")[1] for old, new in RENAMED_KEYS.items()}
    return {renamed.get(key, key): value for key, value in stored.items()}


def _training(cell: Cell, value: float | None, *, quick: bool) -> Training:
    given = {key: part for key, part in cell.setting(value).items() if key in _of_training()}
    training = replace(default_training(cell.settings["engine"]), **given)
    return replace(training, epochs=4, evaluate_every=2, dimensions=32) if quick else training


def _of_training() -> set[str]:
    return {field.name for field in fields(Training)}


def _is_up_to_date(
    row: dict[str, Any] | None, cell: Cell, value: float | None, data: str | None, *, quick: bool
) -> bool:
    """Whether a stored run is what the cell asks for; data: the name of the data at hand, where some are."""
    if row is None or (data is not None and row["data"] != data):
        return False
    scored = set(row["scores"]) == set(cell.enhancements) and bool(row.get("orders")) == bool(cell.orders)
    return scored and current_settings(row["settings"]) == settings_of(cell, value, quick=quick)


def _scores(metrics: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an evaluation."""
    kept = {"m_hits": metrics["m_hits"], "pairs": metrics["pairs"]}
    return kept | {"hits": {pool: metrics["hits"][pool] for pool in metrics["hits"]}}


def stored(results: Path, cell: Cell) -> list[dict[str, Any]]:
    """The rows of a cell that were run."""
    return list(_stored(results, cell).values())


def store(results: Path, cell: Cell, row: dict[str, Any]) -> None:
    """Adds a row to those of a cell; a crash leaves the old file whole."""
    rows = _stored(results, cell)
    rows[_key(row["random_state"], row["value"])] = row
    path = _path(results, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".partial")
    draft.write_text(json.dumps([rows[key] for key in sorted(rows)], indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def _stored(results: Path, cell: Cell) -> dict[tuple[int, float], dict[str, Any]]:
    path = _path(results, cell)
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {_key(row["random_state"], row["value"]): row for row in rows if row["settings"]}
    except (ValueError, KeyError, TypeError):
        raise InputError("holds no results", path=path, hint="Remove it; the experiment is then run again") from None


def _path(results: Path, cell: Cell) -> Path:
    return results / f"{cell.name}.json"


def _key(random_state: int, value: float | None) -> tuple[int, float]:
    return random_state, float("-inf") if value is None else float(value)


def tasks(source: Path | None, folder: Path, *, quick: bool) -> tuple[TaskOf, DataName]:
    """Where cells get their data: benchmarks built below a folder, or for a quick look generated KGs of as many."""

    def task_of(data: str, random_state: int, train_ratio: float) -> Task:
        place = folder / data
        if not place.exists():
            with new_folder(place, "data set") as draft:
                (_generate(data, draft) if quick else _build(data, source, draft))
        return load(place, train_ratio=train_ratio, random_state=random_state)

    def data_name(data: str) -> str | None:
        known = quick or source is not None or (folder / data).exists()
        return task_of(data, 0, TRAIN_RATIO).name if known else None

    return task_of, data_name


def _generate(data: str, folder: Path) -> None:
    """Small KGs of a benchmark's number and names."""
    names = RECIPES[data].kg_names
    with tempfile.TemporaryDirectory() as place:
        write_synthetic(Synthesis(kgs=len(names), entities=QUICK_ENTITIES), Path(place))
        made = load(place)
    kgs = [replace(kg, name=name) for kg, name in zip(made.kgs, names, strict=True)]
    write_task(Task(kgs, Groups(names, made.known.members), name=data), folder)


def _build(data: str, source: Path | None, folder: Path) -> None:
    if source is None:
        raise SettingError("--source must say where DBP15K and DWY100K (or DWY15K) lie: a folder or an archive")
    task = build_benchmark(Build(data), source)
    write_task(task, folder)
    (folder / "dataset.toml").write_text(f'name = "{task.name}"\n', encoding="utf-8")
