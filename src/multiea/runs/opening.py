"""Opening a run folder: the alignment it holds, with its triples where the data set is still available."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import load, read_one_kg
from multiea.data.open_seeds import OpenSeeds
from multiea.data.origin import Origin
from multiea.data.readers import read_groups
from multiea.data.role_choices import roles_of
from multiea.data.task import Task
from multiea.foundation.errors import InputError, check_kind, counted, path_of
from multiea.foundation.mapped_arrays import release_pages
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.calibration import Calibration
from multiea.runs.files import (
    damage_reported,
    errors_in,
    folders_grown_from,
    is_run,
    read_lineage,
    read_manifest,
    read_metrics,
    read_run_settings,
    read_table,
)
from multiea.runs.layout import SIGNATURE_MARKS, SIGNATURE_WEIGHTS
from multiea.runs.run import Run
from multiea.runs.saving import digests, hash_of
from multiea.runs.stored_embeddings import read_embeddings
from multiea.runs.stored_evidence import read_evidence, read_weights
from multiea.runs.stored_groups import StoredGroups
from multiea.runs.tensor_files import read_tensors
from multiea.settings.tree import AlignSettings
from multiea.similarity.signatures import Signatures

log = logging.getLogger("multiea")
Source = str | Path | Sequence[str | Path]


def open_run(folder: str | Path, *, with_triples: bool = False, data: Source | None = None) -> Run:
    """The run of a folder.

    Its KGs have their entities and names. The triples are in the data set that the run was made from; with_triples
    reads them there, or in `data` if the data set has moved, provided that it has not changed since.
    """
    path = path_of(folder, "a run folder")
    for place in [data] if isinstance(data, str | Path | None) or not isinstance(data, Sequence) else data:
        check_kind(place, str | Path | None, "data", "a path, or a list of paths")
    with damage_reported(path):
        alignment = _read_alignment(path)
    if with_triples:
        alignment = _with_triples(alignment, path, data)
    return Run(alignment, read_metrics(path), str(folder))


def open_run_with_triples_if_possible(folder: str | Path, data: Source | None = None) -> Run:
    """The run of a folder with its triples; without them where the data set cannot be read, with the reason."""
    try:
        return open_run(folder, with_triples=True, data=data)
    except InputError as error:
        if data is not None:
            raise
        return replace(open_run(folder), no_triples=str(error))  # raises itself where more than triples is missing


def changed_since(folder: str | Path, task: Task) -> list[str]:
    """The KGs of a task that differ from those a run was made from."""
    folder = Path(folder)
    with damage_reported(folder):
        hashes = read_manifest(folder)["input"]
    return [kg.name for kg in task.kgs if hashes.get(kg.name) != hash_of(kg)]


def warn_of_changes(task: Task, place: Path) -> None:
    """Warns where a task differs from the one of a run; place: a run folder, a file in it, or anything else."""
    folder = place if place.is_dir() else place.parent
    if is_run(folder) and (changed := changed_since(folder, task)):
        log.warning("changed since %s was made: %s; its groups may differ", folder, ", ".join(changed))


def _with_triples(alignment: AlignmentResult, folder: Path, moved_to: Source | None) -> AlignmentResult:
    """The same over the KGs of the data set that it was made from, which must be unchanged."""
    kgs: list[KnowledgeGraph] = []
    folders = folders_grown_from(folder)
    places: list[Source | None] = [None] * len(folders)
    if moved_to is not None:
        several = [moved_to] if isinstance(moved_to, str | Path) else list(moved_to)
        places = [several] if len(folders) == 1 else list(several)
    if len(places) != len(folders):
        raise InputError(
            f"{counted(len(places), 'place')} given for its data",
            path=folder,
            expected=f"{len(folders)}: the data set of the first run, then the file of each KG that was added",
        )
    for one, place in zip(reversed(folders), places, strict=True):
        kgs = _kgs_of_data_set(one, kgs, place)
    by_name = {kg.name: kg for kg in kgs}
    task = alignment.task
    groups = (task.seeds, task.held_out, task.validation, task.open_seeds)
    task = Task([by_name[name] for name in task.kg_names], *groups, name=task.name, origin=task.origin)
    return replace(alignment, task=task)


def _kgs_of_data_set(folder: Path, before: Sequence[KnowledgeGraph], moved_to: Source | None) -> list[KnowledgeGraph]:
    """The KGs of a run with their triples; before: those of the run that it was grown from."""
    with damage_reported(folder):
        data = read_run_settings(folder).data
        hashes = read_manifest(folder)["input"]
    source = data.source
    if moved_to is not None:
        source = (str(moved_to),) if isinstance(moved_to, str | Path) else tuple(map(str, moved_to))
    if not source:
        raise InputError(
            "the run was made from tables or KGs in memory, which it does not record; its triples are unknown",
            path=folder,
            hint="Write each to a file named after its KG and name these with --data (data=); or export in "
            'Python, from the alignment itself: alignment.export("merged", "merged.nq")',
        )
    try:
        with _warnings_silenced():  # they were given when the run was made, and the data have not changed
            if before:
                kgs = [*before, read_one_kg([Path(file) for file in source], data.kg_name, roles_of(data))]
            else:
                kgs = list(load(source, lenient=True, roles=roles_of(data)).kgs)
    except InputError as error:
        raise InputError(
            f"its data set, {' '.join(source)}, cannot be read: {error}",
            path=folder,
            hint="Move it back to that place, or name its place with --data (export, report; data= in Python)",
        ) from None
    changed = [name for name in hashes if name not in {kg.name for kg in kgs if hash_of(kg) == hashes[name]}]
    if changed or len(kgs) != len(hashes):
        raise InputError(
            f"the data set {' '.join(source)} has changed since the run: {', '.join(changed) or 'more KGs'}",
            path=folder,
            hint="Restore the old files, or align again",
        )
    return kgs


@contextmanager
def _warnings_silenced() -> Iterator[None]:
    def is_error(record: logging.LogRecord) -> bool:
        return record.levelno > logging.WARNING

    log.addFilter(is_error)
    try:
        yield
    finally:
        log.removeFilter(is_error)


def _read_alignment(folder: Path) -> AlignmentResult:
    settings, manifest = read_run_settings(folder), read_manifest(folder)
    _check_digests(folder, manifest)
    task = _read_task(folder, settings)
    tensors = _read_tensors(folder, task)
    stored = StoredGroups.of(read_table(folder / "groups.parquet"), read_table(folder / "pairs.parquet"), task)
    calibration = manifest["calibration"]
    with errors_in(folder / "manifest.json"):
        history = current_history(manifest["history"])
    return AlignmentResult(
        task,
        stored.found,
        read_embeddings(tensors, task),
        settings,
        Calibration(**(calibration | {"coefficients": tuple(calibration["coefficients"])})),
        _signatures(tensors, task),
        read_evidence(tensors, task),
        read_weights(manifest.get("weights", {}), task),
        history,
        read_metrics(folder).get("seconds", manifest.get("seconds", {})),
        duplicates=stored.duplicates(),
        ids=stored.ids(read_lineage(folder)),
        completed_seeds=stored.completed_seeds if len(task.open_seeds) else None,
        peak_rss_mb=manifest.get("peak_rss_mb"),
    )


def _check_digests(folder: Path, manifest: Mapping[str, Any]) -> None:
    present = digests(folder)
    for name, digest in manifest.get("files", {}).items():
        if present.get(name) != digest:
            what = "damaged or changed" if name in present else "missing"
            raise InputError(what, path=folder / name, expected="the file as written", hint="Align again")


def _read_task(folder: Path, settings: AlignSettings) -> Task:
    entities = read_table(folder / "entities.parquet")
    entities = entities.rename({"label": "name"}) if "label" in entities.columns else entities  # of the first version
    kgs = []
    for kg in entities["kg"].unique(maintain_order=True):
        own = entities.filter(pl.col("kg") == kg)
        no_triples = np.empty((0, 3), dtype=np.int32)
        kgs.append(KnowledgeGraph(kg, own["entity"], pl.Series([], dtype=pl.String), no_triples, names=own["name"]))
    paths = (folder / f"{role}.tsv" for role in ("seeds", "held_out", "validation"))
    seeds, held_out, validation = (read_groups(path, kgs) if path.is_file() else None for path in paths)
    path = folder / "open_seeds.jsonl"
    with errors_in(path):
        open_seeds = OpenSeeds.read(kgs, path) if path.is_file() else None
    name = settings.data.name or folder.resolve().name
    data = settings.data
    if data.random_state is None and data.grown_from is None:
        data = replace(data, random_state=settings.random_state)
    return Task(kgs, seeds, held_out, validation, open_seeds, name=name, origin=Origin(data))


def _read_tensors(folder: Path, task: Task) -> dict[str, torch.Tensor]:
    with errors_in(folder / "embeddings.safetensors"):
        endings = ("", SIGNATURE_MARKS, SIGNATURE_WEIGHTS)
        large = {name + ending for name in task.kg_names for ending in endings}
        tensors = read_tensors(folder / "embeddings.safetensors", large)
    for kg in task.kgs:
        if len(tensors[kg.name]) != len(kg.entities):
            raise ValueError(f"{len(tensors[kg.name]):,} embeddings for {len(kg.entities):,} entities of {kg.name}")
    return tensors


def _signatures(tensors: Mapping[str, torch.Tensor], task: Task) -> Signatures | None:
    if f"{task.kgs[0].name}{SIGNATURE_MARKS}" not in tensors:
        return None
    parts = []
    for part in (SIGNATURE_MARKS, SIGNATURE_WEIGHTS):
        parts.append(torch.cat([tensors[kg.name + part] for kg in task.kgs]).numpy())
        release_pages()
    return Signatures(*parts)


def current_history(history: Mapping[str, Any]) -> dict[str, Any]:
    """The course of learning with today's keys; the first version called marks labels."""
    renamed = {"labels": "marks", "started_with": "warm_start_groups"}
    current = {renamed.get(key, key): value for key, value in history.items()}
    keys = {"labels": "marks", "f1_held_back": "validation_f1"}
    if "rounds" in current:
        current["rounds"] = [{keys.get(key, key): value for key, value in one.items()} for one in current["rounds"]]
    return current
