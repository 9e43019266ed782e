"""The run folder: everything about an alignment on disk, written whole or not at all, and read back."""

from __future__ import annotations

import hashlib
import json
import platform
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomli_w
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from multiea import __version__
from multiea.alignment import Alignment, group_ids
from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import load, read_one_kg
from multiea.data.readers import read_groups
from multiea.data.readers.tables import first_line
from multiea.data.task import Task
from multiea.data.write import write_groups
from multiea.engines.signatures import Signatures
from multiea.errors import InputError, OutputError
from multiea.grouping.confidence import Calibration
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.lineage import LINEAGE, Ancestor, GroupIds, no_lineage
from multiea.grouping.mutual import FoundGroups
from multiea.memory import peak_rss_mb
from multiea.setting import NONE, without_none
from multiea.similarity.enhancement import Enhancement
from multiea.writing import new_folder

SIGNATURE_LABELS, SIGNATURE_WEIGHTS = "/signature labels", "/signature weights"
FILES = (
    "config.toml",
    "entities.parquet",
    "seeds.tsv",
    "held_out.tsv",
    "groups.parquet",
    "pairs.parquet",
    "embeddings.safetensors",
    "manifest.json",
)


def save(alignment: Alignment, out: Path, *, metrics: Mapping[str, Any] | None = None, force: bool = False) -> None:
    """Writes a run folder; metrics are computed where they are not given."""
    metrics = alignment.evaluate() if metrics is None else metrics
    task = alignment.task
    with new_folder(out, "run", force=force) as folder:
        (folder / "config.toml").write_text(tomli_w.dumps(without_none(alignment.settings)), encoding="utf-8")
        _entity_table(task).write_parquet(folder / "entities.parquet")
        write_groups(task.seeds, task.kgs, folder / "seeds.tsv")
        write_groups(task.held_out, task.kgs, folder / "held_out.tsv")
        for role, groups in (("validation", task.validation), ("open_seeds", task.open_seeds)):
            if len(groups):
                write_groups(groups, task.kgs, folder / f"{role}.tsv")
        write_groups(alignment.found.groups, task.kgs, folder / "groups.tsv")
        alignment.groups.write_parquet(folder / "groups.parquet")
        alignment.pairs.write_parquet(folder / "pairs.parquet")
        if alignment.ids is not None and alignment.ids.lineage.height:
            alignment.ids.lineage.write_csv(folder / "lineage.tsv", separator="\t", quote_style="never")
        _save_embeddings(alignment, folder / "embeddings.safetensors")
        _write_json(folder / "metrics.json", metrics)
        _write_json(folder / "manifest.json", manifest(alignment))


def open_run(folder: str | Path, *, with_triples: bool = False) -> Alignment:
    """The alignment of a run folder.

    Its KGs have their entities and labels. Their triples are in the data set the run was made of; with_triples reads
    them there, provided it has not changed since.
    """
    folder = Path(folder)
    with _damage_named(folder):
        alignment = _opened(folder)
    return _with_triples(alignment, folder) if with_triples else alignment


def read_ancestor(folder: str | Path) -> Ancestor:
    """What a run folder hands down to the next run; its embeddings are not read."""
    folder = Path(folder)
    with _damage_named(folder):
        groups = pl.read_parquet(folder / "groups.parquet", columns=["group_id", "kg", "entity"], glob=False)
        kgs = pl.read_parquet(folder / "entities.parquet", columns=["kg"], glob=False)["kg"]
        return Ancestor(groups, tuple(kgs.unique(maintain_order=True)), _lineage(folder)["group_id"])


