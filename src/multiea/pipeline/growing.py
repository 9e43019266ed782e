"""The task of adding a KG: the KGs of an alignment and a new one, with what is known of them all."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.open_seeds import OpenSeeds
from multiea.data.origin import Origin
from multiea.data.task import Task
from multiea.foundation.errors import InputError, counted

log = logging.getLogger("multiea")


def grown_task(
    before: Task, kg: KnowledgeGraph, seeds: Groups, held_out: Groups | None = None, *, path: str | Path | None = None
) -> Task:
    """The KGs of a task and a new one, with the known groups of both united.

    seeds, held_out: over the task's KGs and, last, the new one. Seeds of the task that the new seeds do not mention are
    open: their member in the new KG is searched. New seeds are open in KGs that none of them mentions. Held-out
    groups of the task stay held out, except those with a member that is in a seed now. Validation groups are dropped:
    their members in the new KG are unknown. path: the file of the seeds, for errors.
    """
    refuse_known_name(before, kg)
    _refuse_kgs_without_triples(before, in_memory=path is None)
    names = (*before.kg_names, kg.name)
    for groups in (seeds, held_out):
        if groups is not None and groups.kg_names != names:
            raise InputError(f"groups over the KGs {', '.join(groups.kg_names)}", expected=f"over {', '.join(names)}")
    if not seeds.present[:, -1].any():
        raise InputError(
            f"no seed has a member in the new KG '{kg.name}'",
            path=path,
            expected="known groups that link it to the others",
            hint="The column of the new KG must have the name of the KG (--name)",
        )
    kgs = [*before.kgs, kg]
    known_before = _with_new_kg(before.seeds.joined(before.open_seeds.groups), kg)
    known = unite_groups(known_before, seeds, kgs, "seed")
    looked_in = np.zeros(known.members.shape, dtype=bool)
    looked_in[len(before.seeds) : len(known_before), :-1] = before.open_seeds.looked_in
    looked_in[:, -1] = known.apart_from(seeds)
    looked_in[len(known_before) :] = ~seeds.present.any(axis=0)
    looked_in &= ~known.present
    is_open = np.asarray(looked_in.any(axis=1))
    to_score = _with_new_kg(before.held_out, kg)
    to_score = to_score.take(to_score.apart_from(known))
    if held_out is not None:
        to_score = unite_groups(to_score, _without_open_seeds(held_out, known.take(is_open)), kgs, "held-out group")
    open_seeds = OpenSeeds(known.take(is_open), looked_in[is_open])
    name = f"{before.name} + {kg.name}"
    origin = Origin(warnings=before.origin.warnings)
    return Task(kgs, known.take(~is_open), to_score, open_seeds=open_seeds, name=name, origin=origin)


def _refuse_kgs_without_triples(before: Task, *, in_memory: bool) -> None:
    """Raises an error for KGs without triples: tables of records, or an opened run without its data."""
    if any(len(one.triples) for one in before.kgs):
        return
    if not any(len(one.literals) for one in before.kgs):
        raise InputError(
            "the KGs of the alignment have no triples",
            expected="KGs with triples",
            hint="Open the run with multiea.open(run, with_triples=True)",
        )
    again = (
        "multiea.align(task, previous=alignment)" if in_memory else "multiea align DATASET --previous RUN --out RUN2"
    )
    raise InputError(
        "the KGs of the run are tables without triples, and a KG is added by structure alone",
        expected="KGs with triples",
        hint=f"Align all tables again, together with the new one; the old groups keep their ids: {again}",
    )


def unite_groups(known: Groups, more: Groups, kgs: Sequence[KnowledgeGraph], what: str) -> Groups:
    """Known groups and more of them; groups that share a member become one, unless they contradict each other."""
    members = known.members.copy()
    hits = known.rows_of(more.members)
    for new, own_hits in zip(more.members, hits, strict=True):
        rows = np.unique(own_hits[own_hits != ABSENT])
        if len(rows) > 1:
            one, other = sorted(_described(known.members[row], kgs) for row in rows)[:2]
            raise InputError(
                f"the {what} {_described(new, kgs)} joins two groups that are known to differ: {one} and {other}"
            )
        for row in rows:
            old = members[row]
            if ((new != ABSENT) & (old != ABSENT) & (new != old)).any():
                raise InputError(
                    f"the {what} {_described(new, kgs)} contradicts the known group {_described(old, kgs)}"
                )
            members[row] = np.maximum(old, new)
    apart = (hits == ABSENT).all(axis=1)
    return Groups(known.kg_names, np.concatenate([members, more.members[apart]]))


def _without_open_seeds(held_out: Groups, open_seeds: Groups) -> Groups:
    """Held-out groups without members of open seeds: what is found for a seed is not scored."""
    apart = held_out.apart_from(open_seeds)
    if not apart.all():
        log.warning("%s with a member in a seed: not scored", counted(int((~apart).sum()), "held-out group"))
    return held_out.take(apart)


def refuse_known_name(before: Task, kg: KnowledgeGraph) -> None:
    """Refuses a new KG with the name of an old one."""
    if kg.name in before.kg_names:
        raise InputError(
            f"the alignment already has a KG named '{kg.name}'",
            expected="another name for the new KG",
            hint="Give it one with --name (data.kg_name)",
        )


def _with_new_kg(groups: Groups, kg: KnowledgeGraph) -> Groups:
    """The same groups over one more KG, in which they have no known member."""
    unknown = np.full((len(groups), 1), ABSENT, dtype=np.int32)
    return Groups((*groups.kg_names, kg.name), np.concatenate([groups.members, unknown], axis=1))


def _described(members: np.ndarray, kgs: Sequence[KnowledgeGraph]) -> str:
    parts = [f"{kg.name} '{kg.entities[int(one)]}'" for kg, one in zip(kgs, members, strict=True) if one != ABSENT]
    return f"({', '.join(parts)})"
