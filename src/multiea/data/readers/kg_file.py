"""KgFile: one file of a KG, as a reader receives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder


@dataclass(frozen=True)
class KgFile:
    """columns: the names of head, relation and tail, where dataset.toml gives them. scope: distinguishes blank nodes
    of several files of one KG.
    """

    path: Path
    columns: Sequence[str] | None = None
    scope: str = ""


# Adds the facts of a file to a KG.
KgReader = Callable[[KgFile, KnowledgeGraphBuilder], None]
