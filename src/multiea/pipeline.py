"""align: the main job, from a task to an alignment."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from multiea.alignment import Alignment, found_among, grouped, pool_similarities
from multiea.bootstrapping import HELD_BACK, Beside, Bootstrapping, Start, propagate
from multiea.checks import check_task, warn_of_unreached
from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task, check_random_state
from multiea.engines.propagation import Propagation
from multiea.engines.rehearsal import Learned
from multiea.engines.trained import ENCODERS, PROPAGATION, learn, learn_pairwise
from multiea.engines.training import Score, Training
from multiea.errors import InputError, MultiEAError, SettingError, check_share, resolve
from multiea.evaluation.ranks import mean_reciprocal_rank
from multiea.evaluation.scores import ranks_of_groups, scores_by_rank
from multiea.graph import canonical
from multiea.grouping.confidence import Calibration, calibrate
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.lineage import Ancestor
from multiea.grouping.mutual import FoundGroups, joined, scores_inside
from multiea.setting import told
from multiea.similarity.enhancement import Enhancement, Pairs

PartSettings = Mapping[str, Propagation | Bootstrapping | Training]

log = logging.getLogger("multiea")
FUSION = f"{PROPAGATION}+multiea"
DEVICES = {"auto": None, "cpu": None, "cuda": None}
CANDIDATES = 50


def default_enhancement(engine: str, mode: str = "sharpened") -> Enhancement:
    """How an engine's embeddings are best compared: what propagation makes, by its best candidates alone."""
    if PROPAGATION in engine.split("+") and mode in ("none", "sharpened"):
        return Enhancement(mode, weights=(0.3, 0.7), temperature=0.03, candidates=CANDIDATES)
    return Enhancement(mode)


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
    names = check_engine(engine)
    check_share("fusion_weight", fusion_weight)
    duplicates = list(dict.fromkeys(duplicates))
    for name in duplicates:
        resolve(name, dict.fromkeys(task.kg_names), what="KG of duplicates")
    check_random_state(random_state)
    enhancement = default_enhancement(engine, enhancement) if isinstance(enhancement, str) else enhancement
    propagation = Propagation() if propagation is None else propagation
    bootstrap = Bootstrapping(pool=bootstrap) if isinstance(bootstrap, str) else bootstrap
    encoders = [name for name in names if name in ENCODERS]
    if pairwise and names != encoders:
        raise SettingError("propagation has nothing to train pair by pair; pairwise goes with an encoder alone")
    training = usual_training(engine) if training is None else training
    if len(names) > 1:  # what one engine learns from, the other must not be judged by
        training = replace(training, validation_ratio=max(training.validation_ratio, HELD_BACK))
    chosen = chosen_device(device)
    if enhancement.mode == "product":
        log.warning("enhancement 'product' is the paper's equation to the letter, for comparison: hubs ruin its groups")
    check_task(task)
    followed = grown_from if previous is None else previous
    ancestor = None if followed is None else _ancestor(followed, task, grown=grown_from is not None)
    seconds: dict[str, float] = {}
    ordered, places = canonical(task)
    for_learning = Task(ordered.kgs, ordered.seeds, None, ordered.validation, ordered.open_seeds, name=task.name)
    with _memory_errors_explained(), _timed(seconds, "engine"):
        start: Start | None = None
        if grown_from is not None:
            how = {"propagation": propagation, "enhancement": enhancement, "random_state": random_state}
            start = _start(task, ordered, grown_from, engine, bootstrap, device=device, **how)
        elif len(task.open_seeds):
            raise SettingError("open seeds are those of an alignment to which a KG is added: give it as grown_from")
        trained: Learned | None = None
        for name in encoders:
            trained = (learn_pairwise if pairwise else learn)(
                for_learning, name, training, validate=_validation_score, device=chosen, random_state=random_state
            )
        learned = trained
        if PROPAGATION in names:
            learned = propagate(
                for_learning,
                propagation,
                bootstrap,
                enhancement,
                beside=None if trained is None else _beside(trained, fusion_weight),
                start=start,
                test_entities=ordered.held_out,
                device=chosen,
                random_state=random_state,
            )
        assert learned is not None
    history = {**({} if trained is None else trained.history), **learned.history}
    if history.get("interrupted"):
        log.warning("training was interrupted: this is the best so far")
    warn_of_unreached(ordered, learned.embeddings)
    adopted = None if start is None else start.adopted
    known = for_learning.seeds if adopted is None else for_learning.seeds.joined(adopted.groups)
    to_compare = Task(ordered.kgs, known, name=task.name)
    with _memory_errors_explained(), _timed(seconds, "similarity"):
        calibration = _calibration(for_learning, learned, enhancement)
        scores, pools = pool_similarities(
            to_compare, learned.embeddings, enhancement, "all", to_compare.held_out, learned.signatures
        )
    with _memory_errors_explained(), _timed(seconds, "grouping"):
        found, further = grouped(to_compare, learned.embeddings, scores, pools, calibration, duplicates, adopted)
    parts: PartSettings = {"propagation": propagation, "bootstrap": bootstrap, "training": training}
    used = _settings_used(engine, enhancement, parts, fusion_weight, duplicates, pairwise=pairwise)
    settings = {"engine": engine, "random_state": random_state, "device": device, **used}
    marks = learned.signatures
    among_all = None if len(task.open_seeds) else _scores_restored(scores, pools, task, ordered, places.numpy())
    alignment = Alignment(
        task,
        _restored(found, task, ordered, places.numpy()),
        learned.embeddings[places.to(learned.embeddings.device)],
        enhancement,
        calibration,
        None if marks is None else marks[places.numpy()],
        settings,
        history,
        seconds,
        _duplicates_restored(further, task, ordered, places.numpy()),
        _among_all=among_all,
    )
    return alignment if ancestor is None else alignment.following(ancestor)


