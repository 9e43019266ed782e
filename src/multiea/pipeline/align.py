"""align: the main job, from a task to an alignment."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from multiea.data.task import Task
from multiea.engines.encoder_embeddings import PROPAGATION, learn, learn_pairwise
from multiea.engines.propagation import Propagation
from multiea.engines.training import Score, Training
from multiea.evaluation.ranks import mean_reciprocal_rank
from multiea.evaluation.scores import ranks_of_groups, scores_by_rank
from multiea.foundation.errors import InputError, MultiEAError, SettingError, resolve
from multiea.graph.ordering import Order
from multiea.grouping.alignment import Alignment, found_among, grouped, pool_similarities
from multiea.grouping.calibration import Calibration, calibrate
from multiea.grouping.lineage import Ancestor
from multiea.grouping.matching import FoundGroups, joined, scores_inside
from multiea.pipeline.bootstrapping import Beside, Bootstrapping, Start, propagate
from multiea.pipeline.checks import check_task, warn_of_unreached
from multiea.pipeline.rehearsal import Learned
from multiea.settings.how import How, chosen_device, settled
from multiea.similarity.enhancement import Enhancement

log = logging.getLogger("multiea")


def align(
    task: Task,
    *,
    engine: str = PROPAGATION,
    enhancement: Enhancement | str = "sharpened",
    propagation: Propagation | None = None,
    bootstrap: Bootstrapping | str = "all",
    training: Training | None = None,
    pairwise: bool = False,
    fusion_weight: float = 0.2,
    duplicates: Sequence[str] = (),
    previous: Alignment | str | Path | None = None,
    grown_from: Alignment | str | Path | None = None,
    random_state: int = 0,
    device: str = "auto",
) -> Alignment:
    """Aligns all KGs of a task at once, learning from its seeds alone.

    engine: `propagation`, a trained encoder, or both as `propagation+multiea`; fusion_weight is then what the encoder's
    similarities count. pairwise: the encoder is trained for each pair of KGs alone, as methods for two KGs are, and
    what comes of it is joined. duplicates: names of KGs that hold some things more than once; a group has one member of
    each KG, and further ones of these KGs, as duplicates. previous: an alignment or a run folder whose group ids are
    carried on; it changes nothing else. grown_from: an alignment or a run folder of all KGs but a new one, whose groups
    are where bootstrapping starts, and whose group ids are carried on; `add` makes the task for it.

    >>> multiea.align(multiea.load("world")).groups  # doctest: +SKIP
    """
    if not isinstance(task, Task):
        raise SettingError(f"align takes a Task, got {task!r}; multiea.load reads one")
    how = settled(
        engine=engine,
        enhancement=enhancement,
        propagation=propagation,
        bootstrap=bootstrap,
        training=training,
        pairwise=pairwise,
        fusion_weight=fusion_weight,
        duplicates=duplicates,
        random_state=random_state,
        device=device,
    )
    for name in how.duplicates:
        resolve(name, dict.fromkeys(task.kg_names), what="KG of duplicates")
    check_task(task)
    if len(task.open_seeds) and grown_from is None:
        raise SettingError("open seeds are those of an alignment to which a KG is added: give it as grown_from")
    followed = grown_from if previous is None else previous
    ancestor = None if followed is None else _ancestor(followed, task, grown=grown_from is not None)
    order, seconds = Order.of(task), dict[str, float]()
    with _memory_errors_explained(), _timed(seconds, "engine"):
        start = None if grown_from is None else _start(order, grown_from, how)
        learned = _learned(order.ordered, how, start)
    warn_of_unreached(order.ordered, learned.embeddings)
    known = order.ordered.seeds if start is None else order.ordered.seeds.joined(start.adopted.groups)
    to_compare = Task(order.ordered.kgs, known, name=task.name)
    with _memory_errors_explained(), _timed(seconds, "similarity"):
        calibration = _calibration(to_compare, learned, how.enhancement)
        scores, pools = pool_similarities(
            to_compare, learned.embeddings, how.enhancement, "all", to_compare.held_out, learned.signatures
        )
    with _memory_errors_explained(), _timed(seconds, "grouping"):
        found, further = grouped(to_compare, learned.embeddings, scores, pools, calibration, how.duplicates)
    alignment = Alignment(
        task,
        order.found_back(found),
        order.embeddings_back(learned.embeddings),
        how.enhancement,
        calibration,
        order.signatures_back(learned.signatures),
        how.used(),
        learned.history | ({} if start is None else _looked_for(order.ordered, start)),
        seconds,
        order.duplicates_back(further),
        adopted=order.found_back(start.adopted) if start is not None and len(task.open_seeds) else None,
        _among_all=None if len(task.open_seeds) else order.scores_back(scores, pools),
    )
    return alignment if ancestor is None else alignment.following(ancestor)


def _looked_for(ordered: Task, start: Start) -> dict[str, Any]:
    """For each KG in which members of open seeds were looked for, of how many, and how many were found."""
    looked_in, adopted = ordered.open_seeds.looked_in, start.adopted.groups
    found = adopted.present & ~adopted.members_in(ordered.open_seeds.groups)
    counts = {
        kg: {"looked_for": int(looked_in[:, column].sum()), "found": int(found[:, column].sum())}
        for column, kg in enumerate(ordered.kg_names)
        if looked_in[:, column].any()
    }
    return {"open_seeds": counts} if counts else {}


def _learned(ordered: Task, how: How, start: Start | None) -> Learned:
    """What the engine makes of a task in its canonical order; of held-out groups it sees their members, no ties."""
    task = Task(ordered.kgs, ordered.seeds, None, ordered.validation, ordered.open_seeds, name=ordered.name)
    device, trained = chosen_device(how.device), None
    if how.encoder is not None:
        train = learn_pairwise if how.pairwise else learn
        known = Task(task.kgs, task.seeds.joined(task.open_seeds.groups), None, task.validation, name=task.name)
        trained = train(
            known, how.encoder, how.training, validate=_validation_score, device=device, random_state=how.random_state
        )
        if trained.history.get("interrupted"):
            log.warning("training was interrupted: this is the best so far")
    if not how.propagates:
        assert trained is not None
        return trained
    learned = propagate(
        task,
        how.propagation,
        how.bootstrap,
        how.enhancement,
        beside=None if trained is None else _beside(trained, how.fusion_weight),
        start=start,
        test_entities=ordered.held_out,
        device=device,
        random_state=how.random_state,
    )
    return learned if trained is None else replace(learned, history=trained.history | learned.history)


def _ancestor(previous: Alignment | str | Path, task: Task, *, grown: bool) -> Ancestor:
    """The run whose ids are carried on, which must have a KG in common with this task."""
    from multiea.runs.files import read_ancestor

    ancestor = previous.as_ancestor() if isinstance(previous, Alignment) else read_ancestor(previous)
    new = ancestor.lacks(task.kg_names)
    if len(new) == len(task.kgs):
        raise InputError(
            f"the previous run is over other KGs: {', '.join(ancestor.kg_names)}",
            path=None if isinstance(previous, Alignment) else previous,
            expected=f"at least one KG of this task: {', '.join(task.kg_names)}",
            hint="KGs are recognised by name",
        )
    if new and not grown:
        log.warning("new since the previous run: %s; ids follow the members in the other KGs", ", ".join(new))
    return ancestor


def _start(order: Order, grown_from: Alignment | str | Path, how: How) -> Start:
    """What bootstrapping starts from where a KG is added, in the canonical order."""
    from multiea.pipeline.warm_start import start_of
    from multiea.runs.opening import open_run

    before = grown_from if isinstance(grown_from, Alignment) else open_run(grown_from)
    start = start_of(order.task, before, how)
    complete = FoundGroups.of_members(start.found, np.ones(start.found.members.shape))
    return Start(order.kept(complete).groups, order.kept(start.adopted))


def _beside(trained: Learned, weight: float) -> Beside:
    rehearsed = trained.embeddings if trained.rehearsed is None else trained.rehearsed
    return Beside(rehearsed, trained.embeddings, weight)


def _calibration(task: Task, learned: Learned, enhancement: Enhancement) -> Calibration:
    """Learned from what was found while some seeds were held back."""
    if learned.calibration is not None:
        return learned.calibration
    if learned.rehearsed is None or not len(learned.held_back):
        return Calibration()
    rehearsal = Task(task.kgs, learned.seeds, learned.held_back)
    scores, pools = pool_similarities(rehearsal, learned.rehearsed, enhancement, "all", learned.held_back)
    groups = joined(found_among(scores, pools, rehearsal), task.kg_names)
    return calibrate(groups, scores_inside(groups, scores, pools), learned.held_back)


def _validation_score(embeddings: Tensor, task: Task) -> Score:
    """M-Hits@1 among all entities that are not trained on, then the mean reciprocal rank; plain similarities."""
    scores, pools = pool_similarities(task, embeddings, Enhancement(mode="none"), "all", task.held_out)
    ranks = ranks_of_groups(scores, pools, task.held_out)
    m_hits_at_1 = scores_by_rank(ranks, task.kg_names)["m_hits"]["1"]
    known = torch.cat([of_pair[~of_pair.isnan()] for of_pair in ranks.values()])
    return (m_hits_at_1 or 0.0, mean_reciprocal_rank(known))


@contextmanager
def _memory_errors_explained() -> Iterator[None]:
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        text = str(error)
        if isinstance(error, RuntimeError) and not any(word in text.lower() for word in ("memory", "overflowed")):
            raise
        raise MultiEAError(
            "out of memory; lower training.dimensions, propagation.dimensions or enhancement.candidates (by --set), or "
            "use a machine with more of it"
        ) from None


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
