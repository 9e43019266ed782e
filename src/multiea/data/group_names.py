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
from multiea.errors import InputError

log = logging.getLogger("multiea")
LENIENT_HINT = "Correct them, or drop them with --lenient"


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
        cells = table[kg.name].cast(pl.String)
        cells = cells.set(cells == "", None)
        members[:, column] = kg.positions(cells)
        unknown = cells.is_not_null() & pl.Series(members[:, column] == ABSENT)
        missing.append(pl.DataFrame({"entity": cells.filter(unknown)}).with_columns(kg=pl.lit(kg.name)))
    _report_missing(pl.concat(missing) if missing else pl.DataFrame(), path, lenient=lenient)
    _refuse_repeated(kgs, members, lines, path)
    return _without_single_members(names, members, path)


def groups_from_links(
    kgs: Sequence[KnowledgeGraph], links: pl.DataFrame, *, path: Path | None = None, lenient: bool = False
) -> Groups:
    """Groups from links (columns left, right; optionally left_kg, right_kg): connected components become groups."""
    offsets = np.cumsum([0, *(len(kg.entities) for kg in kgs)])
    ends = [_locate(kgs, offsets, links, side, path) for side in ("left", "right")]
    missing = [
        links.filter(pl.Series(end == ABSENT)).select(entity=side, kg=pl.lit("any KG"))
        for side, end in zip(("left", "right"), ends, strict=True)
    ]
    _report_missing(pl.concat(missing), path, lenient=lenient)
    known = (ends[0] != ABSENT) & (ends[1] != ABSENT)
    left, right = ends[0][known], ends[1][known]
    linked, numbers = np.unique(np.concatenate([left, right]), return_inverse=True)
    edges = (np.ones(len(left), dtype=bool), (numbers[: len(left)], numbers[len(left) :]))
    count, component = connected_components(coo_array(edges, shape=(len(linked), len(linked))), directed=False)
    owner = np.searchsorted(offsets, linked, side="right") - 1
    _refuse_two_of_one_kg(kgs, offsets, linked, owner, component, path)
    members = np.full((count, len(kgs)), ABSENT, dtype=np.int32)
    members[component, owner] = linked - offsets[owner]
    return _without_single_members(tuple(kg.name for kg in kgs), members, path)


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
            f"so a link does not say which is meant ({len(several):,} such cases)",
            path=path,
            hint="Give the groups as a table with a column a KG (groups.tsv)",
        )
    return np.asarray(np.where(found, positions + offsets[:-1], ABSENT).max(axis=1))


def _report_missing(missing: pl.DataFrame, path: Path | None, *, lenient: bool) -> None:
    """Entities that groups name and no KG has: an error, or a warning where the user asked for lenience."""
    if missing.is_empty():
        return
    first = ", ".join(f"'{entity}' ({kg})" for entity, kg in missing.select("entity", "kg").head(5).iter_rows())
    what = f"{missing.height:,} entities of groups are not in their KG: {first}" + (
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
                f"(lines {lines[first]:,} and {lines[second]:,}; {len(twice):,} such cases)",
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
            f"({int(same.sum()):,} such cases)",
            path=path,
            expected="at most one entity of each KG in a group",
            hint="Remove the link that is wrong",
        )


def _without_single_members(names: tuple[str, ...], members: Indices, path: Path | None) -> Groups:
    """Rows left with fewer than two members say nothing; they are left out, and that is said."""
    sizes = np.count_nonzero(members != ABSENT, axis=1)
    alone = int(np.count_nonzero(sizes == 1))
    if alone:
        log.warning("%s%s groups with a single member left out", f"{path}: " if path else "", f"{alone:,}")
    return Groups(names, members[sizes >= 2])
