"""Loading a task as settings describe it: a data set, or a run to which a KG is added."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from multiea.data.load import load, read_one_kg
from multiea.data.origin import Origin
from multiea.data.readers import read_given_groups
from multiea.data.role_choices import refuse_unknown_roles, roles_of, warn_of_names_by_values
from multiea.data.task import Task
from multiea.foundation.errors import SettingError
from multiea.pipeline.growing import grown_task, refuse_known_name
from multiea.runs.opening import open_run
from multiea.settings.data import Data
from multiea.settings.tree import AlignSettings


def load_task(settings: AlignSettings) -> Task:
    """The task of the settings' data set; its origin records how to read it again."""
    if not isinstance(settings, AlignSettings):
        raise SettingError(f"load_task takes an AlignSettings, got {settings!r}; multiea.load reads a data set")
    data = settings.data
    if not data.source:
        raise SettingError("no data set is named; give one as DATASET, or as data.source in the file of --config")
    if data.grown_from is not None:
        return _load_grown_task(data)
    return load(
        data.source,
        seeds=data.seeds,
        train_ratio=data.train_ratio,
        validation_ratio=data.validation_ratio or 0.0,
        random_state=settings.random_state if data.random_state is None else data.random_state,
        lenient=data.lenient,
        roles=roles_of(data),
    )


def _load_grown_task(data: Data) -> Task:
    """The KGs of a run and a new one from its files."""
    start = time.perf_counter()
    if data.seeds is None:
        raise SettingError("adding a KG needs known groups that link it to the others; give a file of them as --seeds")
    assert data.grown_from is not None
    before = open_run(data.grown_from, with_triples=True).alignment.task
    kg = read_one_kg([Path(file) for file in data.source], data.kg_name, roles_of(data))
    refuse_known_name(before, kg)
    refuse_unknown_roles([kg], roles_of(data))
    warn_of_names_by_values(kg)
    kgs = [*before.kgs, kg]
    seeds = read_given_groups(Path(data.seeds), kgs, lenient=data.lenient)
    held_out = None if data.held_out is None else read_given_groups(Path(data.held_out), kgs, lenient=data.lenient)
    task = grown_task(before, kg, seeds, held_out, path=data.seeds)
    recorded = replace(data.with_absolute_paths(), name=task.name)
    origin = Origin(recorded, task.origin.warnings, time.perf_counter() - start)
    return Task(task.kgs, task.seeds, task.held_out, task.validation, task.open_seeds, name=task.name, origin=origin)
