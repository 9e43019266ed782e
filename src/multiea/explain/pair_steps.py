"""The steps of one pair of entities, with the facts behind each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from multiea.evidence.evidence import ATTRIBUTES, CONFLICTS, IDENTIFIERS, NAMES, NEIGHBOURS, STRUCTURE
from multiea.evidence.pair_search import CANDIDATES, LEAST_SIMILARITY
from multiea.explain.agreeing_values import Values
from multiea.explain.candidate_scores import CandidateScores, Node
from multiea.explain.contributions import Contribution, Contributions
from multiea.explain.explanation import CALIBRATION, COMPETITION, STEP_NAMES, THIRD_KGS, Step
from multiea.explain.facts import Entity, Fact, ThirdEntity, ValuePair, agrees
from multiea.explain.matched_neighbours import matched_neighbours
from multiea.explain.matching_names import Names
from multiea.explain.membership import DUPLICATE, Membership
from multiea.explain.steps import steps_of_pairs
from multiea.foundation.errors import counted
from multiea.grouping.alignment import AlignmentResult

MOST_FACTS = 5
MOST_THIRD_ENTITIES = 3
NOT_KEPT = (
    f"below {LEAST_SIMILARITY}, not among the {CANDIDATES} most similar of either, or shared by too many: counts as 0"
)
LEAST_FACTOR = 0.005  # by how much a factor differs from one to be shown


class PairSteps:
    """Makes the steps of pairs of one alignment. has_data: whether names, values and triples are at hand."""

    def __init__(
        self,
        alignment: AlignmentResult,
        contributions: Contributions,
        scores: CandidateScores,
        membership: Membership,
        shown: Callable[[Node], Entity],
        *,
        has_data: bool,
    ) -> None:
        self._alignment, self._contributions, self._scores = alignment, contributions, scores
        self._membership, self._shown, self._has_data = membership, shown, has_data
        self._kgs = alignment.order.canonical.kgs
        used = () if alignment.evidence is None else alignment.evidence.kinds
        self._names = Names(self._kgs)
        self._values = Values(self._kgs, membership.groups, with_names=NAMES in used)

    def of(self, one: Node, other: Node, confidence: float | None) -> tuple[Step, ...]:
        """The steps that add up to the log-odds of a confidence; without one, those of the evidence alone."""
        (a, i), (b, j) = sorted((one, other))
        ends = np.array([i]), np.array([j])
        contributions = self._contributions.of((a, b), *ends)
        shows_neighbours = [made.kind for made in contributions if made.kind in (STRUCTURE, NEIGHBOURS)][-1:]
        steps = [
            Step(
                STEP_NAMES[made.kind],
                float(made.log_odds[0]),
                made.weight,
                float(made.similarity[0]),
                *self._evidence_facts(made, one, other, with_neighbours=made.kind in shows_neighbours),
            )
            for made in contributions
        ]
        if confidence is None:
            return tuple(steps)
        log_odds = steps_of_pairs(self._contributions, self._scores, (a, b), ends, np.array([confidence]))
        for name in (COMPETITION, THIRD_KGS, CALIBRATION):
            if name in log_odds:
                steps.append(Step(name, float(log_odds[name][0]), None, None, *self._score_facts(name, one, other)))
        return tuple(steps)

    def _evidence_facts(
        self, made: Contribution, one: Node, other: Node, *, with_neighbours: bool
    ) -> tuple[str, tuple[Fact, ...]]:
        """What there is to say about a kind of evidence, and the facts behind it; matched neighbours where asked."""
        lacking = [
            self._shown(node).kg
            for node, has in zip(sorted((one, other)), (made.has_left[0], made.has_right[0]), strict=True)
            if not has
        ]
        if lacking:
            return f"nothing to compare in {' and '.join(lacking)}: neutral", ()
        if made.kind == CONFLICTS:
            return "values that differ, but rarely do where entities are the same", self._conflicts(one, other)
        if made.kind == IDENTIFIERS:
            equal = self._values.identifying(one, other) if self._has_data else ()
            return "equal values that hardly two entities share", equal
        note = f"similarity {made.similarity[0]:.2f} x weight {made.weight:.1f}"
        said = made.weight * made.similarity[0]
        if said and abs(made.log_odds[0] / said - 1) > LEAST_FACTOR:
            note += f" x {made.log_odds[0] / said:.2f}, since other evidence is missing"
        facts: tuple[Fact, ...] = ()
        if not self._has_data:
            return (NOT_KEPT if made.kind != STRUCTURE and not made.similarity[0] else note), facts
        if made.kind == STRUCTURE and not with_neighbours:
            return note, facts
        if with_neighbours:
            pairs, count = matched_neighbours(self._kgs, self._membership, (one, other), self._shown, MOST_FACTS)
            facts = tuple(pairs)
            note += f"; {counted(count, 'matched neighbour')}"
        elif made.kind == ATTRIBUTES:
            facts = self._values.compared(one, other)
            conflicts = self._conflicts(one, other)
            facts = tuple(fact for fact in facts if fact not in conflicts)
        else:
            names = self._names.best(one, other)
            facts = () if names is None else (replace(names, are_similar=bool(made.similarity[0] > 0)),)
        if made.kind != STRUCTURE and not made.similarity[0]:
            note = NOT_KEPT if any(map(agrees, facts)) else "too different to be candidates"
        return note, facts

    def _conflicts(self, one: Node, other: Node) -> tuple[ValuePair, ...]:
        return self._values.conflicting(one, other) if self._has_data else ()

    def _score_facts(self, name: str, one: Node, other: Node) -> tuple[str, tuple[Fact, ...]]:
        pair, ends = (one[0], other[0]), (np.array([one[1]]), np.array([other[1]]))
        direct, enhanced = (
            float(self._scores.at(part, pair, *ends)[0]) for part in (self._scores.direct, self._scores.enhanced)
        )
        if np.isnan(direct):
            return ("found for a seed; its scores are not kept" if name == COMPETITION else ""), ()
        mode, calibration = self._alignment.enhancement.mode, self._alignment.calibration
        if name == COMPETITION:
            words = "rivals share the probability" if mode == "sharpened" else "none; another scale"
            return f"{words}: direct score {direct:.3f}", ()
        if name == CALIBRATION:
            if calibration.examples:
                return f"learned from {counted(calibration.examples, 'pair')} of validation seeds", ()
            uncontested = self._uncontested(one, other)
            words = "estimated without seeds"
            return (words if uncontested is None else f"{words}; uncontested score {uncontested:.3f}"), ()
        found = self._scores.third_entities(one, other, MOST_THIRD_ENTITIES)
        return f"score with third KGs {enhanced:.3f}", tuple(
            ThirdEntity(self._shown(via), left, right) for via, left, right in found
        )

    def _uncontested(self, one: Node, other: Node) -> float | None:
        """The uncontested score by which the confidence of a pair was lowered; None where it was not."""
        row = self._membership.row(one)
        if row < 0 or row != self._membership.row(other):
            return self._scores.uncontested(one, other)
        if DUPLICATE in (self._membership.status(node) for node in (one, other)):
            return None  # its confidence is made from that of the member that it repeats
        return self._scores.uncontested(one, other, self._membership.members(row))
