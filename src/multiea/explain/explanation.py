"""Explanation: why entities are, or are not, in one group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from multiea.evidence.evidence import ATTRIBUTES, CONFLICTS, IDENTIFIERS, MODEL, NAMES, NEIGHBOURS, STRUCTURE
from multiea.explain.facts import Entity, Fact
from multiea.explain.text import as_text

COMPETITION, THIRD_KGS, CALIBRATION = "competition", "third KGs", "calibration"
STEP_NAMES = {
    NAMES: "names",
    MODEL: "name model",
    ATTRIBUTES: "attributes",
    IDENTIFIERS: "identifiers",
    CONFLICTS: "conflicts",
    STRUCTURE: "structure",
    NEIGHBOURS: "neighbours",
}


@dataclass(frozen=True)
class Step:
    """One bar of the waterfall, in log-odds.

    weight, similarity: of a kind of evidence. note: what else there is to say, such as missing evidence.
    """

    name: str
    log_odds: float
    weight: float | None = None
    similarity: float | None = None
    note: str = ""
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A candidate of an entity in another KG.

    score: with third KGs, before calibration. evidence: log-odds by kind. partner: the entity of the first one's KG
    with which the candidate is in one group, if any. reason: why the two are not in one group, where that was asked.
    """

    of: Entity
    entity: Entity
    score: float
    evidence: Mapping[str, float]
    partner: Entity | None = None
    reason: str = ""


@dataclass(frozen=True)
class Member:
    """A member of a group; status: seed, found or duplicate."""

    entity: Entity
    confidence: float
    status: str


@dataclass(frozen=True)
class ExplainedPair:
    """Two members of a group: their confidence, whether they are each other's best match, log-odds by step."""

    left: Entity
    right: Entity
    confidence: float
    is_matched: bool
    log_odds: Mapping[str, float]


@dataclass(frozen=True)
class Explanation:
    """Why an entity is in its group or in none, or why two entities are in one group or not.

    entities: the one or two that were asked about. verdict: one sentence. confidence: that the two are the same; of two
    that are not in one group, the confidence they would have as a group of two; None where they have no score. steps:
    the log-odds of this confidence, part by part; of one entity without a group, those of its best candidate. rivals:
    of two entities, the best other candidates of each. group_id, members, pairs: of one entity, its group. candidates:
    of one entity, the best ones in the KGs where its group has no member. notes: what could not be shown, and why.
    """

    entities: tuple[Entity, ...]
    verdict: str
    same_group: bool
    confidence: float | None = None
    steps: tuple[Step, ...] = ()
    rivals: tuple[Candidate, ...] = ()
    group_id: str | None = None
    members: tuple[Member, ...] = ()
    pairs: tuple[ExplainedPair, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def log_odds(self) -> float:
        """The sum of all steps."""
        return sum(step.log_odds for step in self.steps)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, as `multiea explain --json` prints them."""
        answer = asdict(self)
        for step, written in zip(self.steps, answer["steps"], strict=True):
            for fact, values in zip(step.facts, written["facts"], strict=True):
                values |= {"fact": type(fact).__name__, "text": str(fact)}
        return answer | {"log_odds": self.log_odds}

    def __str__(self) -> str:
        return as_text(self)
