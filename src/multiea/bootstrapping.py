"""Bootstrapping: what propagation finds in one round are labels of the next, as long as seeds held back agree."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from multiea import progress
from multiea.alignment import found_among, pool_similarities
from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.propagation import Propagation, Wiring, embed
from multiea.engines.rehearsal import Learned, hold_back
from multiea.engines.signatures import signatures
from multiea.errors import SettingError, resolve
from multiea.evaluation.found import judged_groups, scores_of_pairs
from multiea.grouping.confidence import Calibration, calibrate
from multiea.grouping.mutual import closed, joined, scores_inside
from multiea.similarity.enhancement import Enhancement, Pairs

log = logging.getLogger("multiea")

POOLS = {
    "all": "from all entities that are no seeds",
    "test": "within the held-out entities",
    "none": "no bootstrapping",
}
HELD_BACK = 0.1
WORSE_ROUNDS = 2  # so many rounds in a row that are clearly worse than the best end it
SMALL_CHANGE = 0.02  # a round that changes fewer of the labels than this is the last


@dataclass(frozen=True)
class Bootstrapping:
    """pool: where labels may come from. rounds: at most so many. trust_in_complete, trust_in_partial: the share of such
    groups, judged by the seeds held back, that must be right for one to become a label.
    """

    pool: str = "all"
    rounds: int = 4
    trust_in_complete: float = 0.3
    trust_in_partial: float = 0.8

    def __post_init__(self) -> None:
        resolve(self.pool, POOLS, what="bootstrap")
        if self.rounds < 1:
            raise SettingError(f"bootstrapping.rounds must be at least 1, got {self.rounds}")
        for name in ("trust_in_complete", "trust_in_partial"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingError(f"bootstrapping.{name} must be between 0 and 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class Beside:
    """Embeddings of another engine to compare with as well: made without the seeds held back, and with them."""

    rehearsed: Tensor
    final: Tensor
    weight: float


@dataclass
class _Round:
    """What a round had as labels and what it came to."""

    labels: Groups
    embeddings: Tensor
    calibration: Calibration


@dataclass(frozen=True)
class _Compared:
    """A round's embeddings and what comes of comparing them."""

    embeddings: Tensor
    scores: Pairs
    pools: list[np.ndarray]


def propagate(
    task: Task,
    settings: Propagation,
    bootstrapping: Bootstrapping,
    enhancement: Enhancement,
    *,
    beside: Beside | None = None,
    test_entities: Groups | None = None,
    device: torch.device,
    random_state: int,
) -> Learned:
    """Propagates from the task's seeds alone, bootstraps, and propagates once more with what proved best.

    task: in its canonical order. test_entities: groups whose members, not whose ties, limit where labels may come from.
    """
    wirings = [Wiring(kg, device) for kg in task.kgs]
    seeds, held_back = hold_back(task, HELD_BACK, random_state)
    history: dict[str, Any] = {"rounds": [], "bootstrap": bootstrapping.pool}

    def embedded(labels: Groups, number: int, *, last: bool = False) -> Tensor:
        own = embed(wirings, labels, settings, random_state * 1_000_003 + number)
        return own if beside is None else fused(own, beside.final if last else beside.rehearsed, beside.weight)

    none = bootstrapping.pool == "none"
    rehearsal = Task(task.kgs, seeds, held_back)
    limits = _limits(held_back, test_entities) if bootstrapping.pool == "test" else "all"
    error = 0.5 / max(int(np.triu(held_back.overlap(), 1).sum()), 1) ** 0.5  # of a share among so many pairs
    best: _Round | None = None
    labels, found, worse, highest = seeds, Groups.empty(task.kg_names), 0, 0.0

    def compared(number: int) -> _Compared:
        embeddings = embedded(labels, number)
        marks = signatures(task.kgs, labels) if enhancement.candidates is not None else None
        return _Compared(embeddings, *pool_similarities(rehearsal, embeddings, enhancement, limits, held_back, marks))

    rounds = 1 if none else bootstrapping.rounds
    with progress.stage("propagating" if none else "bootstrapping", rounds) as advance:
        for number in range(rounds):
            now = compared(number)
            matches = found_among(now.scores, now.pools, rehearsal)
            groups, weakest = closed(matches, task.kg_names)
            whole = joined(matches, task.kg_names)
            f1 = scores_of_pairs(whole, held_back)["f1"]
            history["rounds"].append({"labels": len(labels), "closed": len(groups), "f1_held_back": f1})
            if best is None or f1 >= highest - error:
                calibration = calibrate(whole, scores_inside(whole, now.scores, now.pools), held_back)
                best, worse = _Round(labels, now.embeddings, calibration), 0
            else:
                worse += 1
            highest = max(highest, f1)
            trusted = _trusted(
                groups, weakest, held_back, bootstrapping.trust_in_complete, bootstrapping.trust_in_partial
            )
            before, found = found, groups.take(trusted & _as_large_as_seeds(groups, seeds))
            labels = seeds.joined(found)
            advance(1, f"{len(found):,} groups")
            if worse == WORSE_ROUNDS or _changed(before, found) < SMALL_CHANGE:
                break
    assert best is not None
    final_labels = task.seeds.joined(
        _without_members(best.labels.take(np.arange(len(seeds), len(best.labels))), task.seeds)
    )
    history["labels"] = len(final_labels)
    if len(held_back) and not len(task.validation):
        embeddings = embedded(final_labels, len(history["rounds"]), last=True)
    else:
        embeddings = best.embeddings
    marks = signatures(task.kgs, final_labels) if enhancement.candidates is not None else None
    embeddings = embeddings.half().float()  # what a run folder keeps, so that a run opened again scores the same
    return Learned(embeddings, history, seeds, held_back, None, marks, best.calibration)


