"""A warm start from an alignment: its KGs are merged by their groups, and each new KG is aligned with the result."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task
from multiea.foundation.errors import InputError, SettingError
from multiea.graph.canonical_order import CanonicalOrder
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.found_groups import FoundGroups
from multiea.pipeline.merged_kg import first_nodes, merge_kgs
from multiea.pipeline.single_pass import align_once
from multiea.pipeline.warm_start import WarmStart
from multiea.settings.engines import PROPAGATION
from multiea.settings.tree import STRUCTURE, AlignSettings


@dataclass(frozen=True)
class _Counterparts:
    """For each entity of the merged KG its counterpart in a new KG, -1 where it has none, and the confidence."""

    entity: np.ndarray
    confidence: np.ndarray

    @classmethod
    def of(cls, found: FoundGroups, entities: int, known: np.ndarray) -> _Counterparts:
        """The found counterparts, except entities of the new KG that are in known groups."""
        is_new = ~np.isin(found.groups.members[:, 1], known)
        node, counterpart = found.groups.members[is_new].T
        result = cls(np.full(entities, ABSENT, dtype=np.int32), np.zeros(entities))
        result.entity[node], result.confidence[node] = counterpart, found.confidence[is_new, 1]
        return result


def warm_start_from(task: Task, before: AlignmentResult, settings: AlignSettings) -> WarmStart:
    """Complete groups and completed open seeds to start from, over the given task.

    One round of bootstrapping is enough for the groups; open seeds use as many rounds as the settings say.
    """
    _refuse_unsuitable(task, before, settings)
    columns = [task.kg_names.index(name) for name in before.task.kg_names]
    merged, nodes = merge_kgs([task.kgs[column] for column in columns], before)
    found, open_seeds = _over_all_kgs(before.found.groups, task), task.open_seeds
    completed, confidence = _completed_before(task, before)
    known = task.seeds.joined(open_seeds.groups)
    if not len(open_seeds):
        settings = replace(settings, bootstrap=replace(settings.bootstrap, rounds=1))
    for column, kg in enumerate(task.kgs):
        if kg.name in before.task.kg_names:
            continue
        linking = known.take(known.present[:, column] & known.present[:, columns].any(axis=1))
        nodes_of_seeds = first_nodes(linking.members[:, columns], nodes, before.task.kg_names)
        pairs = np.stack([nodes_of_seeds, linking.members[:, column]], axis=1)
        aligned = _align_with_merged(merged, kg, pairs, task.name, settings)
        counterparts = _Counterparts.of(aligned, len(merged.entities), known.members[:, column])
        found[:, column] = counterparts.entity[first_nodes(found[:, columns], nodes, before.task.kg_names)]
        rows = np.flatnonzero(open_seeds.looked_in[:, column])
        node = first_nodes(completed[rows][:, columns], nodes, before.task.kg_names)
        completed[rows, column], confidence[rows, column] = counterparts.entity[node], counterparts.confidence[node]
    complete = Groups(task.kg_names, found[(found != ABSENT).all(axis=1)])
    complete = complete.take(complete.apart_from(known))  # some are in a seed now
    return WarmStart(complete, _completed_seeds(Groups(task.kg_names, completed), confidence, open_seeds.groups))


def _over_all_kgs(groups: Groups, task: Task) -> np.ndarray:
    """The members of groups over some of a task's KGs, (groups, M)."""
    members = np.full((len(groups), len(task.kgs)), ABSENT, dtype=np.int32)
    members[:, [task.kg_names.index(name) for name in groups.kg_names]] = groups.members
    return members


def _completed_before(task: Task, before: AlignmentResult) -> tuple[np.ndarray, np.ndarray]:
    """Open seeds with the members that the old alignment found for them, and confidences, (open seeds, M) each.

    What is known by now replaces what was found.
    """
    members, confidence = task.open_seeds.groups.members.copy(), task.open_seeds.groups.present.astype(float)
    found = before.found if before.completed_seeds is None else before.completed_seeds.joined(before.found)
    old_members, old_confidence = _over_all_kgs(found.groups, task), np.zeros((len(found.groups), len(task.kgs)))
    old_confidence[:, [task.kg_names.index(name) for name in before.task.kg_names]] = found.confidence
    row = _old_group_of_open_seeds(task, before, old_members)
    known = task.seeds.joined(task.open_seeds.groups)
    old_members = np.where(known.rows_of(old_members) != ABSENT, ABSENT, old_members)
    rows = np.flatnonzero(row != ABSENT)
    fills = task.open_seeds.looked_in[rows] & (old_members[row[rows]] != ABSENT)
    members[rows] = np.where(fills, old_members[row[rows]], members[rows])
    confidence[rows] = np.where(fills, old_confidence[row[rows]], confidence[rows])
    return members, confidence


