"""The map of the embeddings: a t-SNE projection of the members of a sample of groups, connected by lines."""

from __future__ import annotations

import numpy as np

from multiea.grouping.judging import judged_groups
from multiea.report.charts import picture
from multiea.report.markup import Html, Section, element, joined, note, paragraph, shortened
from multiea.report.subject import Subject, evenly_spaced
from multiea.report.tsne import HOW_TO_GET_IT, has_tsne, project

ANCHOR, TITLE = "map", "Map of the embeddings"
MAX_POINTS = 900
SIZE, MARGIN = 600, 14
COLOURS, SHAPES = 8, 5  # without a common divisor: forty KGs have distinct symbols
MAX_PERPLEXITY = 30.0
MIN_POINTS = 8


def embedding_map(subject: Subject) -> Section:
    """A map of a sample of found groups, from the most to the least confident."""
    if not has_tsne():
        words = "The map needs openTSNE, which is not installed. Install it and write the page again: "
        return Section(ANCHOR, TITLE, note(words, element("code", HOW_TO_GET_IT)))
    kgs = len(subject.found.kg_names)
    chosen = subject.by_confidence[evenly_spaced(len(subject.found), max(2, MAX_POINTS // kgs))]
    groups = subject.found.take(chosen)
    rows, columns = np.nonzero(groups.present)
    if len(rows) < MIN_POINTS:
        return Section(ANCHOR, TITLE, note("Too few groups were found for a map."))
    entities = groups.members[rows, columns]
    directions = _directions(subject, columns, entities)
    if directions.shape[1] < 2 or not np.ptp(directions, axis=0).any():
        return Section(ANCHOR, TITLE, note("All embeddings have the same direction: there is nothing to map."))
    points = _scaled(project(directions, MAX_PERPLEXITY))
    judged, correct = judged_groups(groups, subject.alignment.task.held_out)
    wrong = (judged > 0) & ~correct
    words = _description(len(chosen), len(subject.found), any_wrong=bool(wrong.any()))
    parts = [*_lines(points, rows, wrong), *_symbols(subject, points, columns, entities)]
    legend = _legend(subject, sorted(set(columns.tolist())))
    figure = element("figure", picture(TITLE, words, parts, SIZE, SIZE), legend, class_="map")
    return Section(ANCHOR, TITLE, joined([paragraph(words), figure]))


def _description(shown: int, found: int, *, any_wrong: bool) -> str:
    words = "Each symbol is an entity. t-SNE places entities with similar embeddings close together; large distances "
    words += "mean little. Lines connect the members of a group: short lines are good."
    words += " Groups that are wrong according to the held-out groups have red dashed lines." if any_wrong else ""
    if shown < found:
        words += f" A sample: {shown:,} of {found:,} groups, evenly chosen from the most to the least confident."
    return words


def _directions(subject: Subject, kg: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """The embeddings of entities scaled to length one, (n, d): only their cosine similarity has a meaning."""
    starts = subject.alignment.task.entity_offsets
    vectors = subject.alignment.embeddings_of(starts[kg] + entity).cpu().numpy()
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def _scaled(points: np.ndarray) -> np.ndarray:
    """Points, (n, 2), in pixels of the map."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.asarray(MARGIN + (points - low) / np.maximum(high - low, 1e-9) * (SIZE - 2 * MARGIN))


def _lines(points: np.ndarray, rows: np.ndarray, wrong: np.ndarray) -> list[Html]:
    """The members of each group connected through their centre, so that groups of any size look similar."""
    parts: dict[bool, list[str]] = {False: [], True: []}  # wrong groups last: on top of the others
    for group in np.unique(rows):
        own = points[rows == group]
        x, y = own.mean(axis=0)
        parts[bool(wrong[group])] += [f"M{x:.0f} {y:.0f}L{left:.0f} {top:.0f}" for left, top in own]
    return [
        element("path", d="".join(lines), class_="join wrong" if is_wrong else "join")
        for is_wrong, lines in parts.items()
        if lines
    ]


def _symbols(subject: Subject, points: np.ndarray, columns: np.ndarray, entities: np.ndarray) -> list[Html]:
    parts = []
    for kg in np.unique(columns):
        graph = subject.alignment.task.kgs[kg]
        own = columns == kg
        symbols = [
            element("path", element("title", f"{shortened(name)} ({graph.name})"), d=_shape(int(kg), x, y))
            for name, (x, y) in zip(graph.display(entities[own]), points[own], strict=True)
        ]
        parts.append(element("g", joined(symbols), class_=f"symbol colour-{kg % COLOURS}"))
    return parts


def _legend(subject: Subject, shown: list[int]) -> Html:
    keys = []
    for kg in shown:
        symbol = element("path", d=_shape(kg, 8, 8), class_=f"symbol colour-{kg % COLOURS}")
        key = element("svg", symbol, viewBox="0 0 16 16", aria_hidden="true", class_="key")
        keys.append(element("li", key, element("bdi", subject.found.kg_names[kg])))
    return element("ul", *keys, class_="legend")


def _shape(kg: int, x: float, y: float) -> str:
    """The symbol of a KG around a point: disc, square, triangle, diamond or inverted triangle."""
    return (
        f"M{x - 4:.1f} {y:.1f}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        f"M{x - 3.5:.1f} {y - 3.5:.1f}h7v7h-7z",
        f"M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z",
        f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5-5z",
        f"M{x:.1f} {y + 4.5:.1f}l4.5-8h-9z",
    )[kg % SHAPES]