def fused(one: Tensor, other: Tensor, weight: float) -> Tensor:
    """Side by side, so that cosines are the weighted sum of both engines' cosines; unit length, zero where both are."""
    parts = torch.cat([one * (1 - weight) ** 0.5, other.to(one) * weight**0.5], dim=1)
    return torch.div(parts, parts.norm(dim=1, keepdim=True).clamp(min=1e-12))


def _limits(held_back: Groups, test_entities: Groups | None) -> list[np.ndarray]:
    """For each KG the held-out entities and those of seeds held back."""
    if test_entities is None or not len(test_entities):
        raise SettingError("bootstrap 'test' needs held-out groups, whose entities it keeps to; use all or none")
    columns = zip(test_entities.members.T, held_back.members.T, strict=True)
    return [np.unique(np.concatenate([a[a != ABSENT], b[b != ABSENT]])) for a, b in columns]


def _trusted(
    groups: Groups, weakest: np.ndarray, held_back: Groups, of_complete: float, of_partial: float
) -> np.ndarray:
    """Which closed groups become labels: those that are probably right, judged by seeds held back that came up in some.

    Complete groups and partial ones are judged apart, each by how right groups of a like weakest score were.
    """
    trusted = np.zeros(len(groups), dtype=bool)
    complete = groups.sizes == len(groups.kg_names)
    judged, right = judged_groups(groups, held_back)
    for kind, least, unjudged in ((complete, of_complete, True), (~complete, of_partial, False)):
        seen = kind & judged
        if seen.sum() < 5:
            trusted |= kind & unjudged & (weakest >= 0.15)
            continue
        order = np.argsort(-weakest[seen], kind="stable")
        share = _falling(right[seen][order].astype(float))
        level = weakest[seen][order]
        enough = np.flatnonzero(share >= least)
        if len(enough):  # down to the first that proved too often wrong
            too_low = level[enough[-1] + 1] if enough[-1] + 1 < len(level) else 0.0
            trusted |= kind & (weakest > too_low)
    return trusted


def _as_large_as_seeds(groups: Groups, seeds: Groups) -> np.ndarray:
    """Which groups lack nothing, most probably: at least half of the seeds over their KGs are over no others.

    Where a counterpart is merely not found yet, a label without it would keep its neighbours from being found.
    """
    kinds, kind = np.unique(groups.present, axis=0, return_inverse=True)
    of_seeds, counts = np.unique(seeds.present, axis=0, return_counts=True)
    over_these = (of_seeds[None] >= kinds[:, None]).all(axis=2) @ counts  # (kinds, kinds of seeds) -> (kinds,)
    exactly = (of_seeds[None] == kinds[:, None]).all(axis=2) @ counts
    return np.asarray((2 * exactly >= over_these)[kind.ravel()])


def _falling(values: np.ndarray) -> np.ndarray:
    """The falling sequence nearest to the values (pool adjacent violators)."""
    means: list[float] = []
    counts: list[int] = []
    for value in values:
        means.append(float(value))
        counts.append(1)
        while len(means) > 1 and means[-2] < means[-1]:
            total = counts[-2] + counts[-1]
            means[-2:] = [(means[-2] * counts[-2] + means[-1] * counts[-1]) / total]
            counts[-2:] = [total]
    return np.repeat(means, counts)


def _changed(before: Groups, after: Groups) -> float:
    """The share of groups that are new or gone."""
    both = np.concatenate([before.members, after.members])
    _, counts = np.unique(both, axis=0, return_counts=True)
    return float((counts == 1).sum() / max(len(after), 1))


def _without_members(groups: Groups, of: Groups) -> Groups:
    """Groups that have no member of others."""
    free = np.ones(len(groups), dtype=bool)
    for column, taken in zip(groups.members.T, of.members.T, strict=True):
        free &= (column == ABSENT) | ~np.isin(column, taken)
    return groups.take(free)
