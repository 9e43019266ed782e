"""Writes a data set as a native folder, from which load() reads the same entities, facts and groups.

Triples are written as TSV. A KG with literals is written as N-Triples, which needs IRIs as ids; where a KG has other
ids, its literals are left out, with a warning.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.entity_table import entity_table
from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.n_triples import unwritable_id, write_n_triples
from multiea.data.raw_dataset import ROLES
from multiea.data.readers.record_ids import named_like_ids, named_like_names
from multiea.data.readers.three_columns import MIN_DISTINCT
from multiea.data.readers.triples import header_columns
from multiea.data.task import Task
from multiea.foundation.errors import OutputError, counted

log = logging.getLogger("multiea")
BLOCK_ROWS = 1 << 18
ROWS_OF_ONE_BLOCK = 10_000  # which a reader sees at least, when it decides what a table has
VALID_FILE_NAME = re.compile(r"[^./\\\s][^/\\\t\r\n\0]*")
RESERVED_NAMES = (*ROLES, "entities")


def write_kgs(kgs: tuple[KnowledgeGraph, ...], folder: Path) -> None:
    """Writes one file per KG, and entities.tsv for what these cannot say: names, and isolated entities."""
    stated_names = [pl.DataFrame(schema=dict.fromkeys(("kg", "entity", "name"), pl.String))]
    for kg in kgs:
        if kg.name in RESERVED_NAMES or not VALID_FILE_NAME.fullmatch(kg.name) or kg.name.endswith(".sssom"):
            raise OutputError(f"a KG named '{kg.name}' cannot be written as a file of a data set; give it another name")
        for ids in (kg.entities, kg.relations):
            _refuse_unwritable(kg.name, ids)
        if not _can_write_literals(kg):
            _write_tsv(kg, folder / f"{kg.name}.tsv")
            continue
        with (folder / f"{kg.name}.nt").open("wb") as file:
            write_n_triples(kg, file)
        of_literals = kg.entities.gather(kg.literals["entity"])
        stated_names.append(kg.literals.select(kg=pl.lit(kg.name), entity=of_literals, name="value"))
    isolated = pl.Series(np.concatenate([kg.degrees for kg in kgs]) == 0)
    entities = entity_table(kgs).filter(pl.col("name").is_not_null() | isolated)
    entities = pl.concat([entities, *map(_given_names, kgs)]).unique(maintain_order=True)
    entities = entities.join(pl.concat(stated_names), on=["kg", "entity", "name"], how="anti", maintain_order="left")
    entities = entities.select("kg", "entity", label=pl.col("name").str.replace_all(r"[\t\r\n]", " "))
    if not entities.is_empty():
        entities.write_csv(folder / "entities.tsv", separator="\t", quote_style="never")


def _given_names(kg: KnowledgeGraph) -> pl.DataFrame:
    """All given names, beside those in literals, as rows of the table of entities: an entity may have several."""
    named = kg.entities.gather(kg.given_names["entity"])
    return kg.given_names.select(kg=pl.lit(kg.name), entity=named, name="name")


def write_groups(groups: Groups, kgs: tuple[KnowledgeGraph, ...], path: Path) -> None:
    """Writes groups as a table of entity ids: the header names the KGs, a blank cell means no counterpart."""
    table = groups.to_table(kgs)
    for kg in table.columns:
        _refuse_unwritable(kg, table[kg].drop_nulls())
    table.write_csv(path, separator="\t", quote_style="never")


def write_task(task: Task, folder: Path, *, split: bool = False) -> None:
    """Writes a whole data set: all known groups as groups.tsv, or one file per role if split."""
    write_kgs(task.kgs, folder)
    if not split:
        write_groups(task.known, task.kgs, folder / "groups.tsv")
        return
    for role, groups in (("seeds", task.seeds), ("validation", task.validation), ("held_out", task.held_out)):
        if len(groups) or role == "seeds":
            write_groups(groups, task.kgs, folder / f"{role}.tsv")


def _can_write_literals(kg: KnowledgeGraph) -> bool:
    """Whether a KG has literals that can be written; warns about literals that cannot."""
    if kg.literals.is_empty():
        return False
    bad = unwritable_id(kg)
    if bad is not None:
        log.warning(
            "KG '%s': %s not written, because N-Triples cannot hold the id %r, which is not an IRI",
            kg.name,
            counted(kg.literals.height, "literal"),
            bad,
        )
    return bad is None


def _write_tsv(kg: KnowledgeGraph, path: Path) -> None:
    with path.open("wb") as file:
        file.write(_header_if_needed(kg))
        for start in range(0, len(kg.triples), BLOCK_ROWS):
            kg.named_triples(slice(start, start + BLOCK_ROWS)).write_csv(
                file, separator="\t", include_header=False, quote_style="never"
            )


def _header_if_needed(kg: KnowledgeGraph) -> bytes:
    """A header line, if triples could be taken for records or the first one for a header; else nothing."""
    if not len(kg.triples):
        return b""
    head, relation, tail = map(int, kg.triples[0])
    first = [kg.entities[head], kg.relations[relation], kg.entities[tail]]
    needed = header_columns(first) is not None or first[0].startswith("\ufeff")
    needed |= bool(named_like_ids(first, kg.name) or named_like_names(first))  # else it might be read as records
    needed |= len(kg.relations) >= MIN_DISTINCT * min(len(kg.triples), ROWS_OF_ONE_BLOCK)  # the same
    return b"head\trelation\ttail\n" if needed else b""


def refuse_unwritable_entities(task: Task) -> None:
    """Raises an error early, before long work, if entity ids cannot be written to the tables of a run."""
    for kg in task.kgs:
        _refuse_unwritable(kg.name, kg.entities)


def _refuse_unwritable(kg_name: str, ids: pl.Series) -> None:
    bad = ids.filter(ids.str.contains(r"[\t\r\n]"))
    if len(bad):
        raise OutputError(
            f"KG '{kg_name}': {counted(len(bad), 'id')} with a tab or a line break cannot be written to a TSV file, "
            f"such as {bad[0]!r}; rename them"
        )
