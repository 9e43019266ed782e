"""Where a KG is added, what the alignment before tells of all KGs: groups to start from, members of its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task
from multiea.engines.encoder_embeddings import PROPAGATION
from multiea.foundation.errors import InputError, SettingError
from multiea.grouping.alignment import Alignment
from multiea.grouping.matching import FoundGroups
from multiea.pipeline.align import align
from multiea.pipeline.bootstrapping import Start
from multiea.settings.how import How


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
    found, open_seeds = _over(before.found.groups, task), task.open_seeds
    adopted, confidence = _carried_on(task, before)
    known = task.seeds.joined(open_seeds.groups)
    how = how if len(open_seeds) else replace(how, bootstrap=replace(how.bootstrap, rounds=1))
    for column, kg in enumerate(task.kgs):
        if kg.name in before.task.kg_names:
            continue
        tied = known.take(known.present[:, column] & known.present[:, columns].any(axis=1))
        pairs = np.stack([_first_node(tied.members[:, columns], nodes, in_order), tied.members[:, column]], axis=1)
        of_both = _aligned_with(merged, kg, pairs, task.name, how)
        through = _Counterparts.of(of_both, len(merged.entities), known.members[:, column])
        found[:, column] = through.entity[_first_node(found[:, columns], nodes, in_order)]
        rows = np.flatnonzero(open_seeds.looked_in[:, column])
        node = _first_node(adopted[rows][:, columns], nodes, in_order)
        adopted[rows, column], confidence[rows, column] = through.entity[node], through.confidence[node]
    complete = Groups(task.kg_names, found[(found != ABSENT).all(axis=1)])
    complete = complete.take(complete.apart_from(known))  # some are in a seed now
    return Start(complete, _told_apart(Groups(task.kg_names, adopted), confidence, open_seeds.groups))


def _over(groups: Groups, task: Task) -> np.ndarray:
    """The members of groups over some of a task's KGs, (groups, M)."""
    members = np.full((len(groups), len(task.kgs)), ABSENT, dtype=np.int32)
    members[:, [task.kg_names.index(name) for name in groups.kg_names]] = groups.members
    return members


def _carried_on(task: Task, before: Alignment) -> tuple[np.ndarray, np.ndarray]:
    """Open seeds with the members found for them, or with them, before, and how sure these are, (open seeds, M) each.

    What is known by now takes the place of what was found.
    """
    members, confidence = task.open_seeds.groups.members.copy(), task.open_seeds.groups.present.astype(float)
    found = before.found if before.adopted is None else before.adopted.joined(before.found)
    of_before, sure = _over(found.groups, task), np.zeros((len(found.groups), len(task.kgs)))
    sure[:, [task.kg_names.index(name) for name in before.task.kg_names]] = found.confidence
    row = _row_before(task, before, of_before)
    known = task.seeds.joined(task.open_seeds.groups)
    of_before = np.where(known.rows_of(of_before) != ABSENT, ABSENT, of_before)
    rows = np.flatnonzero(row != ABSENT)
    fills = task.open_seeds.looked_in[rows] & (of_before[row[rows]] != ABSENT)
    members[rows] = np.where(fills, of_before[row[rows]], members[rows])
    confidence[rows] = np.where(fills, sure[row[rows]], confidence[rows])
    return members, confidence


def _row_before(task: Task, before: Alignment, of_before: np.ndarray) -> np.ndarray:
    """For each open seed the one group of before, adopted or found, that its members tell; -1 for none or several.

    An adopted group is told by the members that were known, not by those it was given.
    """
    count = 0 if before.adopted is None else len(before.adopted.groups)
    were_known = Groups(task.kg_names, _over(before.task.open_seeds.groups, task)).rows_of(of_before) != ABSENT
    were_known[count:] = True
    telling = np.where(were_known, of_before, ABSENT)
    rows = Groups(task.kg_names, telling).rows_of(task.open_seeds.groups.members)
    first = rows.max(axis=1, initial=ABSENT)
    agree = ((rows == first[:, None]) | (rows == ABSENT)).all(axis=1)
    _, where, times = np.unique(first, return_inverse=True, return_counts=True)
    return np.where(agree & (times[where] == 1), first, ABSENT)  # two seeds in one group: it was wrong


def _told_apart(groups: Groups, confidence: np.ndarray, known: Groups) -> FoundGroups:
    """Adopted groups: a member that was found is matched with the first that is known, and with others through it."""
    adopted = FoundGroups.of_members(groups, confidence)
    is_known = groups.members_in(known)
    by_name = np.array(sorted(range(len(groups.kg_names)), key=lambda kg: groups.kg_names[kg]))
    first = np.zeros(is_known.shape, dtype=bool)
    first[np.arange(len(groups)), by_name[is_known[:, by_name].argmax(axis=1)]] = True
    through_first = first[:, :, None] | first[:, None, :]
    both_known = is_known[:, :, None] & is_known[:, None, :]
    return replace(adopted, matched=adopted.matched & (through_first | both_known))


def _aligned_with(merged: KnowledgeGraph, kg: KnowledgeGraph, pairs: np.ndarray, name: str, how: How) -> FoundGroups:
    """What aligning the merged KG with a new one finds; pairs: entities of both that are known to be the same."""
    _, where, count = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    pairs = pairs[count[where] == 1]  # two seeds in one entity: the alignment before was wrong there
    if kg.name == merged.name:
        merged = replace(merged, name=f"{merged.name} (merged)")
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
    known = alignment.known.groups
    members = known.joined(alignment.found.groups).members.astype(np.int64)
    joint = np.where(members == ABSENT, ABSENT, members + offsets[:-1])
    by_name = sorted(range(len(kgs)), key=lambda kg: kgs[kg].name)
    first = (joint[:, by_name] != ABSENT).argmax(axis=1)
    stands = joint[np.arange(len(joint)), np.array(by_name)[first]]
    stands_for = np.arange(offsets[-1])
    for column in joint.T:
        present = column != ABSENT
        stands_for[column[present]] = stands[present]
    more = alignment.duplicates
    stands_for[more.entity + offsets[more.kg]] = stands[more.group + len(known)]
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