def _settings_used(
    engine: str,
    enhancement: Enhancement,
    parts: PartSettings,
    fusion_weight: float,
    duplicates: Sequence[str],
    *,
    pairwise: bool,
) -> dict[str, Any]:
    """What a run folder must hold to make the run again: settings that count with its engine, no others."""
    used: dict[str, Any] = {"enhancement": told(enhancement, default_enhancement(engine, enhancement.mode))}
    used |= {name: asdict(part) for name, part in parts.items()} | {"fusion_weight": fusion_weight}
    used |= {"duplicates": list(duplicates)} if duplicates else {}
    used |= {"pairwise": True} if pairwise else {}
    return {name: value for name, value in used.items() if name not in unused_settings(engine)}


def _ancestor(previous: Alignment | str | Path, task: Task, *, grown: bool) -> Ancestor:
    """The run whose ids are carried on, which must have a KG in common with this task."""
    from multiea.outputs.run_files import read_ancestor

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


def _start(
    task: Task, ordered: Task, grown_from: Alignment | str | Path, engine: str, bootstrap: Bootstrapping, **how: Any
) -> Start:
    """What bootstrapping starts from where a KG is added, in the canonical order."""
    from multiea.outputs.opening import open_run
    from multiea.starting import start_of

    before = grown_from if isinstance(grown_from, Alignment) else open_run(grown_from)
    start = start_of(task, before, engine, bootstrap, **how)
    found, adopted = (
        Groups.from_names(ordered.kgs, groups.names(task.kgs)) for groups in (start.found, start.adopted.groups)
    )
    columns = [task.kg_names.index(name) for name in ordered.kg_names]
    in_order = FoundGroups.of_members(adopted, start.adopted.confidence[:, columns])
    return Start(found.take(np.lexsort(found.members.T)), in_order.take(np.lexsort(adopted.members.T)))


def engine_names() -> list[str]:
    """All engines there are: propagation, the encoders, and both fused."""
    return [PROPAGATION, *ENCODERS, *(f"{PROPAGATION}+{name}" for name in ENCODERS)]


