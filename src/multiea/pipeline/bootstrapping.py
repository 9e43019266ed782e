"""Bootstrapping: the confident groups of one round are pseudo-labels of the next, as long as validation seeds agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import Evidence
from multiea.evidence.neighbours import with_neighbours
from multiea.foundation import progress
from multiea.foundation.errors import SettingError
from multiea.grouping.calibration import Calibration, calibrate
from multiea.grouping.judging import scores_of_pairs
from multiea.grouping.matching import Matches, Scores, cliques, join_matches, mutual_matches, scores_inside
from multiea.pipeline.known_groups import KnownGroups
from multiea.pipeline.large_propagator import LargePropagator, fitting
from multiea.pipeline.learned import LearnedEmbeddings
from multiea.pipeline.propagator import Propagator, SecondView, is_uneven
from multiea.pipeline.pseudo_labels import select_anchors, select_matches, select_pseudo_labels
from multiea.pipeline.warm_start import WarmStart
from multiea.settings.propagation import PRINCIPAL_FROM
from multiea.settings.tree import AlignSettings
from multiea.similarity.large_candidates import LargeCandidates
from multiea.similarity.pools import (
    Comparable,
    EmbedPair,
    candidate_pools,
    pool_similarities,
    pool_similarities_with_weights,
)
from multiea.similarity.search import SHARED_VALUES, is_exact
from multiea.similarity.signatures import signatures
from multiea.similarity.weights import UNJUDGED, Weights
from multiea.tasks.runner import Runner

WORSE_ROUNDS = 2  # bootstrapping stops after this many rounds in a row that are clearly worse than the best
LEAST_GROWTH = 0.08  # a round that adds a smaller share of pseudo-labels is the last
WORTH_A_ROUND = 0.01  # where entities are many, a round with more gain on validation seeds is not the last
LEAST_CHANGE = 0.08  # with other evidence: a round that changes a smaller share of pseudo-labels is the last
LEAST_CHANGE_UNJUDGED = 0.03  # the same without validation seeds, where marks are still few after the first rounds
STALE_ROUNDS = 2  # so many rounds in a row without gain are the last, where there are enough seeds to tell; only one
# where they can tell small differences, or where there is no gain left that they could tell
KNOWN_WELL = 0.02  # standard error of a pair F1 on that many validation seeds
PRECISE = 0.003  # standard error of a pair F1 on so many that a single round without gain is the last
ROUND_OF_MIXING = 1  # it chooses how direct scores and paths are mixed, and later ones keep it; the first is too rough


@dataclass(frozen=True)
class _BestRound:
    pseudo_labels: Groups
    calibration: Calibration
    weights: Weights


def propagate(
    task: Task,
    settings: AlignSettings,
    *,
    second_view: SecondView | None = None,
    warm_start: WarmStart | None = None,
    test_entities: Groups | None = None,
    evidence: Evidence | None = None,
    device: torch.device,
    runner: Runner | None = None,
) -> LearnedEmbeddings:
    """Propagates from the task's seeds, bootstraps, and propagates once more from the best pseudo-labels.

    Without seeds the first round compares by evidence other than structure. task: in canonical order. test_entities:
    groups whose members, not whose links, limit where pseudo-labels may come from with bootstrap pool `test`.
    """
    known = KnownGroups.of(task, settings.random_state, warm_start)
    all_known = task.seeds.joined(known.all_completed)
    final_pools = candidate_pools("all", task, all_known, known.validation)
    is_blocked = settings.enhancement.candidates is not None and not is_exact([*map(len, final_pools)], device)
    history: dict[str, Any] = {"rounds": [], "bootstrap": settings.bootstrap.pool}
    history |= {} if warm_start is None else {"warm_start_groups": len(warm_start.pseudo_labels)}
    pools = _round_pools(task, settings, known, test_entities)
    runner = fitting(runner, task) if is_blocked and second_view is None and device.type == "cpu" else None
    propagator: Propagator | LargePropagator = (
        Propagator(task, settings, second_view, pools, device)
        if runner is None
        else LargePropagator(task, settings, pools, runner)
    )
    rounds = _Rounds(task, settings, known, propagator, pools, evidence)
    history["search"] = SHARED_VALUES if not rounds.has_structure else "restricted" if is_blocked else "exact"
    best = rounds.run(history)
    marks = all_known.joined(best.pseudo_labels.take(best.pseudo_labels.apart_from(all_known)))
    history["marks"] = len(marks)
    embeddings = Embeddings(torch.zeros(int(task.entity_offsets[-1]), 1, device=device))
    if rounds.has_structure and len(marks):
        embeddings = propagator.embed_all(marks, len(task.seeds), len(history["rounds"]))
    embeddings = embeddings.as_stored()  # so that an opened run scores the same
    return LearnedEmbeddings(
        embeddings,
        history,
        signatures=signatures(propagator.edges, marks) if is_blocked else None,
        calibration=best.calibration,
        weights=best.weights,
        runner=runner,
        evidence=None if evidence is None else with_neighbours(evidence, task.kgs, marks),
    )


class _Rounds:
    """The rounds of bootstrapping: embed, compare, group, judge by validation seeds, select pseudo-labels."""

    def __init__(
        self,
        task: Task,
        settings: AlignSettings,
        known: KnownGroups,
        propagator: Propagator | LargePropagator,
        pools: list[np.ndarray],
        evidence: Evidence | None,
    ) -> None:
        self._evidence = evidence
        self._task, self._settings, self._known = task, settings, known
        self._propagator, self._pools = propagator, pools
        exact = settings.enhancement.candidates is None or is_exact([*map(len, pools)], propagator.device)
        self._is_blocked, self._entities = not exact, int(task.entity_offsets[-1])
        pairs = int(np.triu(known.validation.overlap(), 1).sum())
        self._validation_pairs = max(pairs, 1)

    def run(self, history: dict[str, Any]) -> _BestRound:
        """Runs rounds until nothing is gained any more; returns the best one and notes all in the history."""
        known, is_off, rounds = self._known, self._is_off, self._rounds
        nothing = anchors = Groups.empty(self._task.kg_names)
        pseudo_labels = known.pseudo_labels
        weights = Weights() if self._evidence is None else Weights(mixing=UNJUDGED)
        best: _BestRound | None = None
        worse, stale, highest = 0, 0, -1.0
        with progress.stage("propagating" if is_off else "bootstrapping", rounds) as advance:
            for number in range(rounds):
                marks = known.seeds.joined(known.completed, pseudo_labels.take(pseudo_labels.apart_from(anchors)))
                scores, weights = self._scores(number, marks, weights, anchors)
                matches = mutual_matches(scores, self._pools)
                selected, calibration, f1 = self._groups(scores, matches)
                is_first_by_names = not number and not len(marks) and not len(known.validation)
                anchors = self._anchors(matches) if is_first_by_names else nothing
                del scores, matches  # they are large, and the next round makes its own
                self._propagator.forget(number)
                validation_f1 = f1 if len(known.validation) else None
                history["rounds"].append({"marks": len(marks), "validation_f1": validation_f1})
                before, pseudo_labels = pseudo_labels, pseudo_labels if is_off else selected
                worse = 0 if best is None or f1 >= highest - self._tolerance(f1) else worse + 1
                if not worse:
                    best = _BestRound(pseudo_labels, calibration, weights)
                gain = f1 - max(highest, 0.0)
                stale = 0 if gain > 0 else stale + 1
                highest = max(highest, f1)
                advance(1, f"{len(pseudo_labels):,} pseudo-labels")
                if worse == WORSE_ROUNDS or self._is_settled(before, pseudo_labels, f1, gain, stale):
                    break
        assert best is not None
        return best

    @property
    def _is_off(self) -> bool:
        """Whether nothing is learned from pseudo-labels."""
        return self._settings.bootstrap.pool == "none" or not self.has_structure

    @property
    def _rounds(self) -> int:
        """The maximum number of rounds."""
        return 1 if self._is_off else self._settings.bootstrap.rounds

    def _is_settled(self, before: Groups, after: Groups, f1: float, gain: float, stale: int) -> bool:
        """Whether another round gains little. f1: on validation seeds; gain: of it; stale: rounds since the highest."""
        if self._evidence is None:
            is_better = self._entities > PRINCIPAL_FROM and gain > WORTH_A_ROUND
            return not is_better and len(after) <= (1 + LEAST_GROWTH) * len(before)
        if len(self._known.validation) and stale and f1 > 0:
            error = _standard_error(f1, self._validation_pairs)
            patience = 1 if self._is_precise(f1) or 1 - f1 < error else STALE_ROUNDS
            if stale >= patience and error < KNOWN_WELL:
                return True
        least = LEAST_CHANGE if len(self._known.validation) else LEAST_CHANGE_UNJUDGED
        return _share_of_new(after, before) <= least

    def _is_precise(self, f1: float) -> bool:
        return _standard_error(f1, self._validation_pairs) < PRECISE

    def _tolerance(self, f1: float) -> float:
        """By how much a round may be worse than the best and still count as good."""
        return _standard_error(f1 if self._is_precise(f1) else 0.5, self._validation_pairs)

    @property
    def has_structure(self) -> bool:
        """Whether at least two KGs have triples to propagate through."""
        return self._evidence is None or self._evidence.has_triples

    def _anchors(self, matches: Matches) -> Groups:
        """Matches of a first round by names and attributes; they judge structure in the second, where no seeds do."""
        return select_anchors(matches, self._task.kg_names, self._settings.random_state)

    def _scores(self, number: int, marks: Groups, weights: Weights, anchors: Groups) -> tuple[Scores, Weights]:
        """The scores of a round, from embeddings and all other evidence, and the weights learned for it."""
        task, evidence, validation = self._task, self._evidence, self._known.validation
        embeddings: Embeddings | EmbedPair | LargeCandidates
        if isinstance(self._propagator, LargePropagator) and evidence is None and self._is_blocked:
            embeddings = self._propagator.embed_candidates(marks, len(self._known.seeds), number)
            compared = Comparable(embeddings)
            return pool_similarities(task, compared, self._pools, self._settings.enhancement), weights
        near_marks = signatures(self._propagator.edges, marks) if self._is_blocked and len(marks) else None
        if evidence is not None and (not len(marks) or not self.has_structure):
            evidence = evidence.without_structure()
            embeddings = Embeddings(torch.zeros(int(task.entity_offsets[-1]), 1, device=self._propagator.device))
        elif evidence is not None and is_uneven(marks) and not self._propagator.is_fused:
            evidence = with_neighbours(evidence, task.kgs, marks)
            embeddings = self._propagator.embed_pairs(marks, number)
        else:
            evidence = None if evidence is None else with_neighbours(evidence, task.kgs, marks)
            embeddings = partial(_of_pair, self._propagator.embed(marks, len(self._known.seeds), number))
        compared = Comparable(embeddings, near_marks, evidence, weights, self._propagator.device)
        enhancement = self._settings.enhancement
        return pool_similarities_with_weights(
            task,
            compared,
            self._pools,
            enhancement,
            validation,
            anchors,
            chooses_mixing=number == min(ROUND_OF_MIXING, self._rounds - 1),
        )

    def _groups(self, scores: Scores, matches: Matches) -> tuple[Groups, Calibration, float]:
        """The pseudo-labels that a round selects, its calibration, and its pair F1 on validation seeds."""
        task, bootstrap, validation = self._task, self._settings.bootstrap, self._known.validation
        groups = join_matches(matches, task.kg_names)
        inside = scores_inside(groups, scores, self._pools)
        calibration = calibrate(groups, inside, validation, with_evidence=self._evidence is not None)
        f1 = scores_of_pairs(groups, validation)["f1"]
        if self._evidence is not None:
            return select_matches(matches, task.kg_names), calibration, f1
        confident = replace(calibration, threshold=bootstrap.trust_in_members).apply(groups, inside).groups
        selected = select_pseudo_labels(*cliques(matches, task.kg_names), confident, validation, bootstrap)
        return selected, calibration, f1


def _of_pair(of_kgs: Sequence[Embeddings], a: int, b: int) -> tuple[Embeddings, Embeddings]:
    return of_kgs[a], of_kgs[b]


def _standard_error(share: float, count: int) -> float:
    """Of a share among so many; never zero, because all of a few may be right by chance."""
    cautious = (share * count + 1) / (count + 2)
    return float(np.sqrt(cautious * (1 - cautious) / count))


def _share_of_new(groups: Groups, before: Groups) -> float:
    """The share of groups that were not there before with the same members."""
    row_of_first = before.rows_of(groups.members)
    first = row_of_first.max(axis=1, initial=ABSENT)
    same = (first != ABSENT) & (before.members[first] == groups.members).all(axis=1) if len(before) else first > 0
    return 1 - float(np.mean(same)) if len(groups) else 0.0


def _round_pools(
    task: Task, settings: AlignSettings, known: KnownGroups, test_entities: Groups | None
) -> list[np.ndarray]:
    """For each KG the candidates of a round: all but known ones, or held-out entities and validation seeds."""
    if settings.bootstrap.pool != "test":
        return candidate_pools("all", task, known.seeds.joined(known.completed), known.validation)
    if test_entities is None or not len(test_entities):
        raise SettingError("bootstrap 'test' needs held-out groups, to whose entities it is limited; use all or none")
    columns = zip(test_entities.members.T, known.validation.members.T, strict=True)
    return [np.unique(np.concatenate([a[a != ABSENT], b[b != ABSENT]])) for a, b in columns]