def _old_group_of_open_seeds(task: Task, before: AlignmentResult, old_members: np.ndarray) -> np.ndarray:
    """For each open seed the one old group, completed or found, that has its members; -1 for none or several.

    Completed groups are identified by the members that were known, not by those that were found for them.
    """
    count = 0 if before.completed_seeds is None else len(before.completed_seeds.groups)
    open_before = Groups(task.kg_names, _over_all_kgs(before.task.open_seeds.groups, task))
    identifies = open_before.rows_of(old_members) != ABSENT
    identifies[count:] = True
    identifying = Groups(task.kg_names, np.where(identifies, old_members, ABSENT))
    rows = identifying.rows_of(task.open_seeds.groups.members)
    first = rows.max(axis=1, initial=ABSENT)
    agree = ((rows == first[:, None]) | (rows == ABSENT)).all(axis=1)
    _, where, times = np.unique(first, return_inverse=True, return_counts=True)
    return np.where(agree & (times[where] == 1), first, ABSENT)  # two seeds in one group: the group was wrong


def _completed_seeds(groups: Groups, confidence: np.ndarray, known: Groups) -> FoundGroups:
    """Completed open seeds: a found member is matched with the first known one, and with others through it."""
    completed = FoundGroups.from_members(groups, confidence)
    is_known = groups.members_in(known)
    by_name = np.array(sorted(range(len(groups.kg_names)), key=lambda kg: groups.kg_names[kg]))
    first = np.zeros(is_known.shape, dtype=bool)
    first[np.arange(len(groups)), by_name[is_known[:, by_name].argmax(axis=1)]] = True
    through_first = first[:, :, None] | first[:, None, :]
    both_known = is_known[:, :, None] & is_known[:, None, :]
    return replace(completed, matched=completed.matched & (through_first | both_known))


def _align_with_merged(
    merged: KnowledgeGraph, kg: KnowledgeGraph, pairs: np.ndarray, name: str, settings: AlignSettings
) -> FoundGroups:
    """The groups between the merged KG and a new one; pairs: known equivalent entities of both."""
    _, where, count = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    pairs = pairs[count[where] == 1]  # two seeds in one merged entity: the old alignment was wrong there
    if kg.name == merged.name:
        merged = replace(merged, name=f"{merged.name} (merged)")
    both = Task([merged, kg], Groups((merged.name, kg.name), pairs.astype(np.int32)), name=name)
    if not len(pairs):
        return FoundGroups.empty(both.kg_names)
    of_propagation = AlignSettings.default(
        propagation=settings.propagation,
        bootstrap=settings.bootstrap,
        enhancement=settings.enhancement,
        random_state=settings.random_state,
        device=settings.device,
        evidence=(STRUCTURE,),  # the merged KG has no names; those of all KGs count in the alignment that follows
    )
    return align_once(CanonicalOrder.of(both), of_propagation).found


def _refuse_unsuitable(task: Task, before: AlignmentResult, settings: AlignSettings) -> None:
    if not settings.uses_propagation:
        raise SettingError(f"adding a KG needs engine '{PROPAGATION}', not '{settings.engine}' alone")
    if settings.bootstrap.pool != "all":
        raise SettingError(f"adding a KG needs bootstrap 'all', not '{settings.bootstrap.pool}'")
    kgs = {kg.name: kg for kg in task.kgs}
    changed = [kg.name for kg in before.task.kgs if kg.name not in kgs or not kg.entities.equals(kgs[kg.name].entities)]
    if changed or len(kgs) == len(before.task.kgs):
        what = f"the entities of {', '.join(changed)} have changed" if changed else "there is no new KG"
        raise InputError(f"{what} since the alignment was made", expected="its KGs unchanged, and a new one")
