"""The run folder: everything about an alignment on disk, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomli_w
import torch
from safetensors.torch import save_file

from multiea import __version__
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task
from multiea.data.write import write_groups
from multiea.foundation.atomic_files import new_folder
from multiea.foundation.memory import peak_rss_mb
from multiea.grouping.alignment import Alignment
from multiea.settings.fields import without_none

SIGNATURE_LABELS, SIGNATURE_WEIGHTS = "/signature labels", "/signature weights"
PLAIN_FILES = ("seeds.tsv", "held_out.tsv", "validation.tsv", "open_seeds.jsonl", "groups.tsv")
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
        if len(task.validation):
            write_groups(task.validation, task.kgs, folder / "validation.tsv")
        if len(task.open_seeds):
            task.open_seeds.write(task.kgs, folder / "open_seeds.jsonl")
        write_groups(alignment.found.groups, task.kgs, folder / "groups.tsv")
        alignment.groups.write_parquet(folder / "groups.parquet")
        alignment.pairs.write_parquet(folder / "pairs.parquet")
        if alignment.ids is not None and alignment.ids.lineage.height:
            alignment.ids.lineage.write_csv(folder / "lineage.tsv", separator="\t", quote_style="never")
        _save_embeddings(alignment, folder / "embeddings.safetensors")
        _write_json(folder / "metrics.json", metrics)
        _write_json(folder / "manifest.json", manifest(alignment) | {"files": digests(folder)})


def manifest(alignment: Alignment) -> dict[str, Any]:
    """What it was made of and with: hashes of the input, versions, seconds, memory, the course of training."""
    packages = ("torch", "numpy", "scipy", "polars", "pyoxigraph")
    return {
        "input": {kg.name: hash_of(kg) for kg in alignment.task.kgs},
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


def digests(folder: Path) -> dict[str, str]:
    """Of those files whose loss of lines nobody would see."""
    names = [name for name in PLAIN_FILES if (folder / name).is_file()]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def _entity_table(task: Task) -> pl.DataFrame:
    tables = []
    for kg in task.kgs:
        label = pl.lit(None, pl.String) if kg.names is None else kg.names
        tables.append(pl.DataFrame({"entity": kg.entities}).select(kg=pl.lit(kg.name), entity="entity", label=label))
    return pl.concat(tables)


def _save_embeddings(alignment: Alignment, path: Path) -> None:
    path.touch()
    mode = path.stat().st_mode  # the library would keep the file to its owner
    save_file(_by_kg(alignment), path)
    path.chmod(mode)


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


def hash_of(kg: KnowledgeGraph) -> str:
    """A fingerprint of a KG's content."""
    digest = hashlib.sha256()
    for names in (kg.entities, kg.relations):
        digest.update("\n".join(names).encode())
        digest.update(b"\0")
    digest.update(np.ascontiguousarray(kg.triples).tobytes())
    return digest.hexdigest()


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
