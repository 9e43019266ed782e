"""align: the main job, from a task and its settings to an alignment."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from multiea.data.task import Task
from multiea.engines.devices import resolve_device
from multiea.evaluation.self_check import doubts, evidence_used
from multiea.foundation.errors import InputError, SettingError, resolve
from multiea.graph.canonical_order import CanonicalOrder
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.lineage import Ancestor
from multiea.pipeline.evidence_checks import check_structure_alone, warn_of_missing_evidence
from multiea.pipeline.extension import warm_start_from
from multiea.pipeline.single_pass import align_once, memory_errors_explained, timed
from multiea.pipeline.warm_start import WarmStart
from multiea.settings.engines import check_engine
from multiea.settings.tree import AUTO, AlignSettings
from multiea.tasks.runner import Runner

log = logging.getLogger("multiea")


def align(
    task: Task,
    settings: AlignSettings,
    *,
    ancestor: Ancestor | None = None,
    grown_from: AlignmentResult | None = None,
    runner: Runner | None = None,
) -> AlignmentResult:
    """Aligns all KGs of a task in a single pass, learning from its seeds only.

    ancestor: the previous run whose group ids are carried on. grown_from: an alignment of all KGs but a new one, from
    whose groups bootstrapping starts; its ids are carried on unless an ancestor is given. runner: runs the tasks of
    stages; in this process and in memory by default.
    """
    begin = time.perf_counter()
    _check(task, settings, has_alignment=grown_from is not None)
    if ancestor is None and grown_from is not None:
        ancestor = grown_from.as_ancestor()
    new_kgs = () if ancestor is None else _new_kgs(ancestor, task.kg_names)
    if new_kgs and grown_from is None:
        log.warning("new since the previous run: %s; ids follow the members in the other KGs", ", ".join(new_kgs))
    order, seconds = CanonicalOrder.of(task), dict[str, float]()
    start = None
    if grown_from is not None:
        with memory_errors_explained(), timed(seconds, "engine"):
            start = _canonical_start(warm_start_from(task, grown_from, settings), order)
    result = align_once(order, settings, start, runner)
    seconds |= {stage: seconds.get(stage, 0.0) + spent for stage, spent in result.seconds.items()}
    result = replace(result, seconds=seconds)
    result = result if ancestor is None else result.following(ancestor)
    warn_of_missing_evidence(task, settings.evidence, evidence_used(result))
    for words in doubts(result):
        log.warning("%s", words)
    return replace(result, seconds=seconds | {"align": time.perf_counter() - begin})


def _check(task: Task, settings: AlignSettings, *, has_alignment: bool) -> None:
    check_engine(settings.engine)
    resolve_device(settings.device)
    for name in settings.duplicates:
        if name != AUTO:
            resolve(name, dict.fromkeys(task.kg_names), what="KG of duplicates")
    check_structure_alone(task, settings)
    if settings.enhancement.mode == "product":
        log.warning("enhancement 'product' is the paper's equation to the letter, for comparison: hubs ruin its groups")
    if len(task.open_seeds) and not has_alignment:
        raise SettingError("open seeds belong to an alignment to which a KG is added: give it as grown_from")


def _new_kgs(ancestor: Ancestor, kg_names: Sequence[str]) -> tuple[str, ...]:
    """The KGs that the previous run does not have; it must have at least one of them."""
    new = ancestor.lacks(kg_names)
    if len(new) == len(kg_names):
        raise InputError(
            f"the previous run is over other KGs: {', '.join(ancestor.kg_names)}",
            path=ancestor.place,
            expected=f"at least one KG of this task: {', '.join(kg_names)}",
            hint="KGs are identified by their names",
        )
    return new


def _canonical_start(start: WarmStart, order: CanonicalOrder) -> WarmStart:
    """A warm start over the given task, in canonical order; groups ordered by their members."""

    def moved(found: FoundGroups) -> FoundGroups:
        by_canonical = found.renumbered(order.canonical_positions, order.given_columns, order.canonical.kg_names)
        return by_canonical.take(np.lexsort(by_canonical.groups.members.T))

    ones = FoundGroups.from_members(start.pseudo_labels, np.ones(start.pseudo_labels.members.shape))
    return WarmStart(moved(ones).groups, moved(start.completed))
