"""Hashes of what a task holds, to tell whether it is the same task."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.runs.saving import hash_of


def hash_of_content(kg: KnowledgeGraph) -> str:
    """A hash of a KG with its names and attributes."""
    digest = hashlib.sha256(hash_of(kg).encode())
    for table in (kg.given_names, kg.literals):
        digest.update(table.write_csv().encode())
    digest.update(json.dumps(dict(kg.property_roles), sort_keys=True).encode())
    return digest.hexdigest()


def hash_of_groups(table: pl.DataFrame) -> str:
    """A hash of a table of groups that does not depend on their order, nor on that of KGs."""
    lines = sorted(table.select(sorted(table.columns)).write_csv(include_header=False).splitlines())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def hash_of_files(folder: Path) -> str:
    """A hash of the files in a folder, and of their names."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
        with file.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()
