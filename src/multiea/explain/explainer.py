"""Explainer: explains entities and pairs of one alignment; what is expensive is made once, on first use."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np

from multiea.explain.candidate_scores import CandidateScores, Node
from multiea.explain.contributions import Contributions
from multiea.explain.entity_search import find_entity
from multiea.explain.explanation import STEP_NAMES, Candidate, ExplainedPair, Explanation, Member
from multiea.explain.facts import Entity
from multiea.explain.membership import SEED, Membership
from multiea.explain.pair_steps import PairSteps
from multiea.explain.steps import steps_of_pairs
from multiea.explain.verdicts import Verdicts
from multiea.foundation.errors import InputError
from multiea.grouping.alignment import AlignmentResult

MOST_RIVALS = 3  # of each entity
WITHOUT_DATA = "it was opened without its data set; multiea.open(run, with_triples=True) reads it"


class Explainer:
    """Explains an alignment. no_data: why its data set is not at hand, where that is known."""

    def __init__(self, alignment: AlignmentResult, no_data: str | None = None) -> None:
        self._alignment, self._order = alignment, alignment.order
        has_data = any(len(kg.triples) or len(kg.literals) or len(kg.given_names) for kg in alignment.task.kgs)
        self._no_data = None if has_data else no_data or WITHOUT_DATA

    def explain(self, one: str, other: str | None = None) -> Explanation:
        """Why two entities are in one group or not; of one entity, its group, or why it has none."""
        first = self._node(one)
        return self._one(first) if other is None else self._two(first, self._node(other))

    def _two(self, one: Node, other: Node) -> Explanation:
        if one[0] == other[0]:
            raise InputError(
                f"{self.shown(one)} and {self.shown(other)} are entities of the same KG",
                expected="two entities of different KGs",
                hint="Give one entity to see its group, with duplicates",
            )
        row, together = self._membership.row(one), self._membership.row(one) == self._membership.row(other) >= 0
        confidence: float | None
        if together:
            verdict = self._verdicts.together(one, other)
            is_given = all(self._membership.status(node) == SEED for node in (one, other))
            confidence = None if is_given else self._membership.pair_confidence(one, other)
        else:
            verdict = f"not in one group: {self._verdicts.apart(one, other)}"
            is_scored = self._scores.has(one) and self._scores.has(other)
            confidence = self._verdicts.pair_confidence(one, other) if is_scored else None
        rivals = [*self._candidates(one, other[0], other[1]), *self._candidates(other, one[0], one[1])]
        return Explanation(
            (self.shown(one), self.shown(other)), verdict, together, confidence,
            self._pair_steps.of(one, other, confidence), tuple(rivals),
            self._membership.ids[row] if together else None, notes=self._notes(),
        )  # fmt: skip

    def _one(self, node: Node) -> Explanation:
        row = self._membership.row(node)
        nodes = self._membership.members(row) if row >= 0 else [node]
        missing = sorted(set(range(len(self._order.given_columns))) - {kg for kg, _ in nodes})
        candidates = self._refused(node, missing)
        if row >= 0:
            members = tuple(
                Member(self.shown(one), self._membership.confidence(one), self._membership.status(one)) for one in nodes
            )
            own = members[nodes.index(node)]
            how = "given as seed" if own.status == SEED else f"with confidence {own.confidence:.2f}"
            verdict = f"in a group of {len(nodes)}: {how}"
            return Explanation(
                (self.shown(node),), verdict, True, own.confidence, (), (), self._membership.ids[row], members,
                self._pairs(nodes), tuple(candidates), self._notes(),
            )  # fmt: skip
        if not candidates:
            verdict = "unmatched: nothing in other KGs has enough in common with it"
            return Explanation((self.shown(node),), verdict, False, notes=self._notes())
        best = max(candidates, key=lambda one: one.score)
        other = self._node(f"{best.entity.kg}/{best.entity.id}")
        confidence = self._verdicts.pair_confidence(node, other)
        verdict = f"unmatched: its best candidate is {best.entity}, but {best.reason}"
        return Explanation(
            (self.shown(node),), verdict, False, confidence, self._pair_steps.of(node, other, confidence),
            candidates=tuple(candidates), notes=self._notes(),
        )  # fmt: skip

    def _pairs(self, nodes: list[Node]) -> tuple[ExplainedPair, ...]:
        """All pairs of members that were found, with their log-odds."""
        pairs = []
        for one, other in combinations(sorted(nodes), 2):
            is_given = all(self._membership.status(node) == SEED for node in (one, other))
            if one[0] == other[0] or is_given:
                continue
            confidence = self._membership.pair_confidence(one, other)
            ends = np.array([one[1]]), np.array([other[1]])
            steps = steps_of_pairs(self._contributions, self._scores, (one[0], other[0]), ends, np.array([confidence]))
            log_odds = {name: float(values[0]) for name, values in steps.items()}
            matched = self._membership.is_matched(one, other)
            pairs.append(ExplainedPair(self.shown(one), self.shown(other), confidence, matched, log_odds))
        return tuple(pairs)

    def _refused(self, node: Node, kgs: list[int]) -> list[Candidate]:
        """The best candidates in some KGs; the best of each KG with the reason why it was refused."""
        return [candidate for kg in kgs for candidate in self._candidates(node, kg, with_reason=True)]

    def _candidates(
        self, node: Node, kg: int, left_out: int | None = None, *, with_reason: bool = False
    ) -> list[Candidate]:
        best = [one for one in self._scores.best(node, kg, MOST_RIVALS + 1) if one[0] != left_out][:MOST_RIVALS]
        found = []
        for place, (entity, score) in enumerate(best):
            other = (kg, entity)
            evidence = self._evidence(node, other)
            row = self._membership.row(other)
            members = self._membership.members(row) if row >= 0 else []
            partner = next((self.shown(member) for member in members if member[0] == node[0]), None)
            reason = self._verdicts.apart(node, other) if with_reason and not place else ""
            found.append(Candidate(self.shown(node), self.shown(other), score, evidence, partner, reason))
        return found

    def _evidence(self, one: Node, other: Node) -> dict[str, float]:
        (a, i), (b, j) = sorted((one, other))
        made = self._contributions.of((a, b), np.array([i]), np.array([j]))
        return {STEP_NAMES[part.kind]: float(part.log_odds[0]) for part in made}

    def _notes(self) -> tuple[str, ...]:
        if self._no_data is None:
            return ()
        return (f"without names, values and neighbours that agree: {self._no_data}",)

    def _node(self, word: str) -> Node:
        kg, entity = find_entity(word, self._alignment.task.kgs)
        return self._order.given_columns.index(kg), int(self._order.canonical_positions[kg][entity])

    def shown(self, node: Node) -> Entity:
        """An entity as it is shown, from its place in canonical order."""
        kg = self._alignment.task.kgs[self._order.given_columns[node[0]]]
        position = self._order.given_positions[node[0]][[node[1]]].astype(np.int32)
        return Entity(kg.name, str(kg.entities[int(position[0])]), str(kg.display(position)[0]))

    @cached_property
    def _scores(self) -> CandidateScores:
        return CandidateScores.of(self._alignment)

    @cached_property
    def _contributions(self) -> Contributions:
        return Contributions(self._alignment)

    @cached_property
    def _membership(self) -> Membership:
        return Membership(self._alignment)

    @cached_property
    def _verdicts(self) -> Verdicts:
        return Verdicts(self._scores, self._membership, self._alignment.calibration, self.shown)

    @cached_property
    def _pair_steps(self) -> PairSteps:
        return PairSteps(
            self._alignment, self._contributions, self._scores, self._membership, self.shown,
            has_data=self._no_data is None,
        )  # fmt: skip
