"""The case study of the paper: ten groups that were found, as a table of names and as a t-SNE plot of embeddings."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from multiea.api import align
from multiea.data.benchmarks import RECIPES
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.foundation import progress
from multiea.foundation.errors import SettingError
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.judging import judged_groups
from multiea.report.tsne import HOW_TO_GET_IT, has_tsne, project
from multiea.reproduction.benchmark_tasks import TRAIN_RATIO, TaskOf
from multiea.reproduction.page_parts import table_header, table_row
from multiea.settings.engines import default_training

log = logging.getLogger("multiea")
GROUPS = 10
MAX_PERPLEXITY = 10.0
SIZE, EDGE = 480, 40
COLOURS = ("#2a6f97", "#c1440e", "#4d7c0f", "#7b2d8b", "#8a6d00", "#5c5c5c")
SHAPES = (
    '<circle cx="{x}" cy="{y}" r="5"/>',
    '<rect x="{left}" y="{top}" width="9" height="9"/>',
    '<path d="M{x} {top} l5 9 h-10 z"/>',
    '<path d="M{x} {top} l5 5 l-5 5 l-5 -5 z"/>',
)


def case_study(task_of: TaskOf, folder: Path, names: Sequence[str], *, quick: bool, device: str) -> list[Path]:
    """Ten groups found by MultiEA+each, as a table and as a plot; returns the files written to the folder.

    They contain names of the benchmark's entities, so they are written next to the data, not to the documentation.
    """
    training = replace(default_training("multiea"), strategy="each")
    if quick:
        training = replace(training, epochs=60, dimensions=64)
    written = []
    folder.mkdir(parents=True, exist_ok=True)
    for data in RECIPES:
        task = task_of(data, 0, TRAIN_RATIO)
        with progress.stage(f"ten groups of {data}, with MultiEA+each"):
            alignment = align(task, engine="multiea", training=training, device=device)
        chosen = _most_confident_complete(alignment)
        if not len(chosen):
            log.warning("no complete group was found on %s; the case study has nothing to show", task.name)
            continue
        if "figure-case-study" in names:
            written.append(folder / f"case-study-{data}.md")
            written[-1].write_text(_table(alignment, chosen), encoding="utf-8")
        if "figure-tsne" in names:
            written.append(folder / f"tsne-{data}.svg")
            written[-1].write_text(_plot(alignment, chosen), encoding="utf-8")
    return written


def _most_confident_complete(alignment: AlignmentResult) -> np.ndarray:
    """The rows of the complete found groups with the highest minimum confidence, right or wrong."""
    complete = np.flatnonzero(alignment.found.groups.present.all(axis=1))
    lowest = alignment.found.confidence[complete].min(axis=1)
    return complete[np.argsort(-lowest, kind="stable")[:GROUPS]]


def _table(alignment: AlignmentResult, chosen: np.ndarray) -> str:
    groups, kgs = alignment.found.groups.take(chosen), alignment.task.kgs
    judged, right = judged_groups(groups, alignment.task.held_out, whole=True)
    text = f"# Ten groups that MultiEA+each finds on {alignment.task.name}\n\n"
    text += "The most confident complete groups. Right: as judged by the held-out groups.\n\n"
    text += table_header([*groups.kg_names, "confidence", "right"])
    for row, members in enumerate(groups.members):
        names = [_display_name(kg, int(member)).replace("|", "\\|") for kg, member in zip(kgs, members, strict=True)]
        confidence = alignment.found.confidence[chosen[row]].min()
        verdict = ("yes" if right[row] else "no") if judged[row] > 0 else "unknown"
        text += table_row([*names, f"{confidence:.2f}", verdict])
    return text


def _display_name(kg: KnowledgeGraph, entity: int) -> str:
    name = None if kg.names is None else kg.names[entity]
    return str(kg.entities[entity] if name is None else name)


def _plot(alignment: AlignmentResult, chosen: np.ndarray) -> str:
    """The members of groups on a plane (t-SNE), as SVG: one colour and shape per KG, one polygon per group."""
    groups, kgs = alignment.found.groups.take(chosen), alignment.task.kgs
    ids = (groups.members + alignment.task.entity_offsets[:-1]).ravel()
    points = project(alignment.embeddings_of(ids).cpu().numpy(), MAX_PERPLEXITY).reshape(*groups.members.shape, 2)
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    points = EDGE + (points - low) / np.maximum(high - low, 1e-9) * (SIZE - 2 * EDGE)  # (groups, M, 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif" font-size="12">'
    ]
    for members in points:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in members)
        parts.append(f'<polygon points="{line}" fill="none" stroke="#222" stroke-width="0.8"/>')
    for number, kg in enumerate(kgs):
        names = [_display_name(kg, int(member)) for member in groups.members[:, number]]
        parts.append(_points_of_kg(number, kg.name, names, points[:, number]))
    return "\n".join([*parts, "</svg>", ""])


def _points_of_kg(number: int, kg_name: str, names: Sequence[str], points: np.ndarray) -> str:
    """The points of one KG, (groups, 2), with the names of their entities, and the KG's entry in the legend."""
    shape = SHAPES[number % len(SHAPES)]
    parts = [f'<g fill="{COLOURS[number % len(COLOURS)]}">']
    for name, (x, y) in zip(names, points, strict=True):
        point = shape.format(x=f"{x:.1f}", y=f"{y:.1f}", left=f"{x - 4.5:.1f}", top=f"{y - 5:.1f}")
        parts.append(point.replace("/>", f"><title>{escape(name)}</title></{point[1:].split()[0]}>"))
    at = 10 + 90 * number
    legend = shape.format(x=at, y=12, left=at - 4.5, top=7)
    parts.append(legend + f'<text x="{at + 9}" y="16">{escape(kg_name)}</text>')
    return "\n".join([*parts, "</g>"])


def check_tsne_is_installed() -> None:
    """Raises an error, before any long computation, if the plot cannot be made."""
    if not has_tsne():
        raise SettingError(f"figure-tsne needs openTSNE: {HOW_TO_GET_IT}")