def check_engine(engine: str) -> list[str]:
    """The engines of which one is made; an error names what is unknown or does not go together."""
    names = engine.split("+")
    single = dict.fromkeys([PROPAGATION, *ENCODERS])
    for name in names:
        resolve(name, single if name in single else dict.fromkeys(engine_names()), what="engine")
    if len(set(names)) != len(names) or len([name for name in names if name != PROPAGATION]) > 1:
        raise SettingError(f"engine '{engine}' cannot be: one encoder alone, or fused as {FUSION}")
    return names


def unused_settings(engine: str) -> dict[str, str]:
    """PartSettings that change nothing with an engine, each with an engine it is for."""
    names = check_engine(engine)
    unused = {} if len(names) > 1 else {"fusion_weight": FUSION}
    if names == [PROPAGATION]:
        unused |= {"training": FUSION, "pairwise": "an encoder alone, such as multiea"}
    if PROPAGATION not in names:
        unused |= {"propagation": PROPAGATION, "bootstrap": PROPAGATION}
    return unused


def usual_training(engine: str) -> Training:
    """The settings an engine's encoder is trained with unless others are given."""
    encoders = [name for name in check_engine(engine) if name in ENCODERS]
    return ENCODERS[encoders[0]].usual if encoders else Training()


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


def _positions(task: Task, ordered: Task, places: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """For each KG its place in the canonical order, and for each of its entities there the position here."""
    starts = np.cumsum([0, *(len(kg.entities) for kg in ordered.kgs)])
    result, stop = [], 0
    for kg in task.kgs:
        start, stop = stop, stop + len(kg.entities)
        there = ordered.kg_names.index(kg.name)
        result.append((there, np.argsort(places[start:stop] - starts[there])))
    return result


def _restored(found: FoundGroups, task: Task, ordered: Task, places: np.ndarray) -> FoundGroups:
    """Found groups of the canonical order, in the order in which the task came."""
    members, columns = [], []
    for there, position in _positions(task, ordered, places):
        own = found.groups.members[:, there]
        members.append(np.where(own == ABSENT, ABSENT, position[own]).astype(np.int32))
        columns.append(there)
    groups = Groups(task.kg_names, np.stack(members, axis=1))
    of_pairs, matched = (part[:, columns][:, :, columns] for part in (found.of_pairs, found.matched))
    return FoundGroups(groups, found.confidence[:, columns], of_pairs, matched)


def _duplicates_restored(found: Duplicates, task: Task, ordered: Task, places: np.ndarray) -> Duplicates:
    """Duplicates of the canonical order, by the task's own numbers of KGs and positions."""
    kg, entity = found.kg.copy(), found.entity.copy()
    for here, (there, position) in enumerate(_positions(task, ordered, places)):
        own = found.kg == there
        kg[own], entity[own] = here, position[found.entity[own]]
    return Duplicates(found.group, kg, entity, found.confidence)


def _scores_restored(
    scores: Pairs, pools: list[np.ndarray], task: Task, ordered: Task, places: np.ndarray
) -> tuple[Pairs, list[np.ndarray]]:
    """Scores by the task's own numbers of KGs, and the pools by its own positions."""
    positions = _positions(task, ordered, places)
    here = {there: kg for kg, (there, _) in enumerate(positions)}
    own = [position[pools[there]] for there, position in positions]
    return {(here[a], here[b]): matrix for (a, b), matrix in scores.items()}, own


def _validation_score(embeddings: Tensor, task: Task) -> Score:
    """M-Hits@1 among all entities that are not trained on, then the mean reciprocal rank; plain similarities."""
    scores, pools = pool_similarities(task, embeddings, Enhancement(mode="none"), "all", task.held_out)
    ranks = ranks_of_groups(scores, pools, task.held_out)
    m_hits_at_1 = scores_by_rank(ranks, task.kg_names)["m_hits"]["1"]
    known = torch.cat([of_pair[~of_pair.isnan()] for of_pair in ranks.values()])
    return (m_hits_at_1 or 0.0, mean_reciprocal_rank(known))


def chosen_device(name: str) -> torch.device:
    """The device a word names; an error where it names none, or one that is not there."""
    resolve(name, DEVICES, what="device")
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingError("device 'cuda' was asked for, but torch sees no CUDA device here; use --device cpu or auto")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


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
