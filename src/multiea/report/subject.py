"""Subject: the run that a page is about, and values that several sections need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from multiea.data.groups import ABSENT, Groups
from multiea.evaluation.reliability import scores_of_confidence
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.judging import scores_of_groups, scores_of_pairs
from multiea.report.markup import Html, entity_html
from multiea.runs.run import Run

WITHOUT_TRIPLES = "the alignment was opened without its triples"
TABLES = "the sources are tables, which have none"


@dataclass(frozen=True)
class Subject:
    """A run, with values that are computed once and shown in several sections."""

    run: Run

    @property
    def alignment(self) -> AlignmentResult:
        """The alignment of the run."""
        return self.run.alignment

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The content of metrics.json, as far as it is known."""
        return self.run.metrics

    @cached_property
    def missing_triples(self) -> str | None:
        """The reason why the triples are not available; None if they are."""
        kgs = self.alignment.task.kgs
        if self.run.no_triples is not None or any(len(kg.triples) for kg in kgs):
            return self.run.no_triples
        return TABLES if any(len(kg.literals) or len(kg.given_names) for kg in kgs) else WITHOUT_TRIPLES

    @cached_property
    def found(self) -> Groups:
        """The found groups."""
        return self.alignment.found.groups

    @cached_property
    def found_ids(self) -> list[str]:
        """The ids of the found groups."""
        return self.alignment.group_ids()[1]

    @cached_property
    def known(self) -> Groups:
        """The seeds, and open seeds with the members found for them."""
        return self.alignment.known.groups

    @cached_property
    def all_groups(self) -> Groups:
        """Known groups, then found ones."""
        return self.known.joined(self.found)

    @cached_property
    def confidence(self) -> np.ndarray:
        """The mean confidence of the members of each found group, (found,)."""
        return np.asarray(self.alignment.found.confidence.sum(axis=1) / np.maximum(self.found.sizes, 1))

    @cached_property
    def by_confidence(self) -> np.ndarray:
        """The rows of found groups, the most confident first."""
        return np.argsort(-self.confidence, kind="stable")

    @cached_property
    def matched(self) -> list[np.ndarray]:
        """For each KG, whether an entity is in a group (known or found) or a duplicate of a member, (E,)."""
        duplicates, result = self.alignment.duplicates, []
        for number, (kg, members) in enumerate(zip(self.alignment.task.kgs, self.all_groups.members.T, strict=True)):
            matched = np.zeros(len(kg.entities), dtype=bool)
            matched[members[members != ABSENT]] = True
            matched[duplicates.entity[duplicates.kg == number]] = True
            result.append(matched)
        return result

    @cached_property
    def scores(self) -> dict[str, Any]:
        """Scores of the found groups against held-out groups: pairs, groups, confidence; empty if none are held out."""
        held_out = self.alignment.task.held_out
        if not len(held_out):
            return {}
        return {
            "pairs": scores_of_pairs(self.found, held_out),
            "groups": scores_of_groups(self.found, held_out),
            "confidence": scores_of_confidence(self.alignment.found, held_out),
        }

    def name(self, kg: int, entity: int) -> str:
        """The name of an entity; its id if it has no name."""
        return str(self.alignment.task.kgs[kg].display(np.array([entity], dtype=np.int32))[0])

    def entity(self, kg: int, entity: int) -> Html:
        """An entity as the page shows it: its name, and its id if that is different."""
        return entity_html(self.name(kg, entity), str(self.alignment.task.kgs[kg].entities[int(entity)]))


def evenly_spaced(count: int, wanted: int) -> np.ndarray:
    """At most `wanted` positions, evenly spaced over 0 to count - 1: a sample that is always the same."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, wanted)).astype(np.int64))
