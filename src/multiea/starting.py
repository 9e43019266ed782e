"""Where a KG is added, what the alignment before tells of all KGs: groups to start from, members of its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from multiea.alignment import Alignment
from multiea.bootstrapping import Start
from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task
from multiea.engines.trained import PROPAGATION
from multiea.errors import InputError, SettingError
from multiea.grouping.mutual import FoundGroups
from multiea.how import How
from multiea.pipeline import align


@dataclass(frozen=True)
class _Counterparts:
    """For each entity of the merged KG its counterpart in a new one, -1 where it has none, and how sure that is."""

    entity: np.ndarray
    confidence: np.ndarray

    @classmethod
    def of(cls, found: FoundGroups, entities: int, known: np.ndarray) -> _Counterparts:
        """Those that were found, but for entities of which it is known where they belong."""
        fresh = ~np.isin(found.groups.members[:, 1], known)
        node, counterpart = found.groups.members[fresh].T
        result = cls(np.full(entities, ABSENT, dtype=np.int32), np.zeros(entities))
        result.entity[node], result.confidence[node] = counterpart, found.confidence[fresh, 1]
        return result


def start_of(task: Task, before: Alignment, how: How) -> Start:
    """The KGs before are merged by their alignment into one; each KG that is new is aligned with it as one of two.

    One round of that is enough to start from; members of open seeds are found in as many as ever.
    """
    _refuse_other_ways(task, before, how)
    columns = [task.kg_names.index(name) for name in before.task.kg_names]
    merged, nodes = merge([task.kgs[column] for column in columns], before)
    in_order = sorted(range(len(columns)), key=lambda kg: before.task.kg_names[kg])
    found = np.full((len(before.found.groups), len(task.kgs)), ABSENT, dtype=np.int32)
    found[:, columns] = before.found.groups.members
    sure = np.zeros(found.shape)
    sure[:, columns] = before.found.confidence
    adopted, confidence, is_open = _carried_on(task, found, sure)
    known = task.seeds.joined(task.open_seeds)
    how = how if len(task.open_seeds) else replace(how, bootstrap=replace(how.bootstrap, rounds=1))
    for column, kg in enumerate(task.kgs):
        if kg.name in before.task.kg_names:
            continue
        tied = known.take(known.present[:, column] & known.present[:, columns].any(axis=1))
        pairs = np.stack([_first_node(tied.members[:, columns], nodes, in_order), tied.members[:, column]], axis=1)
        of_both = _aligned_with(merged, kg, pairs, task.name, how)
        through = _Counterparts.of(of_both, len(merged.entities), known.members[:, column])
        for groups, sureness in ((found, sure), (adopted, confidence)):
            node = _first_node(groups[:, columns], nodes, in_order)
            lacks = (groups[:, column] == ABSENT) & (node != ABSENT)
            groups[lacks, column] = through.entity[node[lacks]]
            sureness[lacks, column] = through.confidence[node[lacks]]
    complete = Groups(task.kg_names, found[(found != ABSENT).all(axis=1) & ~is_open])
    of_adopted = FoundGroups.of_members(Groups(task.kg_names, adopted), confidence)
    return Start(complete.take(complete.apart_from(known)), of_adopted)  # some are in a seed now


def _carried_on(task: Task, found: np.ndarray, sure: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Open seeds with the members found for them before, how sure these are, and which of the groups found they are in.

    What is known by now takes the place of what was found.
    """
    members, known = task.open_seeds.members.copy(), task.seeds.joined(task.open_seeds)
    row = np.full(len(members), ABSENT)
    for own, column in zip(members.T, found.T, strict=True):
        row_of = np.full(max(own.max(initial=ABSENT), column.max(initial=ABSENT)) + 2, ABSENT)
        row_of[column[column != ABSENT]] = np.flatnonzero(column != ABSENT)
        row = np.maximum(row, row_of[own])
    was_found = found[row] if len(found) else np.full(members.shape, ABSENT, dtype=np.int32)
    for column, of_known in zip(was_found.T, known.members.T, strict=True):
        column[(row == ABSENT) | np.isin(column, of_known)] = ABSENT
    confidence = np.where(members != ABSENT, 1.0, 0.0)
    fills = (members == ABSENT) & (was_found != ABSENT)
    members[fills] = was_found[fills]
    confidence[fills] = sure[row][fills] if len(found) else 0
    is_open = np.zeros(len(found), dtype=bool)
    is_open[row[row != ABSENT]] = True
    return members, confidence, is_open


