"""A run folder read back: the alignment it holds, with its triples where the data set is still to be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import torch
from safetensors.torch import load_file

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import load, read_one_kg
from multiea.data.open_seeds import OpenSeeds
from multiea.data.readers import read_groups
from multiea.data.task import Task
from multiea.foundation.errors import InputError, counted
from multiea.grouping.alignment import Alignment, group_ids
from multiea.grouping.calibration import Calibration
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.lineage import GroupIds
from multiea.grouping.matching import FoundGroups
from multiea.runs.files import (
    blamed_on,
    damage_named,
    folders_grown_from,
    read_lineage,
    read_manifest,
    read_settings,
    read_table,
)
from multiea.runs.saving import SIGNATURE_LABELS, SIGNATURE_WEIGHTS, digests, hash_of
from multiea.settings.fields import NONE
from multiea.similarity.enhancement import Enhancement
from multiea.similarity.signatures import Signatures

Source = str | Path | Sequence[str | Path]


def open_run(folder: str | Path, *, with_triples: bool = False, data: Source | None = None) -> Alignment:
    """The alignment of a run folder.

    Its KGs have their entities and labels. Their triples are in the data set the run was made of; with_triples reads
    them there, or in data if it has moved, provided it has not changed since.
    """
    folder = Path(folder)
    with damage_named(folder):
        alignment = _opened(folder)
    return _with_triples(alignment, folder, data) if with_triples else alignment


def changed_since(folder: str | Path, task: Task) -> list[str]:
    """The KGs of a task that are not what a run was made of."""
    folder = Path(folder)
    with damage_named(folder):
        hashes = read_manifest(folder)["input"]
    return [kg.name for kg in task.kgs if hashes.get(kg.name) != hash_of(kg)]


def _with_triples(alignment: Alignment, folder: Path, moved_to: Source | None) -> Alignment:
    """The same over the KGs of the data set it was made of, which must be as they were."""
    kgs: list[KnowledgeGraph] = []
    folders = folders_grown_from(folder)
    places: list[Source | None] = [None] * len(folders)
    if moved_to is not None:
        several = [moved_to] if isinstance(moved_to, str | Path) else list(moved_to)
        places = [several] if len(folders) == 1 else list(several)
    if len(places) != len(folders):
        raise InputError(
            f"{counted(len(places), 'place')} where its data is now",
            path=folder,
            expected=f"{len(folders)}: the data set of the first run, then the file of each KG that was added",
        )
    for one, place in zip(reversed(folders), places, strict=True):
        kgs = _kgs_of_data_set(one, kgs, place)
    by_name = {kg.name: kg for kg in kgs}
    task = alignment.task
    groups = (task.seeds, task.held_out, task.validation, task.open_seeds)
    task = Task([by_name[name] for name in task.kg_names], *groups, name=task.name, notes=task.notes)
    return replace(alignment, task=task)


def _kgs_of_data_set(folder: Path, before: Sequence[KnowledgeGraph], moved_to: Source | None) -> list[KnowledgeGraph]:
    """The KGs of a run, those of the run before it included, with their triples."""
    with damage_named(folder):
        data = read_settings(folder).get("data", {})
        hashes = read_manifest(folder)["input"]
    source = data.get("source")
    if moved_to is not None:
        source = [str(moved_to)] if isinstance(moved_to, str | Path) else [*map(str, moved_to)]
    if source is None:
        raise InputError(
            "the run does not say which data set it was made of, so its triples are unknown",
            path=folder,
            hint="Say where it is by --data (data=), or align with the command line, which notes it",
        )
    try:
        if before:
            kgs = [*before, read_one_kg([Path(file) for file in source], data.get("kg_name"))]
        else:
            kgs = list(load(source, lenient=True).kgs)
    except InputError as error:
        raise InputError(
            f"its data set, {' '.join(source)}, cannot be read: {error}",
            path=folder,
            hint="Bring it back to that place, or say where it is now by --data (export, report; data= in Python)",
        ) from None
    changed = [name for name in hashes if name not in {kg.name for kg in kgs if hash_of(kg) == hashes[name]}]
    if changed or len(kgs) != len(hashes):
        raise InputError(
            f"the data set {' '.join(source)} is not what this run was made of: {', '.join(changed) or 'more KGs'}",
            path=folder,
            hint="Bring the old files back, or align again",
        )
    return kgs


def _opened(folder: Path) -> Alignment:
    settings, manifest = read_settings(folder), read_manifest(folder)
    found_now = digests(folder)
    for name, digest in manifest.get("files", {}).items():
        if found_now.get(name) != digest:
            what = "damaged or changed" if name in found_now else "missing"
            raise InputError(what, path=folder / name, expected="it as it was written", hint="Align again")
    names = read_table(folder / "entities.parquet")
    kgs = []
    for name in names["kg"].unique(maintain_order=True):
        own = names.filter(pl.col("kg") == name)
        nothing = np.empty((0, 3), dtype=np.int32)
        kgs.append(KnowledgeGraph(name, own["entity"], pl.Series([], dtype=pl.String), nothing, names=own["label"]))
    paths = (folder / f"{role}.tsv" for role in ("seeds", "held_out", "validation"))
    seeds, held_out, validation = (read_groups(path, kgs) if path.is_file() else None for path in paths)
    path = folder / "open_seeds.jsonl"
    with blamed_on(path):
        open_seeds = OpenSeeds.read(kgs, path) if path.is_file() else None
    with blamed_on(folder / "embeddings.safetensors"):
        tensors = load_file(folder / "embeddings.safetensors")
    enhancement = settings["enhancement"] | {"weights": tuple(settings["enhancement"]["weights"])}
    if enhancement.get("candidates") == NONE:
        enhancement["candidates"] = None
    name = settings.get("data", {}).get("name", folder.resolve().name)
    task = Task(kgs, seeds, held_out, validation, open_seeds, name=name)
    table = _with_kinds(read_table(folder / "groups.parquet"), task)
    pairs = read_table(folder / "pairs.parquet")
    found, adopted = (_groups_of_kind(kind, table, pairs, task) for kind in ("found", "adopted"))
    duplicates = _duplicates(table, task)
    embeddings = torch.cat([tensors[kg.name] for kg in kgs]).float()
    if len(embeddings) != names.height:
        raise ValueError(f"{len(embeddings):,} embeddings of {names.height:,} entities")
    calibration = Calibration(
        **(manifest["calibration"] | {"coefficients": tuple(manifest["calibration"]["coefficients"])})
    )
    marks = None
    if f"{kgs[0].name}{SIGNATURE_LABELS}" in tensors:
        labels, weights = (
            torch.cat([tensors[kg.name + part] for kg in kgs]).numpy() for part in (SIGNATURE_LABELS, SIGNATURE_WEIGHTS)
        )
        marks = Signatures(labels, weights)
    return Alignment(
        *(task, found, embeddings, Enhancement(**enhancement), calibration, marks, settings, manifest["history"]),
        duplicates=duplicates,
        ids=_ids(table, task, found, adopted, read_lineage(folder)),
        adopted=adopted if len(task.open_seeds) else None,
    )


def _with_kinds(table: pl.DataFrame, task: Task) -> pl.DataFrame:
    """The long table with a column that says of which kind a group is: seed, adopted (an open seed), or found."""
    names = task.seeds.to_table(task.kgs).unpivot(variable_name="kg", value_name="entity").drop_nulls()
    marked = table.join(names.with_columns(of_seed=True), on=["kg", "entity"], how="left", maintain_order="left")
    of_seed = pl.col("of_seed").fill_null(value=False) & (pl.col("status") == "seed")
    is_open = ((pl.col("status") == "seed") & ~of_seed).any().over("group_id")
    return marked.with_columns(
        kind=pl.when(of_seed).then(pl.lit("seed")).when(is_open).then(pl.lit("adopted")).otherwise(pl.lit("found"))
    )


def _ids_of_kind(kind: str, table: pl.DataFrame) -> pl.Series:
    own = table.filter((pl.col("kind") == kind) & (pl.col("status") != "duplicate"))
    return own["group_id"].unique(maintain_order=True)


def _groups_of_kind(kind: str, table: pl.DataFrame, pairs: pl.DataFrame, task: Task) -> FoundGroups:
    """Groups of the long table, in its order, and what is known of their pairs."""
    table = table.filter((pl.col("kind") == kind) & (pl.col("status") != "duplicate"))
    ids = _ids_of_kind(kind, table)
    if not len(ids):
        return FoundGroups.of_members(Groups.empty(task.kg_names), np.empty((0, len(task.kgs))))
    row_of = dict(zip(ids, range(len(ids)), strict=True))
    members = np.full((len(ids), len(task.kgs)), ABSENT, dtype=np.int32)
    confidence = np.zeros(members.shape)
    for column, kg in enumerate(task.kgs):
        own = table.filter(pl.col("kg") == kg.name)
        rows = own["group_id"].replace_strict(row_of, return_dtype=pl.Int64).to_numpy()
        members[rows, column] = kg.positions(own["entity"])
        confidence[rows, column] = own["confidence"].to_numpy()
    of_pairs = np.full((*members.shape, len(task.kgs)), np.nan)
    matched = np.zeros(of_pairs.shape, dtype=bool)
    pairs = pairs.filter(pl.col("group_id").is_in(ids.implode()))
    rows = pairs["group_id"].replace_strict(row_of, return_dtype=pl.Int64).to_numpy()
    number_of = {name: number for number, name in enumerate(task.kg_names)}
    ends = [pairs[side].replace_strict(number_of, return_dtype=pl.Int64).to_numpy() for side in ("left_kg", "right_kg")]
    for one, other in (ends, reversed(ends)):
        of_pairs[rows, one, other] = pairs["confidence"].to_numpy()
        matched[rows, one, other] = pairs["matched"].to_numpy()
    return FoundGroups(Groups(task.kg_names, members), confidence, of_pairs, matched)


def _duplicates(table: pl.DataFrame, task: Task) -> Duplicates:
    """The further members of the long table."""
    ids = _ids_of_kind("found", table)
    row_of = dict(zip(ids, range(len(ids)), strict=True))
    parts = [Duplicates()]
    for number, kg in enumerate(task.kgs):
        own = table.filter((pl.col("kg") == kg.name) & (pl.col("status") == "duplicate"))
        group = own["group_id"].replace_strict(row_of, return_dtype=pl.Int64).to_numpy()
        entity = np.asarray(kg.positions(own["entity"]))
        parts.append(Duplicates(group, np.full(len(own), number), entity, own["confidence"].to_numpy()))
    return Duplicates.joined(parts)


def _ids(
    table: pl.DataFrame, task: Task, found: FoundGroups, adopted: FoundGroups, lineage: pl.DataFrame
) -> GroupIds | None:
    """The ids the long table has; none where they are by members, as they would be without it."""
    names = task.seeds.to_table(task.kgs)
    by_members = group_ids(names)
    one_member = pl.DataFrame(
        {
            "kg": np.array(task.kg_names, dtype=object)[task.seeds.present.argmax(axis=1)],
            "entity": names.select(pl.coalesce(pl.all())).to_series(),
            "by_members": by_members,
        },
        schema={"kg": pl.String, "entity": pl.String, "by_members": pl.String},
    )
    own = table.filter(pl.col("kind") == "seed").unique(["kg", "entity"])
    known = one_member.join(own, on=["kg", "entity"], how="left", maintain_order="left")
    seeds = known.select(pl.coalesce("group_id", "by_members")).to_series().to_list()
    of_adopted, of_found = (_ids_of_kind(kind, table).to_list() for kind in ("adopted", "found"))
    unchanged = [(seeds, by_members)]
    unchanged += [
        (ids, group_ids(some.groups.to_table(task.kgs))) for ids, some in ((of_adopted, adopted), (of_found, found))
    ]
    if not lineage.height and all(ids == others for ids, others in unchanged):
        return None
    return GroupIds(seeds + of_adopted, of_found, lineage)
