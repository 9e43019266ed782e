"""Pair benchmarks in their original layout: OpenEA folders and DBP15K id folders, with two KGs each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.raw_dataset import RawDataset
from multiea.data.readers.tables import TSV, Rows, text_rows
from multiea.foundation.errors import InputError, counted

SIDES = (1, 2)
PAIR_SUBFOLDER = re.compile(r"mapping|sharing|\d+(_\w+)?")
PAIR_FILES = frozenset(
    f"{stem}_{side}" for stem in ("rel_triples", "triples", "ent_ids", "rel_ids") for side in SIDES
) | {"ent_links", "ref_ent_ids", "sup_ent_ids"}
FOLD_ROLES = {"train_links": "seeds", "valid_links": "validation", "test_links": "held_out"}


def openea_root(folder: Path) -> Path | None:
    """The OpenEA folder (with rel_triples_1) of a folder or of a fold such as 721_5fold/1; None if there is none."""
    for root in (folder, *folder.resolve().parents[:2]):
        if _existing(root, "rel_triples_1") and (root == folder or _existing(folder, "train_links")):
            return root
    return None


def is_dbp15k(folder: Path) -> bool:
    """Whether a folder has the id files of DBP15K."""
    return _existing(folder, "triples_1") is not None and _existing(folder, "ent_ids_1") is not None


def has_relation_names(folder: Path, side: int) -> bool:
    """Whether a DBP15K folder has a file with the relation names of one side."""
    return _existing(folder, f"rel_ids_{side}") is not None


def read_openea(folder: Path, *, kg_names: Sequence[str] | None = None, lenient: bool = False) -> RawDataset:
    """Reads an OpenEA folder: ent_links as groups to be split, or the given split if the folder is a fold."""
    root = openea_root(folder)
    if root is None:
        raise InputError("no rel_triples_1", path=folder, expected="an OpenEA folder")
    kgs = []
    for side, name in zip(SIDES, kg_names or names_from_path(root), strict=True):
        builder = KnowledgeGraphBuilder(name)
        path = _file(root, f"rel_triples_{side}")
        for rows in text_rows(path, TSV, "head, relation, tail"):
            builder.add_triples(*_columns(path, rows, 3))
        kgs.append(builder.build(path))
    if root == folder:
        return RawDataset(root.resolve().name, kgs, {"groups": _links(_file(root, "ent_links"), kgs, lenient)})
    links = {role: link for file, role in FOLD_ROLES.items() if (link := _existing(folder, file)) is not None}
    return RawDataset(root.resolve().name, kgs, {role: _links(link, kgs, lenient) for role, link in links.items()})


def read_dbp15k(folder: Path, *, kg_names: Sequence[str] | None = None, lenient: bool = False) -> RawDataset:
    """Reads a DBP15K folder: ref_ent_ids as groups to be split, or as held-out groups if sup_ent_ids has the seeds."""
    kgs, ids = [], []
    for side, name in zip(SIDES, kg_names or names_from_path(folder), strict=True):
        entity_ids = _id_table(_file(folder, f"ent_ids_{side}"))
        relation_file = _existing(folder, f"rel_ids_{side}")
        relation_ids = None if relation_file is None else _id_table(relation_file)
        builder = KnowledgeGraphBuilder(name)
        builder.add_entities(entity_ids["name"])
        path = _file(folder, f"triples_{side}")
        for rows in text_rows(path, TSV, "head id, relation id, tail id"):
            head, relation, tail = _columns(path, rows, 3)
            named = relation if relation_ids is None else _named(path, rows.lines, relation, relation_ids, "relation")
            builder.add_triples(
                _named(path, rows.lines, head, entity_ids, "entity"),
                named,
                _named(path, rows.lines, tail, entity_ids, "entity"),
            )
        kgs.append(builder.build(path))
        ids.append(entity_ids)
    links = {file: link for file in ("ref_ent_ids", "sup_ent_ids") if (link := _existing(folder, file)) is not None}
    if not links:
        raise InputError("neither ref_ent_ids nor sup_ent_ids", path=folder, expected="a DBP15K folder with links")
    roles = {"ref_ent_ids": "held_out", "sup_ent_ids": "seeds"} if len(links) == 2 else dict.fromkeys(links, "groups")
    return RawDataset(
        folder.resolve().name, kgs, {roles[file]: _links(link, kgs, lenient, ids) for file, link in links.items()}
    )


def read_pair(folder: Path, kg_names: Sequence[str]) -> tuple[Sequence[KnowledgeGraph], Groups]:
    """Reads a pair benchmark of either layout: its two KGs and all its links."""
    read = read_dbp15k if is_dbp15k(folder) else read_openea
    dataset = read(folder, kg_names=kg_names)
    return dataset.kgs, Groups.empty(kg_names).joined(*dataset.groups.values())


def is_pair(folder: Path) -> bool:
    """Whether a folder is a pair benchmark of either layout."""
    return is_dbp15k(folder) or _existing(folder, "rel_triples_1") is not None


def names_from_path(folder: Path) -> tuple[str, str]:
    """KG names from the folder name of a pair, such as zh_en or EN_FR_15K_V1; otherwise kg1 and kg2.

    From a subfolder such as mapping/0_3 or 721_5fold the search goes up to the folder of the pair, and no further: the
    folders above are the user's choice and must not change a result.
    """
    for part in (folder.resolve(), *folder.resolve().parents):
        words = part.name.split("_")
        if len(words) >= 2 and all(word.isalpha() for word in words[:2]) and words[0] != words[1]:
            return words[0], words[1]
        if not PAIR_SUBFOLDER.fullmatch(part.name):
            break
    return "kg1", "kg2"


def _links(
    path: Path, kgs: Sequence[KnowledgeGraph], lenient: bool, ids: Sequence[pl.DataFrame] | None = None
) -> Groups:
    """Links between two KGs: one entity, or its numeric id, of each KG per line."""
    blocks = list(text_rows(path, TSV, "one entity of each KG"))
    if not blocks:
        return Groups.empty([kg.name for kg in kgs])
    lines = np.concatenate([block.lines for block in blocks])
    sides = [pl.concat(parts) for parts in zip(*(_columns(path, block, 2) for block in blocks), strict=True)]
    if ids is not None:
        sides = [_named(path, lines, side, table, "entity") for side, table in zip(sides, ids, strict=True)]
    table = pl.DataFrame({kg.name: side for kg, side in zip(kgs, sides, strict=True)})
    return Groups.from_table(kgs, table, path=path, lines=lines, lenient=lenient)


def _id_table(path: Path) -> pl.DataFrame:
    """An id file: id and name in every line, each unique."""
    blocks = list(text_rows(path, TSV, "id, name"))
    if not blocks:
        raise InputError("the file is empty", path=path, expected="an id and a name in every line")
    number, name = (pl.concat(parts) for parts in zip(*(_columns(path, block, 2) for block in blocks), strict=True))
    table = pl.DataFrame({"id": number, "name": name})
    if table["id"].n_unique() != table.height:
        repeated = table.filter(table["id"].is_duplicated())["id"][0]
        raise InputError(f"the id {repeated} appears twice", path=path, expected="each id once")
    if table["name"].n_unique() != table.height:
        repeated = table.filter(table["name"].is_duplicated())["name"][0]
        raise InputError(f"two ids have the name '{repeated}'", path=path, expected="each name once")
    return table


def _named(path: Path, lines: np.ndarray, ids: pl.Series, table: pl.DataFrame, what: str) -> pl.Series:
    """The names of numeric ids. An id without a name is an error."""
    joined = pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["name"]
    unnamed = joined.is_null().arg_true()
    if len(unnamed):
        row = int(unnamed[0])
        raise InputError(
            f"unknown {what} id {ids[row]} ({counted(len(unnamed), 'such case')})",
            path=path,
            line=int(lines[row]),
            expected=f"ids from the {what} ids file",
        )
    return joined


def _columns(path: Path, rows: Rows, width: int) -> Sequence[pl.Series]:
    if rows.table.width != width:
        line = int(rows.lines[0])
        raise InputError(f"{rows.table.width} fields", path=path, line=line, expected=f"{width}, separated by tabs")
    empty = rows.table.select(pl.any_horizontal(pl.all().is_null())).to_series().arg_true()
    if len(empty):
        line = int(rows.lines[int(empty[0])])
        raise InputError("an empty field", path=path, line=line, expected=f"{width} fields, none empty")
    return rows.table.get_columns()


def _existing(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _file(folder: Path, name: str) -> Path:
    path = _existing(folder, name)
    if path is None:
        raise InputError("no such file", path=folder / name, hint="Check that the folder is complete")
    return path
