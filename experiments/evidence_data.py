"""The data sets of the experiments on evidence: embedded, read in place, unpacked from archives, or built."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import polars as pl

import multiea
from evidence_cases import Case
from multiea import KnowledgeGraph, Task
from multiea.data.archives import is_archive, unpacked_data_set
from multiea.data.properties import names_of
from multiea.data.write import write_task

HUB = "en"
NAMES_HEADER = "entity\tname"  # a KG of another data set may have a file of the same name


class DataSets:
    """Makes the data set of a case, once. source: the folder with the data; folder: where data sets are written."""

    def __init__(self, source: Path, folder: Path, opened: ExitStack, run_command: Callable[..., str]) -> None:
        self._source, self._folder, self._opened, self._run_command = source, folder, opened, run_command
        self._unpacked: list[Path] | None = None

    def place(self, case: Case) -> str:
        """The folder of a data set, or the name of an embedded one."""
        if case.build:
            out = self._folder / "-".join(part.strip("-") for part in case.build)
            if not out.exists():
                self._run_command("build", *case.build, "--source", str(self._source), "--out", str(out))
            return str(out)
        if case.folder is None:
            return "world"
        return str(self._translated(case.folder) if case.translated else self._found(case.folder))

    def _found(self, name: str, header: str | None = None) -> Path:
        """A file or folder below the source, or in an archive there. header: the first line of the file."""
        for root in self._roots():
            found = sorted(path for path in root.rglob(name) if header is None or _first_line(path) == header)
            if found:
                return found[0]
        raise SystemExit(f"{name} is neither in {self._source} nor in an archive there")

    def _roots(self) -> list[Path]:
        if self._unpacked is None:
            archives = sorted(path for path in self._source.iterdir() if is_archive(path))
            self._unpacked = [self._opened.enter_context(unpacked_data_set(path)) for path in archives]
        return [self._source, *self._unpacked]

    def _translated(self, pair: str) -> Path:
        """A pair of DBP15K whose entities have, besides the names in their IRIs, machine-translated ones."""
        out = self._folder / f"{pair}-translated"
        if not out.exists():
            out.mkdir()
            task = multiea.load(self._found(pair), train_ratio=0)
            kgs = [
                kg if kg.name == HUB else with_names(kg, self._found(f"{kg.name}.tsv", NAMES_HEADER)) for kg in task.kgs
            ]
            write_task(Task(kgs, held_out=task.known, name=out.name), out)
        return out


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().rstrip("\n")


def with_names(kg: KnowledgeGraph, path: Path) -> KnowledgeGraph:
    """A KG with the names of a table (entity, name), and those that it has already."""
    table = pl.read_csv(path, separator="\t", quote_char=None)
    named = pl.DataFrame({"entity": kg.positions(table["entity"]), "name": table["name"]})
    added = named.filter(pl.col("entity") >= 0, pl.col("name").is_not_null())
    own = names_of(kg)
    schema = kg.given_names.schema
    return replace(kg, given_names=pl.concat([part.cast(schema) for part in (own, added)]).unique().sort(*schema))
