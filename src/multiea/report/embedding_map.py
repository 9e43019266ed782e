"""The embeddings on a plane: members of a sample of groups, joined by lines."""

from __future__ import annotations

import numpy as np
import torch

from multiea.grouping.judging import judged_groups
from multiea.report.charts import picture
from multiea.report.markup import Html, Section, element, joined, paragraph, shortened
from multiea.report.subject import Subject, evenly
from multiea.report.tsne import HOW_TO_GET_IT, has_tsne, project

ANCHOR, TITLE = "map", "Map of the embeddings"
MOST_POINTS = 900
SIZE, EDGE = 600, 14
COLOURS, SHAPES = 8, 5  # without a common divisor: forty KGs have marks of their own
MAX_PERPLEXITY = 30.0
FEWEST_POINTS = 8


def embedding_map(subject: Subject) -> Section:
    """A map of a sample of found groups, from the surest to the least sure."""
    if not has_tsne():
        told = "The map needs openTSNE, which is not installed. Get it and make the page again: "
        return Section(ANCHOR, TITLE, paragraph(told, element("code", HOW_TO_GET_IT), class_="note"))
    kgs = len(subject.found.kg_names)
    chosen = subject.surest_first[evenly(len(subject.found), max(2, MOST_POINTS // kgs))]
    groups = subject.found.take(chosen)
    rows, columns = np.nonzero(groups.present)
    if len(rows) < FEWEST_POINTS:
        return Section(ANCHOR, TITLE, paragraph("Too few groups were found to draw a map.", class_="note"))
    entities = groups.members[rows, columns]
    directions = _directions(subject, columns, entities)
    if directions.shape[1] < 2 or not np.ptp(directions, axis=0).any():
        told = "All embeddings point the same way: there is nothing to map."
        return Section(ANCHOR, TITLE, paragraph(told, class_="note"))
    places = project(directions, MAX_PERPLEXITY)
    low, high = places.min(axis=0), places.max(axis=0)
    places = EDGE + (places - low) / np.maximum(high - low, 1e-9) * (SIZE - 2 * EDGE)
    judged, right = judged_groups(groups, subject.alignment.task.held_out)
    wrong = (judged > 0) & ~right
    told = "Each mark is an entity; t-SNE puts those with similar embeddings close together (near means alike, "
    told += "far says little). Lines join the members of a group: short ones are good."
    told += " Lines of groups that are wrong, by what was held out, are red and dashed." if wrong.any() else ""
    if len(chosen) < len(subject.found):
        told += (
            f" A sample: {len(chosen):,} of {len(subject.found):,} groups, evenly from the surest to the least sure."
        )
    parts = [*_lines(places, rows, wrong), *_marks(subject, places, columns, entities)]
    legend = _legend(subject, sorted(set(columns.tolist())))
    figure = element("figure", picture(TITLE, told, parts, SIZE, SIZE), legend, class_="map")
    return Section(ANCHOR, TITLE, joined([paragraph(told), figure]))


def _directions(subject: Subject, kg: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """The embeddings of entities, (n, d), of length one: only their cosines mean anything."""
    embeddings = subject.alignment.embeddings
    starts = subject.alignment.task.entity_offsets
    vectors = embeddings[torch.from_numpy(starts[kg] + entity).to(embeddings.device)].float().cpu().numpy()
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def _lines(places: np.ndarray, rows: np.ndarray, wrong: np.ndarray) -> list[Html]:
    """Each group's members joined through their middle, so that groups of any size look alike; wrong ones on top."""
    parts: dict[bool, list[str]] = {False: [], True: []}
    for group in np.unique(rows):
        own = places[rows == group]
        x, y = own.mean(axis=0)
        parts[bool(wrong[group])] += [f"M{x:.0f} {y:.0f}L{left:.0f} {top:.0f}" for left, top in own]
    return [
        element("path", d="".join(lines), class_="join wrong" if bad else "join")
        for bad, lines in parts.items()
        if lines
    ]


def _marks(subject: Subject, places: np.ndarray, columns: np.ndarray, entities: np.ndarray) -> list[Html]:
    parts = []
    for kg in np.unique(columns):
        graph = subject.alignment.task.kgs[kg]
        own = columns == kg
        labels = graph.display(entities[own])
        marks = [
            element("path", element("title", f"{shortened(label)} ({graph.name})"), d=_shape(int(kg), x, y))
            for label, (x, y) in zip(labels, places[own], strict=True)
        ]
        parts.append(element("g", joined(marks), class_=f"mark colour-{kg % COLOURS}"))
    return parts


def _legend(subject: Subject, shown: list[int]) -> Html:
    keys = []
    for kg in shown:
        mark = element("path", d=_shape(kg, 8, 8), class_=f"mark colour-{kg % COLOURS}")
        key = element("svg", mark, viewBox="0 0 16 16", aria_hidden="true", class_="key")
        keys.append(element("li", key, element("bdi", subject.found.kg_names[kg])))
    return element("ul", *keys, class_="legend")


def _shape(kg: int, x: float, y: float) -> str:
    """The mark of a KG: disc, square, triangle, diamond or the triangle on its head, about a place."""
    return (
        f"M{x - 4:.1f} {y:.1f}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        f"M{x - 3.5:.1f} {y - 3.5:.1f}h7v7h-7z",
        f"M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z",
        f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5-5z",
        f"M{x:.1f} {y + 4.5:.1f}l4.5-8h-9z",
    )[kg % SHAPES]