def read_metrics(folder: str | Path) -> dict[str, Any]:
    """The scores a run folder holds; none where it has no metrics.json."""
    path = Path(folder) / "metrics.json"
    if not path.is_file():
        return {}
    with _damage_named(Path(folder)):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def _lineage(folder: Path) -> pl.DataFrame:
    path = folder / "lineage.tsv"
    if not path.is_file():
        return no_lineage()
    return pl.read_csv(path, separator="\t", schema=LINEAGE, glob=False).with_columns(pl.col("into").fill_null(""))


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    """Says what is missing in a run folder, or that it is no longer as it was written."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        expected = "a run folder, as `multiea align --out` makes it"
        found = f"no {', '.join(missing)}" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
        raise InputError(found, path=folder, expected=expected)
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, pl.exceptions.PolarsError, SafetensorError) as error:
        found = f"damaged: {first_line(error)}"
        raise InputError(found, path=folder, expected="a run folder as it was written", hint="Align again") from None


def folders_grown_from(folder: str | Path) -> list[Path]:
    """A run folder, and if a KG was added in it the run before, and so on."""
    folders = [Path(folder)]
    while True:
        with _damage_named(folders[-1]):
            before = _settings(folders[-1]).get("data", {}).get("grown_from")
        if before is None:
            return folders
        if Path(before).resolve() in [one.resolve() for one in folders]:
            raise InputError(
                f"grown from {before}, which is grown from it", path=folders[-1], expected="a run that was there before"
            )
        folders.append(Path(before))


def _with_triples(alignment: Alignment, folder: Path) -> Alignment:
    """The same over the KGs of the data set it was made of, which must be as they were."""
    kgs: list[KnowledgeGraph] = []
    for one in reversed(folders_grown_from(folder)):
        kgs = _kgs_of_data_set(one, kgs)
    by_name = {kg.name: kg for kg in kgs}
    task = alignment.task
    groups = (task.seeds, task.held_out, task.validation, task.open_seeds)
    task = Task([by_name[name] for name in task.kg_names], *groups, name=task.name, notes=task.notes)
    return replace(alignment, task=task)


def _kgs_of_data_set(folder: Path, before: Sequence[KnowledgeGraph]) -> list[KnowledgeGraph]:
    """The KGs of a run, those of the run before it included, with their triples."""
    with _damage_named(folder):
        data = _settings(folder).get("data", {})
        hashes = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["input"]
    source = data.get("source")
    if source is None:
        raise InputError(
            "the run does not say which data set it was made of, so its triples are unknown",
            path=folder,
            hint="Align with the command line, or use the alignment in Python as it was made",
        )
    try:
        if before:
            kgs = [*before, read_one_kg([Path(file) for file in source], data.get("kg_name"))]
        else:
            kgs = list(load(source, lenient=True).kgs)
    except InputError as error:
        raise InputError(
            f"the data set it was made of, {' '.join(source)}, cannot be read: {error}",
            path=folder,
            hint="Bring it back to that place, or align again",
        ) from None
    changed = [name for name in hashes if name not in {kg.name for kg in kgs if _hash(kg) == hashes[name]}]
    if changed or len(kgs) != len(hashes):
        raise InputError(
            f"the data set {' '.join(source)} is not what this run was made of: {', '.join(changed) or 'more KGs'}",
            path=folder,
            hint="Bring the old files back, or align again",
        )
    return kgs


def _settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))


def _opened(folder: Path) -> Alignment:
    settings = _settings(folder)
    names = pl.read_parquet(folder / "entities.parquet", glob=False)
    kgs = []
    for name in names["kg"].unique(maintain_order=True):
        own = names.filter(pl.col("kg") == name)
        nothing = np.empty((0, 3), dtype=np.int32)
        kgs.append(KnowledgeGraph(name, own["entity"], pl.Series([], dtype=pl.String), nothing, labels=own["label"]))
    paths = (folder / f"{role}.tsv" for role in ("seeds", "held_out", "validation", "open_seeds"))
    known = [read_groups(path, kgs) if path.is_file() else None for path in paths]
    tensors = load_file(folder / "embeddings.safetensors")
    enhancement = settings["enhancement"] | {"weights": tuple(settings["enhancement"]["weights"])}
    if enhancement.get("candidates") == NONE:
        enhancement["candidates"] = None
    name = settings.get("data", {}).get("name", folder.resolve().name)
    task = Task(kgs, *known, name=name)
    table = _with_seeds_marked(pl.read_parquet(folder / "groups.parquet", glob=False), task)
    pairs = pl.read_parquet(folder / "pairs.parquet", glob=False)
    found, duplicates = _found(table, pairs, task), _duplicates(table, task)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
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
        ids=_ids(table, task, found, _lineage(folder)),
    )


def _ids(table: pl.DataFrame, task: Task, found: FoundGroups, lineage: pl.DataFrame) -> GroupIds | None:
    """The ids the long table has; none where they are by members, as they would be without it."""
    names = task.seeds.names(task.kgs)
    by_members = group_ids(names)
    one_member = pl.DataFrame(
        {
            "kg": np.array(task.kg_names, dtype=object)[task.seeds.present.argmax(axis=1)],
            "entity": names.select(pl.coalesce(pl.all())).to_series(),
            "by_members": by_members,
        },
        schema={"kg": pl.String, "entity": pl.String, "by_members": pl.String},
    )
    own = table.filter("of_seed").unique(["kg", "entity"])
    known = one_member.join(own, on=["kg", "entity"], how="left", maintain_order="left")
    seeds = known.select(pl.coalesce("group_id", "by_members")).to_series().to_list()
    of_found = _ids_of_found(table).to_list()
    if not lineage.height and seeds == by_members and of_found == group_ids(found.groups.names(task.kgs)):
        return None
    return GroupIds(seeds, of_found, lineage)


def manifest(alignment: Alignment) -> dict[str, Any]:
    """What it was made of and with: hashes of the input, versions, seconds, memory, the course of training."""
    packages = ("torch", "numpy", "scipy", "polars", "pyoxigraph")
    return {
        "input": {kg.name: _hash(kg) for kg in alignment.task.kgs},
        "versions": {
            "multiea": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
        "machine": {"system": platform.platform(), "threads": torch.get_num_threads()},
        "seconds": dict(alignment.seconds),
        "peak_rss_mb": peak_rss_mb(),
        "calibration": asdict(alignment.calibration),
        "history": dict(alignment.history),
    }


def _entity_table(task: Task) -> pl.DataFrame:
    tables = []
    for kg in task.kgs:
        label = pl.lit(None, pl.String) if kg.labels is None else kg.labels
        tables.append(pl.DataFrame({"entity": kg.entities}).select(kg=pl.lit(kg.name), entity="entity", label=label))
    return pl.concat(tables)


def _by_kg(alignment: Alignment) -> dict[str, torch.Tensor]:
    starts = np.cumsum([0, *(len(kg.entities) for kg in alignment.task.kgs)])
    slices = dict(zip(alignment.task.kg_names, pairwise(starts), strict=True))
    tensors = {name: _shortest(alignment.embeddings[a:b].cpu()).contiguous() for name, (a, b) in slices.items()}
    if (marks := alignment.signatures) is not None:
        for name, (a, b) in slices.items():
            tensors[name + SIGNATURE_LABELS] = torch.from_numpy(marks.labels[a:b])
            tensors[name + SIGNATURE_WEIGHTS] = torch.from_numpy(marks.weights[a:b])
    return tensors


def _shortest(embeddings: torch.Tensor) -> torch.Tensor:
    """In half precision where that loses nothing."""
    half = embeddings.half()
    return half if torch.equal(half.float(), embeddings) else embeddings


def _save_embeddings(alignment: Alignment, path: Path) -> None:
    path.touch()
    mode = path.stat().st_mode  # the library would keep the file to its owner
    try:
        save_file(_by_kg(alignment), path)
    except SafetensorError as error:
        raise OutputError(f"cannot write {path.name}: {first_line(error)}") from None
    path.chmod(mode)


def _with_seeds_marked(table: pl.DataFrame, task: Task) -> pl.DataFrame:
    """The long table with a column that says which members are those of seeds, open ones left out."""
    names = task.seeds.names(task.kgs).unpivot(variable_name="kg", value_name="entity").drop_nulls()
    marked = table.join(names.with_columns(of_seed=True), on=["kg", "entity"], how="left", maintain_order="left")
    return marked.with_columns(pl.col("of_seed").fill_null(value=False))


def _ids_of_found(table: pl.DataFrame) -> pl.Series:
    """The ids of found groups, those that open seeds are in among them, in their order."""
    return table.filter(~pl.col("of_seed") & (pl.col("status") != "duplicate"))["group_id"].unique(maintain_order=True)


def _found(table: pl.DataFrame, pairs: pl.DataFrame, task: Task) -> FoundGroups:
    """The found groups of the long table, in its order, and what is known of their pairs."""
    table = table.filter(~pl.col("of_seed") & (pl.col("status") != "duplicate"))
    ids = _ids_of_found(table)
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
    ids = _ids_of_found(table)
    row_of = dict(zip(ids, range(len(ids)), strict=True))
    parts = [Duplicates()]
    for number, kg in enumerate(task.kgs):
        own = table.filter((pl.col("kg") == kg.name) & (pl.col("status") == "duplicate"))
        group = own["group_id"].replace_strict(row_of, return_dtype=pl.Int64).to_numpy()
        entity = np.asarray(kg.positions(own["entity"]))
        parts.append(Duplicates(group, np.full(len(own), number), entity, own["confidence"].to_numpy()))
    return Duplicates.joined(parts)


def _hash(kg: KnowledgeGraph) -> str:
    """A fingerprint of a KG's content."""
    digest = hashlib.sha256()
    for names in (kg.entities, kg.relations):
        digest.update("\n".join(names).encode())
        digest.update(b"\0")
    digest.update(np.ascontiguousarray(kg.triples).tobytes())
    return digest.hexdigest()


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
