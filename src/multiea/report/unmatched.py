"""Entities left alone: how many of each KG, what is known of them, and a sample."""

from __future__ import annotations

import numpy as np

from multiea.data.groups import ABSENT
from multiea.report.markup import Content, Html, Section, element, folded, joined, paragraph, table
from multiea.report.subject import Subject

MOST_SHOWN = 240  # of all KGs together
FEWEST_SHOWN = 4  # of each KG


def left_alone(subject: Subject) -> Section:
    """Counts by KG and a sample with labels."""
    task = subject.alignment.task
    triples, scored = subject.missing_triples is None, bool(subject.scores)
    header = [
        "KG",
        "left alone",
        *(["without a triple"] if triples else []),
        *(["known counterpart, missed"] if scored else []),
    ]
    rows: list[list[Content]] = []
    samples = []
    rng = np.random.default_rng(0)
    for number, (kg, inside) in enumerate(zip(task.kgs, subject.grouped, strict=True)):
        alone = np.flatnonzero(~inside)
        row: list[Content] = [element("bdi", kg.name), len(alone)]
        if triples:
            row.append(int(np.count_nonzero(kg.degrees[alone] == 0)))
        if scored:
            row.append(int(_known(subject, number)[alone].sum()))
        rows.append(row)
        if len(alone):
            samples.append(_sample(subject, number, alone, rng))
    words = "These are in no group: no counterpart was found that is sure enough."
    words += " An entity without a triple has nothing to be recognized by." if triples else ""
    words += " Those with a known counterpart that was missed are known by the groups held out." if scored else ""
    made = table("Entities in no group, by KG", header, rows)
    if not samples:
        return Section("left-alone", "Entities left alone", joined([paragraph("Every entity is in a group."), made]))
    return Section("left-alone", "Entities left alone", joined([paragraph(words), made, *samples]))


def _known(subject: Subject, kg: int) -> np.ndarray:
    """Whether an entity has a held-out counterpart, (E,)."""
    known = np.zeros(len(subject.grouped[kg]), dtype=bool)
    members = subject.alignment.task.held_out.members[:, kg]
    known[members[members != ABSENT]] = True
    return known


def _sample(subject: Subject, kg: int, alone: np.ndarray, rng: np.random.Generator) -> Html:
    wanted = max(FEWEST_SHOWN, min(20, MOST_SHOWN // len(subject.grouped)))
    chosen = alone if len(alone) <= wanted else np.sort(rng.choice(alone, wanted, replace=False))
    name = subject.alignment.task.kgs[kg].name
    said = f"all {len(alone):,}" if len(chosen) == len(alone) else f"{len(chosen)} of {len(alone):,}, drawn at random"
    items = [element("li", subject.shown(kg, int(entity))) for entity in chosen]
    return folded(Html(element("bdi", name) + f" ({said})"), element("ul", *items, class_="names"))
