"""Adding a KG: a new one joins an alignment, and the groups found before are where bootstrapping starts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multiea.alignment import Alignment
from multiea.data.groups import ABSENT, Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import read_one_kg
from multiea.data.readers import read_groups
from multiea.data.task import Task
from multiea.errors import InputError, SettingError
from multiea.pipeline import align

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
    from multiea.outputs.opening import open_run

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

    seeds, held_out: over the task's KGs and, last, the new one. Seeds of the task of which they say nothing are open:
    a member in the new KG is looked for. Held-out and validation groups of the task stay what they were, except those
    with a member that is in a seed now. path: where the seeds came from, for errors.
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
    closed, still_open = (_with_a_new_kg(some, kg) for some in (before.seeds, before.open_seeds))
    known = united(closed.joined(still_open), seeds, kgs, "seed")
    is_open = known.apart_from(seeds)
    is_open[len(closed) : len(closed) + len(still_open)] = True
    to_score, validation = (_with_a_new_kg(some, kg) for some in (before.held_out, before.validation))
    to_score, validation = (some.take(some.apart_from(known)) for some in (to_score, validation))
    if held_out is not None:
        to_score = united(to_score, held_out, kgs, "held-out group")
    closed, still_open = known.take(~is_open), known.take(is_open)
    name = f"{before.name} + {kg.name}"
    return Task(kgs, closed, to_score, validation, still_open, name=name, notes=before.notes)


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
