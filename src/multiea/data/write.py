"""Writes a data set as a native folder, which load() reads back to the same entities, triples and groups.

Literals are not part of that form: they stay with the source.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.raw_dataset import ROLES
from multiea.data.readers.triples import header_columns
from multiea.data.task import Task
from multiea.foundation.errors import OutputError

ROWS = 1 << 18
NAME_OF_A_FILE = re.compile(r"[^./\\\s][^/\\\t\r\n\0]*")
RESERVED = (*ROLES, "entities")


def write_kgs(kgs: tuple[KnowledgeGraph, ...], folder: Path) -> None:
    """One TSV file a KG, and entities.tsv for what triples do not say: labels, and entities without a triple."""
    extra = []
    for kg in kgs:
        if kg.name in RESERVED or not NAME_OF_A_FILE.fullmatch(kg.name) or kg.name.endswith(".sssom"):
            raise OutputError(f"a KG named '{kg.name}' cannot be a file of a data set; give it another name")
        for names in (kg.entities, kg.relations):
            _refuse_unwritable(kg.name, names)
        with (folder / f"{kg.name}.tsv").open("wb") as file:
            file.write(_header_where_needed(kg))
            for start in range(0, len(kg.triples), ROWS):
                kg.named_triples(slice(start, start + ROWS)).write_csv(
                    file, separator="\t", include_header=False, quote_style="never"
                )
        label = pl.lit(None, pl.String) if kg.names is None else kg.names.str.replace_all(r"[\t\r\n]", " ")
        table = pl.DataFrame({"entity": kg.entities}).select(kg=pl.lit(kg.name), entity="entity", label=label)
        extra.append(table.filter(pl.col("label").is_not_null() | pl.Series(kg.degrees == 0)))
    entities = pl.concat(extra)
    if not entities.is_empty():
        entities.write_csv(folder / "entities.tsv", separator="\t", quote_style="never")


def write_groups(groups: Groups, kgs: tuple[KnowledgeGraph, ...], path: Path) -> None:
    """Groups as a table of names: the header names the KGs, a blank cell is a KG without a counterpart."""
    names = groups.to_table(kgs)
    for kg in names.columns:
        _refuse_unwritable(kg, names[kg].drop_nulls())
    names.write_csv(path, separator="\t", quote_style="never")


def write_task(task: Task, folder: Path, *, split: bool = False) -> None:
    """A whole data set: its known groups as groups.tsv, or as seeds, validation and held-out groups apart."""
    write_kgs(task.kgs, folder)
    if not split:
        write_groups(task.known, task.kgs, folder / "groups.tsv")
        return
    for role, groups in (("seeds", task.seeds), ("validation", task.validation), ("held_out", task.held_out)):
        if len(groups) or role == "seeds":
            write_groups(groups, task.kgs, folder / f"{role}.tsv")


def _header_where_needed(kg: KnowledgeGraph) -> bytes:
    """A first triple that reads like a header, or begins like a byte order mark, needs a header before it."""
    if not len(kg.triples):
        return b""
    head, relation, tail = map(int, kg.triples[0])
    names = [kg.entities[head], kg.relations[relation], kg.entities[tail]]
    needed = header_columns(names) is not None or names[0].startswith("\ufeff")
    return b"head\trelation\ttail\n" if needed else b""


def refuse_names_of_several_lines(task: Task) -> None:
    """Says before long work that names could not stand in the tables of a run."""
    for kg in task.kgs:
        _refuse_unwritable(kg.name, kg.entities)


def _refuse_unwritable(kg_name: str, names: pl.Series) -> None:
    bad = names.filter(names.str.contains(r"[\t\r\n]"))
    if len(bad):
        raise OutputError(
            f"KG '{kg_name}': {len(bad):,} names hold a tab or a line break and cannot stand in a TSV file, "
            f"such as {bad[0]!r}; rename them"
        )
