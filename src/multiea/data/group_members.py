"""Members of groups from entity ids: a table with one column per KG, or links between entities, checked against KGs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from multiea.data.knowledge_graph import ABSENT, Indices, KnowledgeGraph
from multiea.foundation.errors import InputError, counted, did_you_mean
from multiea.foundation.offsets import offsets

log = logging.getLogger("multiea")
SIDES = ("left", "right")
MISSING_SCHEMA = {"entity": pl.String, "kg": pl.String}
MOST_SHOWN = 5  # unknown names of KGs
LENIENT_HINT = "Correct them, or drop them with --lenient (lenient=True in Python)"
LENIENT_HINT_IN_PYTHON = "Correct them, or drop them with lenient=True"
JointIds = NDArray[np.int64]
Lines = Sequence[int] | NDArray[np.int64]


def members_from_table(
    kgs: Sequence[KnowledgeGraph],
    table: pl.DataFrame,
    *,
    path: Path | None = None,
    lines: Lines | None = None,
    lenient: bool = False,
) -> Indices:
    """The members of groups, (groups, M), from a table of entity ids with one column per KG.

    lines: the line number of each row in its file.
    """
    lines = range(1, table.height + 1) if lines is None else lines
    kg_names = tuple(kg.name for kg in kgs)
    unknown_kgs = [column for column in table.columns if column not in kg_names]
    if unknown_kgs:
        _refuse_unknown_kgs(unknown_kgs, kg_names, path)
    members = np.full((table.height, len(kgs)), ABSENT, dtype=np.int32)
    missing: list[pl.DataFrame] = []
    for column, kg in enumerate(kgs):
        if kg.name not in table.columns:
            continue
        cells = table.get_column(kg.name).cast(pl.String).alias("cell")  # a KG name may look like a regular expression
        cells = cells.set(cells == "", None)
        members[:, column] = kg.positions(cells)
        unknown = cells.is_not_null() & pl.Series(members[:, column] == ABSENT)
        places = [f"{kg.name}, {_row_word(path)} {lines[int(row)]:,}" for row in unknown.arg_true()]
        missing.append(pl.DataFrame({"entity": cells.filter(unknown), "kg": places}, schema=MISSING_SCHEMA))
    dropped = _refused_or_dropped(pl.concat(missing) if missing else pl.DataFrame(), path, lenient=lenient)
    _refuse_entities_in_two_groups(kgs, members, lines, path)
    return _in_canonical_order(kgs, _without_single_members(members, path, dropped))


def _refuse_unknown_kgs(unknown: Sequence[str], kg_names: Sequence[str], path: Path | None) -> None:
    """Raises an error for columns, or in Python keys, that are not the names of KGs."""
    are = "is not a KG" if len(unknown) == 1 else "are no KGs"
    listed = ", ".join(map(repr, unknown[:MOST_SHOWN])) + (", ..." if len(unknown) > MOST_SHOWN else "")
    suggestion = did_you_mean(unknown[0], kg_names).strip()
    form = (
        "Each group is given by KG names and ids, {'a': 'x', 'b': 'y'}, or as a row of a table with one column per KG"
        if path is None
        else "The first line of a groups file is a header with one KG name per column"
    )
    raise InputError(
        f"{'the groups name' if path is None else 'the header names'} {listed}, which {are}",
        path=path,
        line=None if path is None else 1,
        expected=f"KG names from: {', '.join(kg_names)}",
        hint=f"{suggestion} {form}".strip(),
    )


def _row_word(path: Path | None) -> str:
    """What to call a row of a table of groups, which in Python has no line."""
    return "group" if path is None else "line"


def members_from_links(
    kgs: Sequence[KnowledgeGraph], links: pl.DataFrame, *, path: Path | None = None, lenient: bool = False
) -> Indices:
    """The members of groups, (groups, M), from links between entities: each connected component is a group.

    links: columns left and right with entity ids; optionally left_kg and right_kg.
    """
    starts = offsets(len(kg.entities) for kg in kgs)
    ends = [_joint_ids(kgs, starts, links, side, path) for side in SIDES]
    missing = [
        links.filter(pl.Series(end == ABSENT)).select(entity=side, kg=pl.lit("any KG"))
        for side, end in zip(SIDES, ends, strict=True)
    ]
    dropped = _refused_or_dropped(pl.concat(missing).unique(maintain_order=True), path, lenient=lenient)
    unknown = pl.concat([table["entity"] for table in missing]).unique()  # they can still connect other entities
    ends = [_with_ids_for(unknown, end, links[side], int(starts[-1])) for side, end in zip(SIDES, ends, strict=True)]
    linked, numbers = np.unique(np.concatenate(ends), return_inverse=True)
    edges = (np.ones(links.height, dtype=bool), (numbers[: links.height], numbers[links.height :]))
    count, component = connected_components(coo_array(edges, shape=(len(linked), len(linked))), directed=False)
    known = linked < starts[-1]
    linked, component = linked[known], component[known].astype(np.int64)
    owner = np.searchsorted(starts, linked, side="right") - 1
    kept = ~np.isin(linked, _duplicates(kgs, starts, ends))
    if not kept.all():
        log.warning(
            "%signored %s that links inside a KG call duplicates: a group has one entity of each KG",
            f"{path}: " if path else "",
            counted(int((~kept).sum()), "entity"),
        )
    linked, component, owner = linked[kept], component[kept], owner[kept]
    _refuse_two_of_one_kg(kgs, linked - starts[owner], owner, component, path)
    members = np.full((count, len(kgs)), ABSENT, dtype=np.int32)
    members[component, owner] = linked - starts[owner]
    return _in_canonical_order(kgs, _without_single_members(members, path, dropped))


def _duplicates(kgs: Sequence[KnowledgeGraph], starts: JointIds, ends: Sequence[JointIds]) -> JointIds:
    """The entities that links inside a KG make duplicates of another one.

    Of entities that such links connect, one is no duplicate: one that is never on the right, the first by id.
    """
    owners = [np.searchsorted(starts, end, side="right") - 1 for end in ends]
    inside = (owners[0] == owners[1]) & (ends[0] < starts[-1])
    left, right = (end[inside] for end in ends)
    entity, numbers = np.unique(np.r_[left, right], return_inverse=True)
    edges = (np.ones(len(left), dtype=bool), (numbers[: len(left)], numbers[len(left) :]))
    _, cluster = connected_components(coo_array(edges, shape=(len(entity), len(entity))), directed=False)
    owner = np.searchsorted(starts, entity, side="right") - 1
    names = [kgs[kg].entities[int(at - starts[kg])] for kg, at in zip(owner, entity, strict=True)]
    columns = {"cluster": cluster, "is_right": np.isin(entity, right[left != right]), "name": names, "entity": entity}
    order = pl.DataFrame(columns).sort("cluster", "is_right", "name")
    return np.asarray(order.filter(~pl.col("cluster").is_first_distinct())["entity"].to_numpy())


def _with_ids_for(unknown: pl.Series, joint_ids: JointIds, entities: pl.Series, first: int) -> JointIds:
    """The joint ids, where entities that no KG has get ids of their own, from `first` on."""
    number = entities.replace_strict(
        unknown, np.arange(first, first + len(unknown)), default=ABSENT, return_dtype=pl.Int64
    )
    return np.where(joint_ids == ABSENT, number.to_numpy(), joint_ids)


def _joint_ids(
    kgs: Sequence[KnowledgeGraph], starts: JointIds, links: pl.DataFrame, side: str, path: Path | None
) -> JointIds:
    """The joint ids of the entities on one side of the links; -1 if no KG has the entity, an error if several do."""
    positions = np.stack([kg.positions(links[side]) for kg in kgs], axis=1)  # (links, M)
    if f"{side}_kg" in links.columns:  # the file names the KG, so other KGs do not count
        stated = links[f"{side}_kg"].fill_null("")
        stated = stated.set(~stated.is_in([kg.name for kg in kgs]), "")
        for column, kg in enumerate(kgs):
            positions[((stated != "") & (stated != kg.name)).to_numpy(), column] = ABSENT
    found = positions != ABSENT
    several = np.flatnonzero(found.sum(axis=1) > 1)
    if len(several):
        owners = [kg.name for kg, here in zip(kgs, found[several[0]], strict=True) if here]
        raise InputError(
            f"'{links[side][int(several[0])]}' is an entity of several KGs ({', '.join(owners)}), "
            f"so the link is ambiguous ({counted(len(several), 'such case')})",
            path=path,
            hint="Give the groups as a table with one column per KG (groups.tsv)",
        )
    return np.asarray(np.where(found, positions + starts[:-1], ABSENT).max(axis=1))


def _refused_or_dropped(missing: pl.DataFrame, path: Path | None, *, lenient: bool) -> str | None:
    """Members that no KG has are an error, or if lenient what to say about them; None if there are none."""
    if missing.is_empty():
        return None
    first = ", ".join(f"'{entity}' ({kg})" for entity, kg in missing.select("entity", "kg").head(5).iter_rows())
    are = "is" if missing.height == 1 else "are"
    what = f"{counted(missing.height, 'entity')} in the groups {are} not in the KG: {first}" + (
        ", ..." if missing.height > 5 else ""
    )
    if not lenient:
        raise InputError(
            what,
            path=path,
            expected="ids of entities of the KG" if path is None else "entities that occur in the KG's file",
            hint=LENIENT_HINT_IN_PYTHON if path is None else LENIENT_HINT,
        )
    return what


def _refuse_entities_in_two_groups(
    kgs: Sequence[KnowledgeGraph], members: Indices, lines: Lines, path: Path | None
) -> None:
    """Raises an error that names the entity and both lines if an entity is in two groups."""
    for kg, column in zip(kgs, members.T, strict=True):
        rows = np.flatnonzero(column != ABSENT)
        order = rows[np.argsort(column[rows], kind="stable")]
        repeated = np.flatnonzero(column[order][1:] == column[order][:-1])
        if len(repeated):
            first, second = order[repeated[0]], order[repeated[0] + 1]
            raise InputError(
                f"entity '{kg.entities[int(column[first])]}' of KG '{kg.name}' is in two groups "
                f"({_row_word(path)}s {lines[first]:,} and {lines[second]:,}; {counted(len(repeated), 'such case')})",
                path=path,
                expected="each entity in at most one group",
                hint="Join the two groups, or remove one of them",
            )


def _refuse_two_of_one_kg(
    kgs: Sequence[KnowledgeGraph], positions: JointIds, owner: JointIds, component: JointIds, path: Path | None
) -> None:
    """Raises an error if links put two entities of one KG into the same group.

    positions, owner, component: of each linked entity its position in its KG, its KG and its group.
    """
    order = np.lexsort([owner, component])
    same = (component[order][1:] == component[order][:-1]) & (owner[order][1:] == owner[order][:-1])
    if same.any():
        at = int(np.flatnonzero(same)[0])
        kg = kgs[owner[order[at]]]
        a, b = (kg.entities[int(positions[order[i]])] for i in (at, at + 1))
        raise InputError(
            f"the links put two entities of KG '{kg.name}' into one group: '{a}' and '{b}' "
            f"({counted(int(same.sum()), 'such case')})",
            path=path,
            expected="at most one entity of each KG in a group",
            hint="Remove the wrong link",
        )


def _without_single_members(members: Indices, path: Path | None, dropped: str | None) -> Indices:
    """The groups with at least two members; warns about groups with a single one.

    dropped: what to say about members that were left out. If no group is left without them, the file is a wrong one.
    """
    sizes = np.count_nonzero(members != ABSENT, axis=1)
    place = f"{path}: " if path else ""
    if dropped is not None:
        if not (sizes >= 2).any():
            raise InputError(
                f"no group is left without unknown entities; {dropped}",
                path=path,
                expected="groups with entities of at least two KGs, as these write their ids",
                hint="Compare the ids with those of the KGs, or leave the groups out",
            )
        log.warning("%s%s; dropped", place, dropped)
    single = int(np.count_nonzero(sizes == 1))
    if single:
        log.warning("%signored %s with a single member", place, counted(single, "group"))
    return np.asarray(members[sizes >= 2])


def _in_canonical_order(kgs: Sequence[KnowledgeGraph], members: Indices) -> Indices:
    """The groups sorted by their members, so that the order in the file does not matter."""
    by_name = sorted(range(len(kgs)), key=lambda kg: kgs[kg].name)
    return np.asarray(members[np.lexsort([members[:, kg] for kg in by_name])])
