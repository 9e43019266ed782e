"""Verdicts: one sentence that says why two entities are in one group or not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from multiea.explain.candidate_scores import CandidateScores, Node
from multiea.explain.facts import Entity
from multiea.explain.membership import DUPLICATE, SEED, Membership
from multiea.grouping.calibration import Calibration
from multiea.similarity.sparse_scores import NEGLIGIBLE


class Verdicts:
    """Says why; shown: what is shown for an entity. Everything in canonical order."""

    def __init__(
        self,
        scores: CandidateScores,
        membership: Membership,
        calibration: Calibration,
        shown: Callable[[Node], Entity],
    ) -> None:
        self._scores, self._membership, self._calibration, self._shown = scores, membership, calibration, shown

    def together(self, one: Node, other: Node) -> str:
        """About two members of one group."""
        statuses = {self._membership.status(node) for node in (one, other)}
        if statuses == {SEED}:
            return "in one group: given as seed"
        words = f"in one group with confidence {self._membership.pair_confidence(one, other):.2f}"
        if DUPLICATE in statuses:
            return f"{words}: one of the two is a duplicate of a member"
        if self._membership.is_matched(one, other):
            return f"{words}: each other's best match"
        return f"{words}: not each other's best match; it follows from other pairs of the group"

    def apart(self, one: Node, other: Node) -> str:
        """Why two entities are not in one group."""
        reasons = [self._taken_by_seed(one, other), self._taken_by_seed(other, one)]
        if any(reasons):
            return "; ".join(filter(None, reasons))
        if not self._score(one, other) > NEGLIGIBLE:
            return "neither is a candidate of the other; they have too little in common, or others have more"
        reasons = [self._better_match(one, other), self._better_match(other, one)]
        if any(reasons):
            return "; ".join(filter(None, reasons))
        return self._refused_match(one, other)

    def pair_confidence(self, one: Node, other: Node) -> float:
        """The confidence that two entities would have as a group of two."""
        uncontested = self._scores.uncontested(one, other)
        known = np.array(np.nan if uncontested is None else uncontested)
        return float(self._calibration.lowered(np.array(self._contested_confidence(one, other)), known))

    def _contested_confidence(self, one: Node, other: Node) -> float:
        """The same before it is lowered; the threshold applies to this one."""
        inside = np.full((1, 2, 2), np.nan)
        inside[0, 0, 1] = inside[0, 1, 0] = self._score(one, other)
        return float(self._calibration.probabilities(inside)[0, 0, 1])

    def _score(self, one: Node, other: Node) -> float:
        pair, ends = (one[0], other[0]), (np.array([one[1]]), np.array([other[1]]))
        return float(self._scores.at(self._scores.enhanced, pair, *ends)[0])

    def _taken_by_seed(self, node: Node, other: Node) -> str:
        """What a known group says against a pair; empty if nothing."""
        row = self._membership.row(node)
        if not self._membership.is_known(row):
            return ""
        partners = [member for member in self._membership.members(row) if member[0] == other[0]]
        if not partners:
            return f"{self._shown(node)} is in a seed that has no member in {self._shown(other).kg}"
        how = "given as seed" if self._membership.status(partners[0]) == SEED else "found for a seed"
        return f"{self._shown(partners[0])} is the counterpart of {self._shown(node)}, {how}"

    def _better_match(self, node: Node, other: Node) -> str:
        """The candidate that beats the other entity; empty if there is none."""
        own = self._score(node, other)
        best = [(entity, score) for entity, score in self._scores.best(node, other[0], 2) if entity != other[1]]
        if not best or best[0][1] < own:
            return ""
        rival = self._shown((other[0], best[0][0]))
        shown, own_shown = f"{best[0][1]:.3f}", f"{own:.3f}"
        if shown == own_shown:
            return f"{rival} matches {self._shown(node)} equally well (both score {shown})"
        return f"{rival} is the better match of {self._shown(node)} (score {shown}, not {own_shown})"

    def _refused_match(self, one: Node, other: Node) -> str:
        """Why each other's best match was refused."""
        for node, partner in ((one, other), (other, one)):
            row = self._membership.row(node)
            members = self._membership.members(row) if row >= 0 else []
            for member in members:
                if member[0] == partner[0]:
                    return f"{self._shown(node)} is in a group with {self._shown(member)} already, by better matches"
        confidence, least = self._contested_confidence(one, other), self._calibration.threshold
        if confidence < least:
            shown, before = f"{self.pair_confidence(one, other):.2f}", f"{confidence:.2f}"
            shown += "" if shown == before else f" ({before} before it was lowered for lookalikes)"
            return f"too weak: confidence {shown}, and members below {least:.2f} stay unmatched"
        if self._membership.row(one) >= 0 and self._membership.row(other) >= 0:
            return "their groups contradict each other: both have a member in the same KG"
        return f"one of the two was dropped from their group: its mean confidence there was below {least:.2f}"
