"""KgFile: one file of a KG, as a reader receives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.foundation.errors import SettingError


@dataclass(frozen=True)
class TableChoices:
    """What dataset.toml says about a table; None or empty where it is decided from the data.

    columns: those of head, relation and tail. id, relations: columns of records. separator: between several values in
    one cell. delimiter: between the fields of a text file. sheet: of an Excel file. missing: texts that mean that a
    cell of records has no value.
    """

    columns: Sequence[str] | None = None
    id: str | None = None
    relations: Sequence[str] = ()
    separator: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    missing: Sequence[str] | None = None

    @property
    def given(self) -> list[str]:
        """The names of the choices that were made."""
        return [part.name for part in fields(self) if getattr(self, part.name) not in (None, ())]

    def refuse(self, names: Sequence[str], kg_name: str, why: str) -> None:
        """Raises an error if one of these choices was made."""
        for name in names:
            if name in self.given:
                raise SettingError(
                    f"KG '{kg_name}': {name} {'are' if name.endswith('s') else 'is'} {why}; remove {name} from "
                    f"[kgs.{kg_name}] in dataset.toml"
                )


@dataclass(frozen=True)
class KgFile:
    """table: what is known about a table. scope: distinguishes blank nodes of several files of one KG."""

    path: Path
    table: TableChoices = field(default_factory=TableChoices)
    scope: str = ""


# Adds the facts of a file to a KG.
KgReader = Callable[[KgFile, KnowledgeGraphBuilder], None]
