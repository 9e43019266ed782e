"""The most and the least certain groups, each with its members and the neighbours these share."""

from __future__ import annotations

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT
from multiea.foundation.errors import counted
from multiea.grouping.judging import judged_groups
from multiea.report.evidence import shared_neighbours
from multiea.report.markup import Content, Html, Section, element, folded, joined, paragraph, shortened, table
from multiea.report.subject import Subject

SHOWN = 10  # groups at either end
MOST_NEIGHBOURS = 8
MOST_EDGES = 3  # of one member to one group of neighbours
HOW_TO_READ = "An arrow → leads from the member to its neighbour, ← from the neighbour to the member."


def certain_groups(subject: Subject) -> list[Section]:
    """The two ends of the found groups; where there are few, the second has only what the first has not."""
    order = subject.surest_first
    most, least = order[:SHOWN], order[SHOWN:][::-1][:SHOWN]
    evidence = _evidence(subject, np.concatenate([most, least]))
    sections = [_section(subject, "most-certain", "Most certain groups", most, evidence)]
    if len(least):
        if evidence is not None:
            evidence = evidence.with_columns(pl.col("shown") - len(most))
        sections.append(_section(subject, "least-certain", "Least certain groups", least, evidence))
    return sections


def _evidence(subject: Subject, shown: np.ndarray) -> pl.DataFrame | None:
    if subject.missing_triples is not None:
        return None
    return shared_neighbours(subject.alignment.task.kgs, subject.all_groups, shown + len(subject.known))


def _section(subject: Subject, anchor: str, title: str, rows: np.ndarray, evidence: pl.DataFrame | None) -> Section:
    if not len(rows):
        return Section(anchor, title, paragraph("No group was found."))
    groups = subject.found.take(rows)
    judged, right = judged_groups(groups, subject.alignment.task.held_out)
    words = f"{len(rows)} of {counted(len(subject.found), 'group')} found, each with its confidence"
    words += ", and whether it is right by the groups held out" if subject.scores else ""
    words += ". Open one to see its members"
    words += "." if evidence is None else f" and the neighbours they share. {HOW_TO_READ}"
    parts = [paragraph(words)]
    ids = subject.alignment.group_ids()[1]
    for at, group_id in enumerate(ids[row] for row in rows):
        own = None if evidence is None else evidence.filter(pl.col("shown") == at)
        verdict = _verdict(float(judged[at]), bool(right[at])) if subject.scores else None
        parts.append(_group(subject, int(rows[at]), group_id, verdict, own, open_=at == 0))
    return Section(anchor, title, joined(parts))


def _verdict(judged: float, right: bool) -> str:
    """By held-out groups, as far as these know the members."""
    if not judged:
        return "not known"
    if not right:
        return "wrong"
    return "right" if judged == 1 else "right so far as known"


def _group(
    subject: Subject, row: int, group_id: str, verdict: str | None, evidence: pl.DataFrame | None, *, open_: bool
) -> Html:
    members, sure, kgs = subject.found.members[row], subject.alignment.found.confidence[row], subject.alignment.task.kgs
    inside = np.flatnonzero(members != ABSENT)
    labels = [element("bdi", shortened(kgs[kg].display(members[kg : kg + 1])[0])) for kg in inside]
    headline = [element("b", f"{subject.confidence[row]:.2f}"), Html(" · ".join(dict.fromkeys(labels)))]
    if verdict is not None:
        headline.append(element("span", verdict, class_=f"verdict {verdict.split()[0]}"))
    cells: list[list[Content]] = [
        [element("bdi", kgs[kg].name), subject.shown(int(kg), int(members[kg])), f"{sure[kg]:.3f}"] for kg in inside
    ]
    more = subject.alignment.duplicates
    for at in np.flatnonzero(more.group == row):
        name = Html(element("bdi", kgs[more.kg[at]].name) + " (duplicate)")
        cells.append([name, subject.shown(int(more.kg[at]), int(more.entity[at])), f"{more.confidence[at]:.3f}"])
    body = [table(f"Members of group {group_id}", ["KG", "entity", "confidence"], cells, words=2)]
    if evidence is not None:
        body.append(_neighbours(subject, group_id, inside, evidence))
    return folded(Html(" ".join(headline)), *body, open_=open_)


def _neighbours(subject: Subject, group_id: str, inside: np.ndarray, evidence: pl.DataFrame) -> Html:
    """A row for each group of shared neighbours: those that most members lead to first, then the surest."""
    if evidence.is_empty():
        return paragraph("Its members share no neighbour: none of theirs are in one group.", class_="note")
    seeds = len(subject.known)
    common, reached = evidence.select("common", "kgs").unique().to_numpy().T
    sure = np.concatenate([np.ones(seeds), subject.confidence])[common]
    order = np.lexsort((common, common >= seeds, -sure, -reached))
    rows: list[list[Content]] = []
    for at in order[:MOST_NEIGHBOURS]:
        edges = evidence.filter(pl.col("common") == common[at])
        status = "seed" if common[at] < seeds else f"found, {sure[at]:.2f}"
        rows.append([status, *(_edges(subject, int(kg), edges.filter(pl.col("kg") == kg)) for kg in inside)])
    caption = f"Shared neighbours of group {group_id}"
    header = ["neighbours' group", *(element("bdi", subject.found.kg_names[kg]) for kg in inside)]
    made = table(caption, header, rows, words=len(header))
    if len(order) <= MOST_NEIGHBOURS:
        return made
    return joined([made, paragraph(f"{MOST_NEIGHBOURS} of {len(order):,} groups of shared neighbours are shown.")])


def _edges(subject: Subject, kg: int, edges: pl.DataFrame) -> Html:
    """How a member leads to its neighbours: the arrow points to the right where the member is head (HOW_TO_READ)."""
    graph, parts = subject.alignment.task.kgs[kg], []
    for relation, forwards, neighbour in edges.select("relation", "forwards", "neighbour").head(MOST_EDGES).iter_rows():
        arrow = element("span", "→" if forwards else "←", class_="arrow")
        label = element("bdi", shortened(graph.display(np.array([neighbour], dtype=np.int32))[0]))
        name = element("bdi", _last_part(str(graph.relations[int(relation)])), class_="relation")
        parts.append(element("div", name, " ", arrow, " ", label))
    if len(edges) > MOST_EDGES:
        parts.append(element("div", f"and {len(edges) - MOST_EDGES:,} more"))
    return Html("".join(parts) or "-")


def _last_part(relation: str) -> str:
    """A relation's name without the long way to it, if it is an IRI."""
    if "://" not in relation:
        return shortened(relation)
    return shortened(relation.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1])
