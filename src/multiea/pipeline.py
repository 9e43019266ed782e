"""align: the main job, from a task to an alignment."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from multiea.alignment import Alignment, pool_similarities
from multiea.data.task import Task, check_random_state
from multiea.engines.trained import ENCODERS, learn
from multiea.engines.training import Score, Training
from multiea.errors import InputError, MultiEAError, SettingError, resolve
from multiea.evaluation.ranks import mean_reciprocal_rank
from multiea.evaluation.scores import ranks_of_groups, scores_by_rank
from multiea.graph import places_by_name
from multiea.grouping.mutual import group_mutual_matches
from multiea.similarity.enhancement import Enhancement

log = logging.getLogger("multiea")
ENGINES = dict.fromkeys(ENCODERS)
DEVICES = {"auto": None, "cpu": None, "cuda": None}


def align(
    task: Task,
    *,
    engine: str = "multiea",
    enhancement: Enhancement | str = "sharpened",
    training: Training | None = None,
    random_state: int = 0,
    device: str = "auto",
) -> Alignment:
    """Aligns all KGs of a task at once, learning from its seeds alone.

    >>> multiea.align(multiea.load("world")).groups  # doctest: +SKIP
    """
    resolve(engine, ENGINES, what="engine")
    check_random_state(random_state)
    enhancement = Enhancement(mode=enhancement) if isinstance(enhancement, str) else enhancement
    training = Training() if training is None else training
    chosen = _device(device)
    _check_seeds(task)
    seconds: dict[str, float] = {}
    with _memory_errors_explained(), _timed(seconds, "engine"):
        learned = learn(task, engine, training, validate=_validation_score, device=chosen, random_state=random_state)
    if learned.history.interrupted:
        log.warning("training was interrupted: this is the best so far")
    with _memory_errors_explained(), _timed(seconds, "similarity"):
        scores, pools = pool_similarities(task, learned.embeddings, enhancement, "all", task.held_out)
    with _memory_errors_explained(), _timed(seconds, "grouping"):
        found = group_mutual_matches(scores, pools, task.kg_names, places_by_name(task))
    settings: dict[str, Any] = {"engine": engine, "random_state": random_state, "device": device}
    settings |= {"enhancement": asdict(enhancement), "training": asdict(training)}
    return Alignment(task, found, learned.embeddings, enhancement, settings, asdict(learned.history), seconds)


def _validation_score(embeddings: Tensor, task: Task) -> Score:
    """M-Hits@1 among all entities that are not trained on, then the mean reciprocal rank; plain similarities."""
    scores, pools = pool_similarities(task, embeddings, Enhancement(mode="none"), "all", task.held_out)
    ranks = ranks_of_groups(scores, pools, task.held_out)
    m_hits_at_1 = scores_by_rank(ranks, task.kg_names)["m_hits"]["1"]
    known = torch.cat([of_pair[~of_pair.isnan()] for of_pair in ranks.values()])
    return (m_hits_at_1 or 0.0, mean_reciprocal_rank(known))


def _check_seeds(task: Task) -> None:
    if not len(task.seeds):
        raise InputError(
            f"'{task.name}' has no seeds",
            expected="a few known groups to learn from",
            hint="Give them as seeds.tsv, a column a KG, or raise --train-ratio if groups.tsv was split",
        )
    if not any(len(kg.triples) for kg in task.kgs):
        raise InputError(f"'{task.name}' has no triples", expected="KGs with facts; a run that was opened has none")
    overlap = task.seeds.overlap()
    unknown = [name for name, count in zip(task.kg_names, overlap.diagonal(), strict=True) if not count]
    if unknown:
        log.warning("no seed reaches %s: groups with its entities are guesses", ", ".join(unknown))
    unreached = [
        f"{task.kg_names[a]}-{task.kg_names[b]}" for a, b in combinations(range(len(task.kgs)), 2) if not overlap[a, b]
    ]
    if unreached:
        log.warning("no seed joins %s: these pairs cannot be learned directly", ", ".join(unreached))


def _device(name: str) -> torch.device:
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
        if isinstance(error, RuntimeError) and "memory" not in text.lower():
            raise
        raise MultiEAError(
            "out of memory; lower training.dimensions or training.negatives, choose the enhancement none, or use a "
            "machine with more of it"
        ) from None


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