def _aligned_with(merged: KnowledgeGraph, kg: KnowledgeGraph, pairs: np.ndarray, name: str, how: How) -> FoundGroups:
    """What aligning the merged KG with a new one finds; pairs: entities of both that are known to be the same."""
    _, where, count = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    pairs = pairs[count[where] == 1]  # two seeds in one entity: the alignment before was wrong there
    both = Task([merged, kg], Groups((merged.name, kg.name), pairs.astype(np.int32)), name=name)
    if not len(pairs):
        return FoundGroups.of_members(both.seeds, np.empty((0, 2)))
    chosen = {
        name: getattr(how, name) for name in ("propagation", "bootstrap", "enhancement", "random_state", "device")
    }
    return align(both, **chosen).found


def _refuse_other_ways(task: Task, before: Alignment, how: How) -> None:
    if not how.propagates:
        raise SettingError(f"a KG is added by propagation, not by engine '{how.engine}' alone; use {PROPAGATION}")
    if how.bootstrap.pool != "all":
        raise SettingError(f"a KG is added by bootstrap 'all', not '{how.bootstrap.pool}': groups found are labels")
    kgs = {kg.name: kg for kg in task.kgs}
    changed = [kg.name for kg in before.task.kgs if kg.name not in kgs or not kg.entities.equals(kgs[kg.name].entities)]
    if changed or len(kgs) == len(before.task.kgs):
        what = f"other entities of {', '.join(changed)}" if changed else "no new KG"
        raise InputError(f"{what} since the alignment before", expected="its KGs as they were, and one that is new")


def merge(kgs: Sequence[KnowledgeGraph], alignment: Alignment) -> tuple[KnowledgeGraph, list[np.ndarray]]:
    """One KG in which the members of a group are one entity, and for each KG where its entities are in it.

    Entities and relations of equal names in two KGs stay two: only groups say what is the same.
    """
    sizes = [len(kg.entities) for kg in kgs]
    offsets = np.cumsum([0, *sizes])
    members = alignment.task.seeds.joined(alignment.found.groups).members.astype(np.int64)
    joint = np.where(members == ABSENT, ABSENT, members + offsets[:-1])
    by_name = sorted(range(len(kgs)), key=lambda kg: kgs[kg].name)
    first = (joint[:, by_name] != ABSENT).argmax(axis=1)
    stands = joint[np.arange(len(joint)), np.array(by_name)[first]]
    stands_for = np.arange(offsets[-1])
    for column in joint.T:
        present = column != ABSENT
        stands_for[column[present]] = stands[present]
    more = alignment.duplicates
    stands_for[more.entity + offsets[more.kg]] = stands[more.group + len(alignment.task.seeds)]
    distinct, node = np.unique(stands_for, return_inverse=True)
    nodes = np.split(node, offsets[1:-1])
    starts = np.cumsum([0, *(len(kg.relations) for kg in kgs)])
    facts = [
        np.column_stack([own[kg.triples[:, 0]], kg.triples[:, 1] + start, own[kg.triples[:, 2]]])
        for kg, own, start in zip(kgs, nodes, starts, strict=False)
    ]
    entities, relations = (
        pl.concat([kg.name + "\t" + names for kg, names in zip(kgs, of_kgs, strict=True)])
        for of_kgs in ([kg.entities for kg in kgs], [kg.relations for kg in kgs])
    )
    name = " + ".join(kgs[kg].name for kg in by_name)
    triples = np.unique(np.concatenate(facts), axis=0).astype(np.int32)
    return KnowledgeGraph(name, entities.gather(distinct), relations, triples), nodes


def _first_node(members: np.ndarray, nodes: Sequence[np.ndarray], in_order: Sequence[int]) -> np.ndarray:
    """The entity of the merged KG that stands for each group, by its first member."""
    node = np.full(len(members), ABSENT)
    for kg in reversed(in_order):  # the first of them has the last word
        present = members[:, kg] != ABSENT
        node[present] = nodes[kg][members[present, kg]]
    return node
