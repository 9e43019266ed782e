"""Bootstrapping: what propagation finds in one round are labels of the next, as long as seeds held back agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.propagation import Propagation, Wiring, embed
from multiea.evaluation.scores import pool_of_candidates
from multiea.foundation import progress
from multiea.foundation.errors import SettingError, check_share, resolve
from multiea.grouping.alignment import found_among, pool_similarities
from multiea.grouping.calibration import Calibration, calibrate
from multiea.grouping.judging import judged_groups, scores_of_pairs
from multiea.grouping.matching import FoundGroups, closed, joined, scores_inside
from multiea.pipeline.rehearsal import Learned, hold_back
from multiea.settings.fields import setting
from multiea.similarity.enhancement import Enhancement, Pairs
from multiea.similarity.search import is_exact
from multiea.similarity.signatures import signatures

POOLS = {
    "all": "from all entities that are no seeds",
    "test": "within the held-out entities",
    "none": "no bootstrapping",
}
HELD_BACK = 0.1
WORSE_ROUNDS = 2  # so many rounds in a row that are clearly worse than the best end it
LITTLE = 0.08  # a round that adds a smaller share of labels than this is the last
FEWEST_JUDGED = 5
GIVING_AWAY = 2  # so many triples around a seed held back tell too much of it
ENOUGH_UNJUDGED = 0.15  # the weakest score that makes a complete group a label where too few can be judged


@dataclass(frozen=True)
class Bootstrapping:
    """Where labels beyond the seeds may come from, and how sure of them to be."""

    pool: str = setting("all", "Where labels beyond the seeds may come from: all entities, test (held-out ones), none.")
    rounds: int = setting(6, "At most so many rounds.")
    trust_in_complete: float = setting(
        0.4, "Share of complete groups, judged by the seeds held back, that must be right for one to become a label."
    )
    trust_in_members: float = setting(0.3, "How sure a partial group's members must be.")
    trust_in_kinds: float = setting(
        0.5, "Share of partial groups over the same KGs that must prove right and lack nothing."
    )
    partial_weight: float = setting(0.5, "What the label of a partial group counts.")

    def __post_init__(self) -> None:
        resolve(self.pool, POOLS, what="bootstrap")
        if self.rounds < 1:
            raise SettingError(f"bootstrap.rounds must be at least 1, got {self.rounds}")
        for name in ("trust_in_complete", "trust_in_members", "trust_in_kinds", "partial_weight"):
            check_share(f"bootstrap.{name}", getattr(self, name))


@dataclass(frozen=True)
class Beside:
    """Embeddings of another engine to compare with as well: made without the seeds held back, and with them."""

    rehearsed: Tensor
    final: Tensor
    weight: float


@dataclass(frozen=True)
class Start:
    """What is known beforehand, where KGs are added to an alignment.

    found: complete groups, labels of the first round; what that finds takes their place. adopted: open seeds with the
    members found for them by now, labels of all rounds.
    """

    found: Groups
    adopted: FoundGroups


@dataclass(frozen=True)
class _Round:
    """The groups a round found that may be labels, and how sure to be of what it found."""

    found: Groups
    calibration: Calibration


def propagate(
    task: Task,
    settings: Propagation,
    bootstrapping: Bootstrapping,
    enhancement: Enhancement,
    *,
    beside: Beside | None = None,
    start: Start | None = None,
    test_entities: Groups | None = None,
    device: torch.device,
    random_state: int,
) -> Learned:
    """Propagates from the task's seeds alone, bootstraps, and propagates once more with what proved best.

    task: in its canonical order. test_entities: groups whose members, not whose ties, limit where labels may come from.
    """
    wirings = [Wiring(kg, device) for kg in task.kgs]
    seeds, held_back = hold_back(task, HELD_BACK, random_state)
    found = adopted = all_adopted = Groups.empty(task.kg_names)
    if start is not None:
        found, adopted = _that_give_nothing_away(start, task, held_back)
        all_adopted = start.adopted.groups
        seeds = seeds.take(seeds.apart_from(task.open_seeds.groups))  # open ones are adopted

    def embedded(labels: Groups, number: int, *, last: bool = False) -> Tensor:
        known = len(task.seeds if last else seeds)
        own = embed(
            wirings,
            labels,
            settings,
            (random_state * 1_000_003 + number) % 2**63,
            _weights(labels, known, bootstrapping),
            None if last else eyes,
        )
        return own if beside is None else fused(own, beside.final if last else beside.rehearsed, beside.weight)

    sizes = [len(kg.entities) for kg in task.kgs]
    limited = bootstrapping.pool == "test"
    pools, at_last = (
        pool_of_candidates("all", sizes, known, held_back)
        for known in (seeds.joined(adopted), task.seeds.joined(all_adopted))
    )
    pools = _limits(held_back, test_entities) if limited else pools
    eyes = [wiring.eyes_of(pool) for wiring, pool in zip(wirings, pools, strict=True)]
    few = enhancement.candidates is not None
    round_restricted, restricted = (few and not is_exact([*map(len, part)], device) for part in (pools, at_last))
    history: dict[str, Any] = {"rounds": [], "bootstrap": bootstrapping.pool}
    history["search"] = "restricted" if restricted else "exact"
    history |= {} if start is None else {"started_with": len(start.found)}
    none = bootstrapping.pool == "none"
    rehearsal = Task(task.kgs, seeds, held_back)
    error = 0.5 / max(int(np.triu(held_back.overlap(), 1).sum()), 1) ** 0.5  # of a share among so many pairs
    best: _Round | None = None
    labels, worse, highest = seeds.joined(adopted, found), 0, 0.0

    def compared(number: int) -> tuple[Pairs, list[np.ndarray]]:
        marks = signatures(task.kgs, labels) if round_restricted else None
        return pool_similarities(rehearsal, embedded(labels, number), enhancement, pools, held_back, marks)

    rounds = 1 if none else bootstrapping.rounds
    with progress.stage("propagating" if none else "bootstrapping", rounds) as advance:
        for number in range(rounds):
            scores, candidates = compared(number)
            matches = found_among(scores, candidates, rehearsal)
            whole = joined(matches, task.kg_names)
            inside = scores_inside(whole, scores, candidates)
            calibration = calibrate(whole, inside, held_back)
            f1 = scores_of_pairs(whole, held_back)["f1"]
            judged = f1 if len(held_back) else None
            history["rounds"].append({"labels": len(labels), "f1_held_back": judged})
            before = len(found)
            if not none:
                sure = replace(calibration, threshold=bootstrapping.trust_in_members).found(whole, inside).groups
                found = _fit_for_labels(*closed(matches, task.kg_names), sure, held_back, bootstrapping)
                labels = seeds.joined(adopted, found)
            worse = 0 if best is None or f1 >= highest - error else worse + 1
            if not worse:
                best = _Round(found, calibration)
            highest = max(highest, f1)
            advance(1, f"{len(found):,} groups")
            if worse == WORSE_ROUNDS or len(found) <= (1 + LITTLE) * before:
                break
    assert best is not None
    known = task.seeds.joined(all_adopted)
    final = known.joined(best.found.take(best.found.apart_from(known)))
    history["labels"] = len(final)
    embeddings = embedded(final, len(history["rounds"]), last=True)
    marks = signatures(task.kgs, final) if restricted else None
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


def _fit_for_labels(
    closed_groups: Groups, weakest: np.ndarray, sure: Groups, held_back: Groups, bootstrapping: Bootstrapping
) -> Groups:
    """Of what a round found the groups that may be labels of the next: complete closed ones, then partial sure ones."""
    complete = _trusted(closed_groups, weakest, held_back, bootstrapping.trust_in_complete)
    partial = _that_lack_nothing(sure, held_back, bootstrapping.trust_in_kinds)
    return complete.joined(partial.take(partial.apart_from(complete)))


def _trusted(groups: Groups, weakest: np.ndarray, held_back: Groups, least: float) -> Groups:
    """Of complete groups those that are probably right, judged by how right groups of a like weakest score were."""
    complete = groups.sizes == len(groups.kg_names)
    groups, weakest = groups.take(complete), weakest[complete]
    judged, right = judged_groups(groups, held_back)
    if judged.sum() < FEWEST_JUDGED:
        return groups.take(weakest >= ENOUGH_UNJUDGED)
    order = np.flatnonzero(judged)
    order = order[np.argsort(-weakest[order], kind="stable")]
    level, share = weakest[order], _falling(right[order].astype(float), judged[order])
    enough = np.count_nonzero(share >= least)
    too_low = np.inf if not enough else level[enough] if enough < len(level) else 0.0  # the first too often wrong
    return groups.take(weakest > too_low)


def _that_lack_nothing(groups: Groups, held_back: Groups, least: float) -> Groups:
    """Of partial groups those over KGs for which such groups, judged by seeds held back, are mostly the whole truth.

    Where a counterpart is merely not found yet, a label without it would keep its neighbours from being found.
    """
    groups = groups.take(groups.sizes < len(groups.kg_names))
    judged, right = judged_groups(groups, held_back, whole=True)
    _, kind = np.unique(groups.present, axis=0, return_inverse=True)
    kind = kind.ravel()
    count = np.bincount(kind, judged, minlength=kind.max(initial=-1) + 1)
    share = (np.bincount(kind, judged * right, minlength=len(count)) + 0.5) / (count + 1)
    lowest = share - np.sqrt(share * (1 - share) / (count + 1))  # by one standard error
    return groups.take((lowest >= least)[kind])


def _falling(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The falling sequence nearest to the weighted values (pool adjacent violators)."""
    means: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        masses.append(weight)
        counts.append(1)
        while len(means) > 1 and means[-2] < means[-1]:
            mass = masses[-2] + masses[-1]
            means[-2:] = [(means[-2] * masses[-2] + means[-1] * masses[-1]) / mass]
            masses[-2:] = [mass]
            counts[-2:] = [counts[-2] + counts[-1]]
    return np.repeat(means, counts)


