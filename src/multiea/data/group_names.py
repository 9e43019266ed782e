"""Groups given by names: a table with a column a KG, or links between single entities, checked against the KGs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import Indices, KnowledgeGraph
from multiea.foundation.errors import InputError, counted

log = logging.getLogger("multiea")
SIDES = ("left", "right")
MISSING = {"entity": pl.String, "kg": pl.String}
LENIENT_HINT = "Correct them, or drop them with --lenient (lenient=True in Python)"


def groups_from_table(
    kgs: Sequence[KnowledgeGraph],
    table: pl.DataFrame,
    *,
    path: Path | None = None,
    lines: Sequence[int] | NDArray[np.int64] | None = None,
    lenient: bool = False,
) -> Groups:
    """Groups from a table of names, a column a KG; `lines` says where each row stands in its file."""
    lines = range(1, table.height + 1) if lines is None else lines
    names = tuple(kg.name for kg in kgs)
    strangers = [column for column in table.columns if column not in names]
    if strangers:
        raise InputError(
            f"the header names {', '.join(map(repr, strangers[:5]))}, which is no KG",
            path=path,
            line=1,
            expected=f"KG names from: {', '.join(names)}",
            hint="The first line of a groups file is a header with one KG name a column",
        )
    members = np.full((table.height, len(kgs)), ABSENT, dtype=np.int32)
    missing: list[pl.DataFrame] = []
    for column, kg in enumerate(kgs):
        if kg.name not in table.columns:
            continue
        cells = table.get_column(kg.name).cast(pl.String).alias("cell")  # a KG may be named like a pattern
        cells = cells.set(cells == "", None)
        members[:, column] = kg.positions(cells)
        unknown = cells.is_not_null() & pl.Series(members[:, column] == ABSENT)
        places = [f"{kg.name}, line {lines[int(row)]:,}" for row in unknown.arg_true()]
        missing.append(pl.DataFrame({"entity": cells.filter(unknown), "kg": places}, schema=MISSING))
    _report_missing(pl.concat(missing) if missing else pl.DataFrame(), path, lenient=lenient)
    _refuse_repeated(kgs, members, lines, path)
    return _without_single_members(names, members, path)


def groups_from_links(
    kgs: Sequence[KnowledgeGraph], links: pl.DataFrame, *, path: Path | None = None, lenient: bool = False
) -> Groups:
    """Groups from links (columns left, right; optionally left_kg, right_kg): connected components become groups."""
    offsets = np.cumsum([0, *(len(kg.entities) for kg in kgs)])
    ends = [_locate(kgs, offsets, links, side, path) for side in SIDES]
    missing = [
        links.filter(pl.Series(end == ABSENT)).select(entity=side, kg=pl.lit("any KG"))
        for side, end in zip(SIDES, ends, strict=True)
    ]
    _report_missing(pl.concat(missing).unique(maintain_order=True), path, lenient=lenient)
    strangers = pl.concat([table["entity"] for table in missing]).unique()  # they may still join others
    ends = [_numbered(end, links[side], strangers, int(offsets[-1])) for side, end in zip(SIDES, ends, strict=True)]
    linked, numbers = np.unique(np.concatenate(ends), return_inverse=True)
    count_of_links = links.height
    edges = (np.ones(count_of_links, dtype=bool), (numbers[:count_of_links], numbers[count_of_links:]))
    count, component = connected_components(coo_array(edges, shape=(len(linked), len(linked))), directed=False)
    known = linked < offsets[-1]
    linked, component = linked[known], component[known]
    owner = np.searchsorted(offsets, linked, side="right") - 1
    _refuse_two_of_one_kg(kgs, offsets, linked, owner, component, path)
    members = np.full((count, len(kgs)), ABSENT, dtype=np.int32)
    members[component, owner] = linked - offsets[owner]
    return _without_single_members(tuple(kg.name for kg in kgs), members, path)


def _numbered(end: np.ndarray, names: pl.Series, strangers: pl.Series, first: int) -> np.ndarray:
    """Positions as they are, and for names that no KG has a number of their own, from `first` on."""
    number = names.replace_strict(
        strangers, np.arange(first, first + len(strangers)), default=-1, return_dtype=pl.Int64
    )
    return np.where(end == ABSENT, number.to_numpy(), end)


def _locate(
    kgs: Sequence[KnowledgeGraph], offsets: np.ndarray, links: pl.DataFrame, side: str, path: Path | None
) -> np.ndarray:
    """Positions of one side's entities in the joint id space; -1 where no KG has it, an error where several do."""
    positions = np.stack([kg.positions(links[side]) for kg in kgs], axis=1)  # (links, M)
    if f"{side}_kg" in links.columns:  # the file names the KG: other KGs are out of question
        named = links[f"{side}_kg"].fill_null("")
        named = named.set(~named.is_in([kg.name for kg in kgs]), "")
        for column, kg in enumerate(kgs):
            positions[((named != "") & (named != kg.name)).to_numpy(), column] = ABSENT
    found = positions != ABSENT
    several = np.flatnonzero(found.sum(axis=1) > 1)
    if len(several):
        homes = [kg.name for kg, here in zip(kgs, found[several[0]], strict=True) if here]
        raise InputError(
            f"'{links[side][int(several[0])]}' is an entity of several KGs ({', '.join(homes)}), "
            f"so a link does not say which is meant ({counted(len(several), 'such case')})",
            path=path,
            hint="Give the groups as a table with a column a KG (groups.tsv)",
        )
    return np.asarray(np.where(found, positions + offsets[:-1], ABSENT).max(axis=1))


