"""Adding a KG: a new one joins an alignment, and the groups found before are where bootstrapping starts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from multiea.alignment import Alignment
from multiea.bootstrapping import Bootstrapping, without_members
from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import read_one_kg
from multiea.data.readers import read_groups
from multiea.data.task import Task
from multiea.engines.trained import PROPAGATION
from multiea.errors import InputError, SettingError, counted
from multiea.pipeline import align, check_engine

log = logging.getLogger("multiea")


def add(
    alignment: Alignment, kg: KnowledgeGraph, seeds: Groups, *, held_out: Groups | None = None, **settings: Any
) -> Alignment:
    """Lets a new KG join an alignment; old groups keep their ids.

    alignment: with triples, as `align` returns it or multiea.open(run, with_triples=True). seeds, held_out: groups over
    its KGs and, last, the new one. settings: those of `align`, with an engine that propagates.

    >>> seeds = Groups.from_names([*alignment.task.kgs, kg], [{"en": "Oslo", "no": "Oslo"}])  # doctest: +SKIP
    >>> multiea.add(alignment, kg, seeds)  # doctest: +SKIP
    """
    return align(grown(alignment.task, kg, seeds, held_out), grown_from=alignment, **settings)


def load_grown(
    run: str | Path,
    files: Sequence[str | Path],
    *,
    name: str | None = None,
    seeds: str | Path | None,
    held_out: str | Path | None = None,
    lenient: bool = False,
) -> Task:
    """The KGs of a run and a new one from its files, with what is known of them all."""
    from multiea.outputs.run_folder import open_run

    if seeds is None:
        raise SettingError("a KG is added by known groups that tie it to the others; give a file of them as --seeds")
    before = open_run(run, with_triples=True).task
    kg = read_one_kg([Path(file) for file in files], name)
    _refuse_known_name(before, kg)
    kgs = [*before.kgs, kg]
    known = [None if path is None else read_groups(Path(path), kgs, lenient=lenient) for path in (seeds, held_out)]
    assert known[0] is not None
    return grown(before, kg, known[0], known[1], path=seeds)


def grown(
    before: Task, kg: KnowledgeGraph, seeds: Groups, held_out: Groups | None = None, *, path: str | Path | None = None
) -> Task:
    """A task's KGs and a new one; what was known of them united with what is known of all.

    seeds, held_out: over the task's KGs and, last, the new one. Held-out and validation groups of the task stay what
    they were, except those with a member that is in a seed now. path: where the seeds came from, for errors.
    """
    _refuse_known_name(before, kg)
    if not any(len(one.triples) for one in before.kgs):
        raise InputError(
            "the KGs of the alignment have no triples here",
            hint="Open the run with multiea.open(run, with_triples=True)",
        )
    names = (*before.kg_names, kg.name)
    for groups in (seeds, held_out):
        if groups is not None and groups.kg_names != names:
            raise InputError(f"groups over the KGs {', '.join(groups.kg_names)}", expected=f"over {', '.join(names)}")
    if not seeds.present[:, -1].any():
        raise InputError(
            f"no seed has a member in the new KG '{kg.name}'",
            path=path,
            expected="known groups that tie it to the others",
            hint="Name the column of the new KG as the KG is named (--name)",
        )
    kgs = [*before.kgs, kg]
    all_seeds = united(_with_a_new_kg(before.seeds, kg), seeds, kgs, "seed")
    untied = int((~all_seeds.present[:, -1]).sum())
    if untied:
        log.warning("%s without a member in %s: none is looked for", counted(untied, "seed"), kg.name)
    rest = [without_members(_with_a_new_kg(some, kg), all_seeds) for some in (before.held_out, before.validation)]
    if held_out is not None:
        rest[0] = united(rest[0], held_out, kgs, "held-out group")
    return Task(kgs, all_seeds, *rest, name=f"{before.name} + {kg.name}", notes=before.notes)


def united(known: Groups, more: Groups, kgs: Sequence[KnowledgeGraph], what: str) -> Groups:
    """Known groups and more of them; those that share a member become one, unless they contradict each other."""
    members = known.members.copy()
    hits = np.full(more.members.shape, ABSENT)  # the known group of each member
    for column, kg in enumerate(kgs):
        row_of = np.full(len(kg.entities) + 1, ABSENT)  # the last is for those that are absent
        present = known.present[:, column]
        row_of[members[present, column]] = np.flatnonzero(present)
        hits[:, column] = row_of[more.members[:, column]]
    for new, own_hits in zip(more.members, hits, strict=True):
        rows = np.unique(own_hits[own_hits != ABSENT])
        if len(rows) > 1:
            one, other = sorted(_told(known.members[row], kgs) for row in rows)[:2]
            raise InputError(f"the {what} {_told(new, kgs)} joins two that are known to differ: {one} and {other}")
        for row in rows:
            old = members[row]
            if ((new != ABSENT) & (old != ABSENT) & (new != old)).any():
                raise InputError(f"the {what} {_told(new, kgs)} contradicts {_told(old, kgs)}, which is known")
            members[row] = np.maximum(old, new)
    apart = (hits == ABSENT).all(axis=1)
    return Groups(known.kg_names, np.concatenate([members, more.members[apart]]))


def begin(task: Task, before: Alignment, engine: str, bootstrapping: Bootstrapping, **settings: Any) -> Groups:
    """Complete groups to start bootstrapping from: those found before, with the members found in the new KG.

    The KGs before are merged by their alignment into one; each KG that is new is aligned with it as one of two.
    """
    if PROPAGATION not in check_engine(engine):
        raise SettingError(f"a KG is added by propagation, not by engine '{engine}' alone; use {PROPAGATION}")
    if bootstrapping.pool != "all":
        raise SettingError(f"a KG is added by bootstrap 'all', not '{bootstrapping.pool}': groups found are labels")
    new = [kg for kg in task.kgs if kg.name not in before.task.kg_names]
    kgs = {kg.name: kg for kg in task.kgs}
    changed = [kg.name for kg in before.task.kgs if kg.name not in kgs or not kg.entities.equals(kgs[kg.name].entities)]
    if changed or not new:
        what = f"other entities of {', '.join(changed)}" if changed else "no new KG"
        raise InputError(f"{what} since the alignment before", expected="its KGs as they were, and one that is new")
    columns = [task.kg_names.index(name) for name in before.task.kg_names]
    merged, nodes = merge([task.kgs[column] for column in columns], before)
    in_order = sorted(range(len(columns)), key=lambda kg: before.task.kg_names[kg])
    found = np.full((len(before.found.groups), len(task.kgs)), ABSENT, dtype=np.int32)
    found[:, columns] = before.found.groups.members
    node_of_found = _first_node(before.found.groups.members, nodes, in_order)
    for kg in new:
        column = task.kg_names.index(kg.name)
        tied = task.seeds.take(task.seeds.present[:, column] & task.seeds.present[:, columns].any(axis=1))
        pairs = np.stack([_first_node(tied.members[:, columns], nodes, in_order), tied.members[:, column]], axis=1)
        _, where, count = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
        pairs = pairs[count[where] == 1]  # two seeds in one node: the old alignment was wrong there
        if not len(pairs):
            continue
        both = Task([merged, kg], Groups((merged.name, kg.name), pairs.astype(np.int32)), name=task.name)
        of_both = align(both, engine=PROPAGATION, bootstrap=bootstrapping, **settings).found.groups.members
        counterpart = np.full(len(merged.entities), ABSENT, dtype=np.int32)
        counterpart[of_both[:, 0]] = of_both[:, 1]
        found[:, column] = counterpart[node_of_found]
    return Groups(task.kg_names, found).complete


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


def _refuse_known_name(before: Task, kg: KnowledgeGraph) -> None:
    if kg.name in before.kg_names:
        raise InputError(
            f"the alignment has a KG named '{kg.name}' already",
            expected="a name of its own for the new KG",
            hint="Give it one by --name (data.kg_name)",
        )


def _with_a_new_kg(groups: Groups, kg: KnowledgeGraph) -> Groups:
    """The same groups, of which nothing is known in a KG more."""
    unknown = np.full((len(groups), 1), ABSENT, dtype=np.int32)
    return Groups((*groups.kg_names, kg.name), np.concatenate([groups.members, unknown], axis=1))


def _told(members: np.ndarray, kgs: Sequence[KnowledgeGraph]) -> str:
    parts = [f"{kg.name} '{kg.entities[int(one)]}'" for kg, one in zip(kgs, members, strict=True) if one != ABSENT]
    return f"({', '.join(parts)})"
