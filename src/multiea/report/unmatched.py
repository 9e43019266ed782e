"""The section about unmatched entities: how many there are in each KG, and a sample of them."""

from __future__ import annotations

import numpy as np

from multiea.data.groups import ABSENT
from multiea.report.markup import Content, Html, Section, collapsible, element, joined, paragraph, table
from multiea.report.subject import Subject

MAX_SHOWN = 240  # of all KGs together
MIN_SHOWN = 4  # of each KG


def unmatched(subject: Subject) -> Section:
    """Counts by KG, and a sample by name."""
    with_triples, scored = subject.missing_triples is None, bool(subject.scores)
    header = ["KG", "unmatched"]
    words = "These entities are in no group: no counterpart was found with enough confidence."
    if with_triples:
        header.append("without triples")
        words += " Entities without triples have no structure to compare."
    if scored:
        header.append("missed")
        words += " Missed entities have a counterpart in the held-out groups."
    rows: list[list[Content]] = []
    samples = []
    rng = np.random.default_rng(0)
    for number, (kg, matched) in enumerate(zip(subject.alignment.task.kgs, subject.matched, strict=True)):
        entities = np.flatnonzero(~matched)
        row: list[Content] = [element("bdi", kg.name), len(entities)]
        if with_triples:
            row.append(int(np.count_nonzero(kg.degrees[entities] == 0)))
        if scored:
            row.append(int(_has_counterpart(subject, number)[entities].sum()))
        rows.append(row)
        if len(entities):
            samples.append(_sample(subject, number, entities, rng))
    words = words if samples else "Every entity is in a group."
    counts = table("Unmatched entities by KG", header, rows)
    return Section("unmatched", "Unmatched entities", joined([paragraph(words), counts, *samples]))


def _has_counterpart(subject: Subject, kg: int) -> np.ndarray:
    """Whether each entity of a KG is in a held-out group, (E,)."""
    known = np.zeros(len(subject.matched[kg]), dtype=bool)
    members = subject.alignment.task.held_out.members[:, kg]
    known[members[members != ABSENT]] = True
    return known


def _sample(subject: Subject, kg: int, entities: np.ndarray, rng: np.random.Generator) -> Html:
    size = max(MIN_SHOWN, min(20, MAX_SHOWN // len(subject.matched)))
    chosen = entities if len(entities) <= size else np.sort(rng.choice(entities, size, replace=False))
    all_shown = len(chosen) == len(entities)
    words = f"all {len(entities):,}" if all_shown else f"a random sample of {len(chosen)} of {len(entities):,}"
    items = [element("li", subject.entity(kg, int(entity))) for entity in chosen]
    name = element("bdi", subject.alignment.task.kg_names[kg])
    return collapsible(Html(f"{name} ({words})"), element("ul", *items, class_="entities"))