def _report_missing(missing: pl.DataFrame, path: Path | None, *, lenient: bool) -> None:
    """Entities that groups name and no KG has: an error, or a warning where the user asked for lenience."""
    if missing.is_empty():
        return
    first = ", ".join(f"'{entity}' ({kg})" for entity, kg in missing.select("entity", "kg").head(5).iter_rows())
    are = "is" if missing.height == 1 else "are"
    what = f"{counted(missing.height, 'entity')} of groups {are} not in the KG: {first}" + (
        ", ..." if missing.height > 5 else ""
    )
    if not lenient:
        raise InputError(what, path=path, expected="entities that occur in the KG's file", hint=LENIENT_HINT)
    log.warning("%sdropped %s", f"{path}: " if path else "", what)


def _refuse_repeated(
    kgs: Sequence[KnowledgeGraph], members: Indices, lines: Sequence[int] | NDArray[np.int64], path: Path | None
) -> None:
    """An entity in two groups has no clear meaning; says which and in which lines."""
    for kg, column in zip(kgs, members.T, strict=True):
        rows = np.flatnonzero(column != ABSENT)
        order = rows[np.argsort(column[rows], kind="stable")]
        twice = np.flatnonzero(column[order][1:] == column[order][:-1])
        if len(twice):
            first, second = order[twice[0]], order[twice[0] + 1]
            raise InputError(
                f"entity '{kg.entities[int(column[first])]}' of KG '{kg.name}' is in two groups "
                f"(lines {lines[first]:,} and {lines[second]:,}; {counted(len(twice), 'such case')})",
                path=path,
                expected="each entity in at most one group",
                hint="Join the two groups into one line, or remove one of them",
            )


def _refuse_two_of_one_kg(
    kgs: Sequence[KnowledgeGraph],
    offsets: np.ndarray,
    linked: np.ndarray,
    owner: np.ndarray,
    component: np.ndarray,
    path: Path | None,
) -> None:
    """Links that put two entities of one KG into one group contradict what a group is."""
    order = np.lexsort([owner, component])
    same = (component[order][1:] == component[order][:-1]) & (owner[order][1:] == owner[order][:-1])
    if same.any():
        at = int(np.flatnonzero(same)[0])
        kg = kgs[owner[order[at]]]
        a, b = (kg.entities[int(linked[order[i]] - offsets[owner[order[i]]])] for i in (at, at + 1))
        raise InputError(
            f"the links put two entities of KG '{kg.name}' into one group: '{a}' and '{b}' "
            f"({counted(int(same.sum()), 'such case')})",
            path=path,
            expected="at most one entity of each KG in a group",
            hint="Remove the link that is wrong",
        )


def _without_single_members(names: tuple[str, ...], members: Indices, path: Path | None) -> Groups:
    """Rows left with fewer than two members say nothing; they are left out, and that is said."""
    sizes = np.count_nonzero(members != ABSENT, axis=1)
    alone = int(np.count_nonzero(sizes == 1))
    if alone:
        log.warning("%s%s with a single member left out", f"{path}: " if path else "", counted(alone, "group"))
    members = members[sizes >= 2]
    by_name = sorted(range(len(names)), key=lambda kg: names[kg])
    return Groups(names, members[np.lexsort([members[:, kg] for kg in by_name])])  # the file's order does not matter
