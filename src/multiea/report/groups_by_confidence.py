"""The most and the least confident groups, each with its members, its evidence and the neighbours they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT
from multiea.data.name_words import local_name
from multiea.explain.steps import steps_of_groups
from multiea.foundation.errors import counted
from multiea.grouping.judging import judged_groups
from multiea.report.markup import (
    Content,
    Html,
    Section,
    collapsible,
    element,
    isolated,
    joined,
    note,
    paragraph,
    shortened,
    table,
)
from multiea.report.shared_neighbours import shared_neighbours
from multiea.report.subject import Subject
from multiea.report.waterfall import WATERFALL, waterfall

MOST_ENTITIES = 30_000  # with more, comparing all again for the waterfalls takes too long for a report
SHOWN = 10  # groups in each of the two sections
MAX_NEIGHBOUR_GROUPS = 8
MAX_EDGES = 3  # from one member to one group of neighbours
ARROWS = "An arrow → leads from the member to its neighbour, an arrow ← from the neighbour to the member."


def groups_by_confidence(subject: Subject) -> list[Section]:
    """The most and the least confident groups; no group is in both sections."""
    rows = subject.by_confidence
    most, least = rows[:SHOWN], rows[SHOWN:][::-1][:SHOWN]
    steps: list[dict[str, float]] = [{} for _ in range(len(most) + len(least))]
    if len(rows) and subject.alignment.task.entity_offsets[-1] <= MOST_ENTITIES:
        steps = steps_of_groups(subject.alignment, np.concatenate([most, least]))
    sections = [_section(subject, "most-confident", "Most confident groups", most, steps[: len(most)])]
    if len(least):
        sections.append(_section(subject, "least-confident", "Least confident groups", least, steps[len(most) :]))
    return sections


def _section(
    subject: Subject, anchor: str, title: str, rows: np.ndarray, steps: Sequence[Mapping[str, float]]
) -> Section:
    if not len(rows):
        return Section(anchor, title, paragraph("No group was found."))
    edges = None
    if subject.missing_triples is None:
        edges = shared_neighbours(subject.alignment.task.kgs, subject.all_groups, rows + len(subject.known))
    words = f"{len(rows)} of {counted(len(subject.found), 'found group')}, each with its confidence"
    if subject.scores:
        words += " and whether it is correct according to the held-out groups "
        words += "(unknown if they do not contain its members)"
    words += ". Open a group to see its members"
    words += "." if edges is None else f" and the neighbours they share. {ARROWS}"
    words += f" {WATERFALL}"
    judged, correct = judged_groups(subject.found.take(rows), subject.alignment.task.held_out)
    parts = [paragraph(words)]
    for at, row in enumerate(rows):
        own_edges = None if edges is None else edges.filter(pl.col("shown") == at)
        verdict = _verdict(float(judged[at]), bool(correct[at])) if subject.scores else None
        drawn = waterfall(subject.found_ids[row], steps[at]) if steps[at] else joined([])
        parts.append(_group(subject, int(row), verdict, drawn, own_edges, open_=at == 0))
    return Section(anchor, title, joined(parts))


def _verdict(judged: float, correct: bool) -> str:
    """judged: the share of the group's pairs about which the held-out groups say something."""
    if not judged:
        return "unknown"
    if not correct:
        return "wrong"
    return "correct" if judged == 1 else "correct as far as known"


def _group(
    subject: Subject, row: int, verdict: str | None, drawn: Html, edges: pl.DataFrame | None, *, open_: bool
) -> Html:
    members, kgs = subject.found.members[row], np.flatnonzero(subject.found.members[row] != ABSENT)
    names = dict.fromkeys(isolated(subject.name(int(kg), int(members[kg]))) for kg in kgs)
    summary = [element("b", f"{subject.confidence[row]:.2f}"), Html(" · ".join(names))]
    if verdict is not None:
        summary.append(element("span", verdict, class_=f"verdict {verdict.split()[0]}"))
    group_id = subject.found_ids[row]
    body = [_members(subject, row, group_id), drawn]
    if edges is not None:
        body.append(_neighbours(subject, group_id, kgs, edges))
    return collapsible(Html(" ".join(summary)), *body, open_=open_)


def _members(subject: Subject, row: int, group_id: str) -> Html:
    """The members of a group and their duplicates, with confidences."""
    members, confidence = subject.found.members[row], subject.alignment.found.confidence[row]
    kg_names = [element("bdi", name) for name in subject.found.kg_names]
    rows: list[list[Content]] = [
        [kg_names[kg], subject.entity(int(kg), int(members[kg])), f"{confidence[kg]:.3f}"]
        for kg in np.flatnonzero(members != ABSENT)
    ]
    duplicates = subject.alignment.duplicates
    for at in np.flatnonzero(duplicates.group == row):
        kg, entity = int(duplicates.kg[at]), int(duplicates.entity[at])
        name = Html(f"{kg_names[kg]} (duplicate)")
        rows.append([name, subject.entity(kg, entity), f"{duplicates.confidence[at]:.3f}"])
    return table(f"Members of group {group_id}", ["KG", "entity", "confidence"], rows, text_columns=2)


def _neighbours(subject: Subject, group_id: str, kgs: np.ndarray, edges: pl.DataFrame) -> Html:
    """One row per group of shared neighbours: those of most members first, then the most confident."""
    if edges.is_empty():
        return note("The members share no neighbours: no two of them have neighbours in the same group.")
    seeds = len(subject.known)
    groups, kg_counts = edges.select("neighbour_group", "kgs").unique().to_numpy().T
    confidence = np.concatenate([np.ones(seeds), subject.confidence])[groups]
    order = np.lexsort((groups, groups >= seeds, -confidence, -kg_counts))
    rows: list[list[Content]] = []
    for at in order[:MAX_NEIGHBOUR_GROUPS]:
        of_group = edges.filter(pl.col("neighbour_group") == groups[at])
        status = "seed" if groups[at] < seeds else f"found, {confidence[at]:.2f}"
        rows.append([status, *(_edges(subject, int(kg), of_group.filter(pl.col("kg") == kg)) for kg in kgs)])
    header = ["group of the neighbours", *(element("bdi", subject.found.kg_names[kg]) for kg in kgs)]
    made = table(f"Shared neighbours of group {group_id}", header, rows, text_columns=len(header))
    if len(order) <= MAX_NEIGHBOUR_GROUPS:
        return made
    words = f"{MAX_NEIGHBOUR_GROUPS} of {len(order):,} groups of shared neighbours are shown."
    return joined([made, paragraph(words)])


def _edges(subject: Subject, kg: int, edges: pl.DataFrame) -> Html:
    """The relations of a member to its neighbours; ARROWS explains their direction."""
    relations, parts = subject.alignment.task.kgs[kg].relations, []
    for relation, forwards, neighbour in edges.select("relation", "forwards", "neighbour").head(MAX_EDGES).iter_rows():
        arrow = element("span", "→" if forwards else "←", class_="arrow")
        name = element("bdi", shortened(local_name(str(relations[int(relation)]))), class_="relation")
        parts.append(element("div", name, " ", arrow, " ", isolated(subject.name(kg, int(neighbour)))))
    if len(edges) > MAX_EDGES:
        parts.append(element("div", f"and {len(edges) - MAX_EDGES:,} more"))
    return Html("".join(parts) or "-")
