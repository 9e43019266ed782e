"""Runs cells: trains, scores with each enhancement, and stores the results, so that no run is repeated."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch

from multiea.api import Alignment, align
from multiea.foundation import progress
from multiea.foundation.errors import InputError, MultiEAError, SettingError
from multiea.foundation.version import __version__
from multiea.reproduction.benchmark_tasks import TRAIN_RATIO, DataName, TaskOf
from multiea.reproduction.cells import Cell
from multiea.reproduction.gold_order import scores_by_order
from multiea.reproduction.stored_results import current_settings, store, stored_row
from multiea.settings.engines import check_engine, default_enhancement, default_training, unused_settings
from multiea.settings.enhancement import Enhancement
from multiea.settings.training import Training
from multiea.settings.tree import STRUCTURE

BYTES_PER_PARAMETER = 4
MEGABYTE = 1 << 20  # as in the paper
TRAINING_KEYS = {field.name for field in fields(Training)}


def run_cells(
    cells: Sequence[Cell], results: Path, task_of: TaskOf, data_name: DataName, *, quick: bool, device: str
) -> int:
    """Runs everything that is not stored yet for the data; returns the number of runs."""
    names = {data: data_name(data) for data in sorted({cell.data for cell in cells})}
    open_runs = [
        (cell, state, value)
        for cell in cells
        for state, value in cell.runs()
        if not _is_up_to_date(stored_row(results, cell, state, value), cell, value, names[cell.data], quick=quick)
    ]
    for cell, _, value in open_runs:
        _check(cell, value, quick=quick)
    start, total = time.perf_counter(), len(open_runs)
    with progress.stage("experiments", total) as advance:
        for done, (cell, state, value) in enumerate(open_runs):
            minutes = (time.perf_counter() - start) / max(1, done) * (total - done) / 60
            remaining = f", about {minutes:.0f} min remaining" if done else ""
            advance(0, f"{done} of {total} done, running {cell.name}{remaining}")
            try:
                row = run_cell(cell, state, value, task_of, quick=quick, device=device)
            except SettingError as error:
                raise SettingError(f"{cell.name}, one of {total} runs that are not stored yet: {error}") from None
            store(results, cell, row)
            advance(1)
    return total


def _check(cell: Cell, value: float | None, *, quick: bool) -> None:
    """Raises an error for invalid settings before anything is run."""
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
    """One run of a cell, as a row of its results."""
    settings = cell.setting(value)
    task = task_of(cell.data, random_state, settings.pop("train_ratio", TRAIN_RATIO))
    modes = _enhancements(cell, settings.pop("gamma", None))
    shortcuts = {key: part for key, part in settings.items() if key not in TRAINING_KEYS}
    shortcuts["evidence"] = STRUCTURE  # as in the paper
    if "training" not in unused_settings(settings["engine"]):
        shortcuts["training"] = _training(cell, value, quick=quick)
    start = time.perf_counter()
    first, *others = cell.enhancements
    alignment = align(task, enhancement=modes[first], random_state=random_state, device=device, **shortcuts)
    if alignment.history.get("interrupted"):
        raise KeyboardInterrupt  # an unfinished training is not a result
    scores = {first: _stored_scores(alignment.evaluate())}
    for mode in others:
        scores[mode] = _stored_scores(alignment.with_enhancement(modes[mode]).evaluate())
    orders = scores_by_order(alignment, cell.orders, random_state) if cell.orders else {}
    return {
        "random_state": random_state,
        "value": value,
        "data": task.name,
        "settings": settings_of(cell, value, quick=quick),
        "scores": scores,
        "orders": orders,
        **_costs(alignment),
        "seconds": time.perf_counter() - start,
        **_machine(alignment),
    }


def _enhancements(cell: Cell, gamma: float | None) -> dict[str, Enhancement]:
    """The enhancements of a cell by mode; gamma: the weight of direct similarities, if the cell sets it."""
    modes = {mode: default_enhancement(cell.settings["engine"], mode) for mode in cell.enhancements}
    if gamma is None:
        return modes
    return {mode: replace(enhancement, weights=(gamma, 1 - gamma)) for mode, enhancement in modes.items()}


def _costs(alignment: Alignment) -> dict[str, Any]:
    """Parameters, memory and seconds of the training."""
    history = alignment.history
    parameters = history.get("parameters", 0)
    return {
        "pairs": {
            name: {key: part[key] for key in ("parameters", "seconds")}
            for name, part in history.get("pairs", {}).items()
        },
        "parameters": parameters,
        "parameter_mb": parameters * BYTES_PER_PARAMETER / MEGABYTE,
        "peak_memory_mb": history.get("peak_memory_mb"),
        "training_seconds": history.get("seconds", alignment.seconds["engine"]),
    }


def _machine(alignment: Alignment) -> dict[str, Any]:
    on_gpu = alignment.canonical_embeddings.device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name() if on_gpu else f"{torch.get_num_threads()} CPU cores",
        "versions": {"multiea": __version__, "torch": torch.__version__, "python": platform.python_version()},
    }


def settings_of(cell: Cell, value: float | None, *, quick: bool) -> dict[str, Any]:
    """Everything that a run depends on, except data and random state; a stored run with other settings is repeated."""
    settings = cell.setting(value) | asdict(_training(cell, value, quick=quick))
    return {key: list(part) if isinstance(part, tuple) else part for key, part in settings.items()}


def _training(cell: Cell, value: float | None, *, quick: bool) -> Training:
    given = {key: part for key, part in cell.setting(value).items() if key in TRAINING_KEYS}
    training = replace(default_training(cell.settings["engine"]), **given)
    return replace(training, epochs=4, evaluate_every=2, dimensions=32) if quick else training


def _is_up_to_date(
    row: Mapping[str, Any] | None, cell: Cell, value: float | None, data: str | None, *, quick: bool
) -> bool:
    """Whether a stored run matches its cell; data: the name of the data that would be used, None if there is none."""
    if row is None or (data is not None and row["data"] != data):
        return False
    scored = set(row["scores"]) == set(cell.enhancements) and bool(row.get("orders")) == bool(cell.orders)
    return scored and current_settings(row["settings"]) == settings_of(cell, value, quick=quick)


def _stored_scores(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an evaluation that is stored."""
    return {key: metrics[key] for key in ("m_hits", "pairs", "hits")}
