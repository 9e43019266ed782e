"""What a page is about: an alignment, what is known of its run, and the counts several parts of the page need."""

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
from multiea.report.markup import Html, named
from multiea.runs.run import Run

WITHOUT_TRIPLES = "the alignment was opened without its triples"


@dataclass(frozen=True)
class Subject:
    """What the page is about: a run, and the counts that several sections need."""

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
        """Why there are no triples to show, none where there are."""
        if self.run.no_triples is not None or any(len(kg.triples) for kg in self.alignment.task.kgs):
            return self.run.no_triples
        return WITHOUT_TRIPLES

    @cached_property
    def found(self) -> Groups:
        """The groups found."""
        return self.alignment.found.groups

    @cached_property
    def all_groups(self) -> Groups:
        """Known groups, then found ones."""
        return self.known.joined(self.found)

    @cached_property
    def known(self) -> Groups:
        """Seeds, and open seeds with the members found for them."""
        return self.alignment.known.groups

    @cached_property
    def confidence(self) -> np.ndarray:
        """The mean confidence of each found group's members, (found,)."""
        return np.asarray(self.alignment.found.confidence.sum(axis=1) / np.maximum(self.found.sizes, 1))

    @cached_property
    def surest_first(self) -> np.ndarray:
        """The rows of found groups, the surest first."""
        return np.argsort(-self.confidence, kind="stable")

    @cached_property
    def grouped(self) -> list[np.ndarray]:
        """For each KG, whether an entity is in a group, (E,): a seed, a found one, or as a duplicate."""
        further, result = self.alignment.duplicates, []
        for number, (kg, members) in enumerate(zip(self.alignment.task.kgs, self.all_groups.members.T, strict=True)):
            inside = np.zeros(len(kg.entities), dtype=bool)
            inside[members[members != ABSENT]] = True
            inside[further.entity[further.kg == number]] = True
            result.append(inside)
        return result

    @cached_property
    def scores(self) -> dict[str, Any]:
        """Of what was found against held-out groups: pairs, groups, confidence; nothing where none were held out."""
        held_out = self.alignment.task.held_out
        if not len(held_out):
            return {}
        return {
            "pairs": scores_of_pairs(self.found, held_out),
            "groups": scores_of_groups(self.found, held_out),
            "confidence": scores_of_confidence(self.alignment.found, held_out),
        }

    def shown(self, kg: int, entity: int) -> Html:
        """An entity as the page shows it: its label, and its name where that is another."""
        graph = self.alignment.task.kgs[kg]
        label = graph.display(np.array([entity], dtype=np.int32))[0]
        return named(label, str(graph.entities[int(entity)]))


def evenly(count: int, wanted: int) -> np.ndarray:
    """Positions spread evenly over `count` places, at most `wanted`: a sample that is the same every time."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, wanted)).astype(np.int64))