def _weights(labels: Groups, seeds: int, bootstrapping: Bootstrapping) -> np.ndarray:
    """What each label counts: seeds, which come first, and complete groups one."""
    found_partial = labels.sizes < len(labels.kg_names)
    found_partial[:seeds] = False
    return np.where(found_partial, bootstrapping.partial_weight, 1.0)


def _that_give_nothing_away(start: Start, task: Task, held_back: Groups) -> tuple[Groups, Groups]:
    """What of a start may be known while seeds are held back: groups found, and open seeds with their members.

    What was found with the help of these seeds, a few triples from them, would give away what they are to judge: such
    groups are left out, and such seeds have the members that are known alone.
    """
    nearby = []
    for kg, held in zip(task.kgs, held_back.members.T, strict=True):
        near = np.zeros(len(kg.entities) + 1, dtype=bool)  # the last is for those that are absent
        near[held[held != ABSENT]] = True
        head, _, tail = kg.triples.T
        for _ in range(GIVING_AWAY):
            heads, tails = head[near[tail]], tail[near[head]]
            near[heads] = near[tails] = True
        nearby.append(near)

    def is_near(groups: Groups) -> np.ndarray:
        columns = zip(nearby, groups.members.T, strict=True)
        return np.asarray(np.stack([near[column] for near, column in columns], axis=1).any(axis=1))

    adopted = start.adopted.groups
    known = np.where(adopted.members_in(task.open_seeds.groups), adopted.members, ABSENT)
    members = np.where(is_near(adopted)[:, None], known, adopted.members)
    apart = adopted.apart_from(held_back)
    return start.found.take(~is_near(start.found)), Groups(task.kg_names, members[apart])
