"""Checks of a task before learning, and of what learning reached."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import STRUCTURE, Evidence
from multiea.foundation.errors import InputError, counted
from multiea.pipeline.evidence_checks import (
    option,
    refuse_nothing_to_compare,
    seeds_hint,
    show_what_was_read,
    why_missing,
)
from multiea.settings.tree import EVIDENCE

log = logging.getLogger("multiea")


def check_task(task: Task, kinds: Sequence[str], evidence: Evidence | None) -> None:
    """Refuses a task from which nothing can be learned, and warns of KGs and pairs of KGs without seeds.

    kinds: the evidence that was asked for; evidence: what was found beside structure.
    """
    known = task.seeds.joined(task.open_seeds.groups)
    has_triples = STRUCTURE in kinds and any(len(kg.triples) for kg in task.kgs)
    if evidence is not None:
        _warn_of_kgs_without_evidence(task, evidence, has_triples=has_triples)
        return
    if not has_triples:
        refuse_nothing_to_compare(task, kinds)
    if not len(known):
        others = [one for one in EVIDENCE if one not in kinds]
        why = " and ".join(why_missing(task, kind) for kind in kinds if kind != STRUCTURE)
        raise InputError(
            f"'{task.name}' has no seeds" + (f", and nothing else to start from: {why}" if why else ""),
            expected="a few known groups to learn from",
            hint=seeds_hint(task)
            + (
                f"; or compare {' and '.join(others)} as well, with {option(task, 'evidence', 'auto')}"
                if others
                else ""
            ),
        )
    _check_reach_of_seeds(task, known)


def check_encoder_has_seeds(task: Task, encoder: str) -> None:
    """Refuses to train an encoder without seeds, whatever other evidence there is."""
    if not len(task.seeds) and not len(task.open_seeds):
        raise InputError(
            f"'{task.name}' has no seeds, which the encoder '{encoder}' is trained with",
            expected="a few known groups to learn from",
            hint=f"{seeds_hint(task)}; or use the engine propagation, which needs none",
        )


def _check_reach_of_seeds(task: Task, known: Groups) -> None:
    """Structure alone needs seeds with neighbours in at least two KGs."""
    unreached = [
        kg.name
        for kg, members in zip(task.kgs, known.members.T, strict=True)
        if not kg.degrees[members[members != ABSENT]].any()
    ]
    if len(unreached) > len(task.kgs) - 2:
        raise InputError(
            f"the seeds have no neighbours in {', '.join(unreached)}: none of their members there is in a triple",
            expected="seeds with members that occur in triples, in at least two KGs",
            hint=f"Compare the entities of the seeds with those of the triples: {show_what_was_read(task)} both",
        )
    overlap = known.overlap()
    without_seeds = [name for name, count in zip(task.kg_names, overlap.diagonal(), strict=True) if not count]
    if without_seeds:
        log.warning("no seed has a member in %s: nothing is known of its entities", ", ".join(without_seeds))
    unlinked = [
        f"{task.kg_names[a]}-{task.kg_names[b]}" for a, b in combinations(range(len(task.kgs)), 2) if not overlap[a, b]
    ]
    if unlinked:
        log.warning("no seed links %s: these pairs cannot be learned directly", ", ".join(unlinked))


def _warn_of_kgs_without_evidence(task: Task, evidence: Evidence, *, has_triples: bool) -> None:
    """Warns of KGs that have neither names nor attributes, and nothing else to be compared by."""
    has_any = [has.any() for has in evidence.has_any()]
    overlap = task.seeds.joined(task.open_seeds.groups).overlap().diagonal()
    lost = [
        kg.name
        for kg, has, seeds in zip(task.kgs, has_any, overlap, strict=True)
        if not has and not (has_triples and seeds and len(kg.triples))
    ]
    if lost:
        log.warning(
            "%s: no names or attributes that others have, and no seeds: its entities are hard to align", ", ".join(lost)
        )


def warn_of_unreached_entities(task: Task, embeddings: Embeddings, evidence: Evidence | None) -> None:
    """Warns of entities without any evidence: no path of triples leads there from a known entity, and nothing else."""
    is_reached = np.split(embeddings.are_known().numpy(), task.entity_offsets[1:-1])
    if evidence is not None:
        is_reached = [one | other for one, other in zip(is_reached, evidence.has_any(), strict=True)]
    parts = [
        f"{counted(int((~of_kg).sum()), 'entity')} of {kg.name}"
        for kg, of_kg in zip(task.kgs, is_reached, strict=True)
        if not of_kg.all()
    ]
    if parts:
        beside = "" if evidence is None else " and no name or attribute to compare"
        log.warning("%s: no triples that lead to a known entity%s: they stay unmatched", ", ".join(parts), beside)
