"""Adding a KG: a new one joins an alignment, and the groups found before are where bootstrapping starts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import read_one_kg
from multiea.data.open_seeds import OpenSeeds
from multiea.data.readers import read_groups
from multiea.data.task import Task
from multiea.foundation.errors import InputError, SettingError, counted
from multiea.grouping.alignment import Alignment
from multiea.pipeline.align import align

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
    from multiea.runs.opening import open_run

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

    seeds, held_out: over the task's KGs and, last, the new one. Seeds of the task of which the new ones say nothing are
    open: a member in the new KG is looked for; and new ones are open in KGs of which none of them says anything.
    Held-out groups of the task stay what they were, except those with a member that is in a seed now; validation
    groups, unknown in the new KG, could not judge it and are left out. path: where the seeds came from, for errors.
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
    known_before = _with_a_new_kg(before.seeds.joined(before.open_seeds.groups), kg)
    known = united(known_before, seeds, kgs, "seed")
    looked_in = np.zeros(known.members.shape, dtype=bool)
    looked_in[len(before.seeds) : len(known_before), :-1] = before.open_seeds.looked_in
    looked_in[:, -1] = known.apart_from(seeds)
    looked_in[len(known_before) :] = ~seeds.present.any(axis=0)
    looked_in &= ~known.present
    is_open = np.asarray(looked_in.any(axis=1))
    to_score = _with_a_new_kg(before.held_out, kg)
    to_score = to_score.take(to_score.apart_from(known))
    if held_out is not None:
        to_score = united(to_score, _apart_from_open(held_out, known.take(is_open)), kgs, "held-out group")
    open_seeds = OpenSeeds(known.take(is_open), looked_in[is_open])
    name = f"{before.name} + {kg.name}"
    return Task(kgs, known.take(~is_open), to_score, open_seeds=open_seeds, name=name, notes=before.notes)


def united(known: Groups, more: Groups, kgs: Sequence[KnowledgeGraph], what: str) -> Groups:
    """Known groups and more of them; those that share a member become one, unless they contradict each other."""
    members = known.members.copy()
    hits = known.rows_of(more.members)
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


def _apart_from_open(held_out: Groups, open_seeds: Groups) -> Groups:
    """Held-out groups that say nothing of open seeds: what is found for a seed is not scored."""
    apart = held_out.apart_from(open_seeds)
    if not apart.all():
        log.warning("%s with a member in a seed: not scored", counted(int((~apart).sum()), "held-out group"))
    return held_out.take(apart)


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
