"""Saving a run: everything about an alignment in one folder, written completely or not at all."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from dataclasses import asdict
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomli_w
import torch

from multiea.data.entity_table import entity_table
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task
from multiea.data.write import refuse_unwritable_entities, write_groups
from multiea.foundation.atomic_files import new_folder
from multiea.foundation.errors import OutputError
from multiea.foundation.version import __version__
from multiea.grouping.alignment import AlignmentResult
from multiea.runs.files import folders_grown_from
from multiea.runs.layout import CHECKED_FILES, SIGNATURE_MARKS, SIGNATURE_WEIGHTS
from multiea.runs.run import Run
from multiea.runs.stored_embeddings import embedding_tensors
from multiea.runs.stored_evidence import evidence_tensors, recorded_weights
from multiea.runs.tensor_files import Blocks, write_tensors
from multiea.settings.fields import without_none

NAMES_AT_ONCE = 1 << 16
PACKAGES = ("torch", "numpy", "scipy", "polars", "pyoxigraph")


def save_run(run: Run, out: Path, *, force: bool = False) -> None:
    """Writes a run folder."""
    alignment, task = run.alignment, run.alignment.task
    with new_folder(out, "run", force=force) as folder:
        config = tomli_w.dumps(without_none(alignment.settings.recorded()))
        (folder / "config.toml").write_text(config, encoding="utf-8")
        entity_table(task.kgs).write_parquet(folder / "entities.parquet")
        write_groups(task.seeds, task.kgs, folder / "seeds.tsv")
        write_groups(task.held_out, task.kgs, folder / "held_out.tsv")
        if len(task.validation):
            write_groups(task.validation, task.kgs, folder / "validation.tsv")
        if len(task.open_seeds):
            task.open_seeds.write(task.kgs, folder / "open_seeds.jsonl")
        write_groups(alignment.found.groups, task.kgs, folder / "groups.tsv")
        if len(alignment.duplicates):
            _write_duplicates(alignment, folder / "duplicates.tsv")
        alignment.groups.write_parquet(folder / "groups.parquet")
        alignment.pairs.write_parquet(folder / "pairs.parquet")
        if alignment.ids is not None and alignment.ids.lineage.height:
            alignment.ids.lineage.write_csv(folder / "lineage.tsv", separator="\t", quote_style="never")
        write_tensors(folder / "embeddings.safetensors", _tensors(alignment))
        _write_json(folder / "metrics.json", run.metrics)
        _write_json(folder / "manifest.json", manifest(run) | {"files": digests(folder)})


def copy_run(run: Run, out: Path, *, force: bool = False) -> None:
    """Writes the run folder of a run that another process has saved, with the settings and seconds of this one."""
    assert run.folder is not None
    with new_folder(out, "run", force=force) as folder:
        shutil.copytree(run.folder, folder, dirs_exist_ok=True)
        config = tomli_w.dumps(without_none(run.alignment.settings.recorded()))
        (folder / "config.toml").write_text(config, encoding="utf-8")
        _write_json(folder / "metrics.json", run.metrics)
        made = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        _write_json(folder / "manifest.json", made | {"seconds": run.metrics["seconds"], "files": digests(folder)})


def check_can_be_saved(task: Task) -> None:
    """Refuses, before long work, a task whose entities cannot be written to the tables of a run."""
    refuse_unwritable_entities(task)


def refuse_replacing_earlier_runs(out: Path, grown_from: str | Path) -> None:
    """Refuses to replace a run that a KG is added to: the new run finds its data set through it."""
    if out.resolve() in [folder.resolve() for folder in folders_grown_from(grown_from)]:
        raise OutputError(f"{out} is the run that the new run grows from; write to another folder")


def manifest(run: Run) -> dict[str, Any]:
    """Hashes of the input, versions, seconds, memory, calibration and the course of learning."""
    alignment = run.alignment
    return {
        "input": {kg.name: hash_of(kg) for kg in alignment.task.kgs},
        "versions": {
            "multiea": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        "machine": {"system": platform.platform(), "threads": torch.get_num_threads()},
        "seconds": run.metrics["seconds"],
        "peak_rss_mb": run.metrics["peak_rss_mb"],
        "calibration": asdict(alignment.calibration),
        "weights": recorded_weights(alignment),
        "history": dict(alignment.history),
    }


def digests(folder: Path) -> dict[str, str]:
    """Hashes of the text files, in which a lost line would go unnoticed."""
    names = [name for name in CHECKED_FILES if (folder / name).is_file()]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def _write_duplicates(alignment: AlignmentResult, path: Path) -> None:
    """One row per duplicate, with the member of its KG in groups.tsv that it repeats."""
    is_of_member = (pl.col("left_kg") == pl.col("right_kg")) & pl.col("matched")
    table = alignment.duplicate_pairs.filter(is_of_member).select(
        "group_id", kg="left_kg", duplicate="right", member="left", confidence="confidence"
    )
    table.sort("kg", "duplicate").write_csv(path, separator="\t", quote_style="never")


def _tensors(alignment: AlignmentResult) -> dict[str, torch.Tensor | Blocks]:
    tensors = embedding_tensors(alignment) | evidence_tensors(alignment)
    if (signatures := alignment.signatures) is not None:
        slices = zip(alignment.task.kg_names, pairwise(alignment.task.entity_offsets), strict=True)
        for name, (a, b) in slices:
            tensors[name + SIGNATURE_MARKS] = torch.from_numpy(signatures.marks[a:b])
            tensors[name + SIGNATURE_WEIGHTS] = torch.from_numpy(signatures.weights[a:b])
    return tensors


def hash_of(kg: KnowledgeGraph) -> str:
    """A hash of a KG's content."""
    digest = hashlib.sha256()
    for names in (kg.entities, kg.relations):
        for start in range(0, len(names), NAMES_AT_ONCE):
            digest.update(b"\n" if start else b"")
            digest.update("\n".join(names[start : start + NAMES_AT_ONCE]).encode())
        digest.update(b"\0")
    digest.update(np.ascontiguousarray(kg.triples).tobytes())
    return digest.hexdigest()


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
