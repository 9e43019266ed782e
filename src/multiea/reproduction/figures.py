"""Table 1, and the paper's case study: ten groups found, with names, and their embeddings on a plane."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from multiea.api import align
from multiea.data.benchmarks import RECIPES, Build, differences
from multiea.foundation import progress
from multiea.foundation.errors import SettingError
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.judging import judged_groups
from multiea.report.tsne import HOW_TO_GET_IT, has_tsne, project
from multiea.reproduction.pages import QUICK
from multiea.reproduction.running import TRAIN_RATIO, TaskOf
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


def statistics(task_of: TaskOf, *, quick: bool) -> str:
    """Table 1: what is in the data sets, beside the published counts."""
    text = "# Table 1: the data sets\n\n" + (f"{QUICK}\n\n" if quick else "")
    text += "Entities, relations and triples of each KG: published, then ours.\n"
    for data, recipe in RECIPES.items():
        task = task_of(data, 0, TRAIN_RATIO)
        text += f"\n## {data}\n| KG | entities | relations | triples |\n|---|---|---|---|\n"
        for kg in task.kgs:
            said = recipe.published.get(kg.name)
            counts = (len(kg.entities), len(kg.relations), len(kg.triples))
            published = (None,) * 3 if said is None else (said.entities, said.relations, said.triples)
            cells = [
                f"{ours:,}" if one is None else f"{one:,}, {ours:,}"
                for one, ours in zip(published, counts, strict=True)
            ]
            text += f"| {kg.name} | " + " | ".join(cells) + " |\n"
        text += f"\nGroups: {recipe.published_groups:,}, {len(task.known):,}.\n"
        text += "" if quick else "".join(f"\n- {note}" for note in differences(Build(data), task)) + "\n"
    return text + f"\nMade by `multiea reproduce table-1 {'--quick' if quick else '--source FOLDER'}`.\n"


def case_study(task_of: TaskOf, folder: Path, names: Sequence[str], *, quick: bool, device: str) -> list[Path]:
    """Ten groups found by MultiEA+each, as a table and as a picture; files below a folder.

    They hold names of the benchmark's entities, so they lie beside the data and not in the documentation.
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
        chosen = _surest_complete(alignment)
        if not len(chosen):
            log.warning("no complete group was found on %s: there is nothing to show", task.name)
            continue
        if "figure-case-study" in names:
            written.append(folder / f"case-study-{data}.md")
            written[-1].write_text(_table(alignment, chosen), encoding="utf-8")
        if "figure-tsne" in names:
            written.append(folder / f"tsne-{data}.svg")
            written[-1].write_text(picture(alignment, chosen), encoding="utf-8")
    return written


def _surest_complete(alignment: AlignmentResult) -> np.ndarray:
    """The rows of the complete groups found whose weakest member is surest; whether they are right is not asked."""
    complete = np.flatnonzero(alignment.found.groups.present.all(axis=1))
    weakest = alignment.found.confidence[complete].min(axis=1)
    return complete[np.argsort(-weakest, kind="stable")[:GROUPS]]


def _table(alignment: AlignmentResult, chosen: np.ndarray) -> str:
    groups, kgs = alignment.found.groups.take(chosen), alignment.task.kgs
    judged, right = judged_groups(groups, alignment.task.held_out, whole=True)
    text = f"# Ten groups MultiEA+each finds on {alignment.task.name}\n\n"
    text += "The surest complete ones; `right` by held-out groups.\n\n"
    text += "| " + " | ".join([*groups.kg_names, "confidence", "right"]) + " |\n" + "|---" * (len(kgs) + 2) + "|\n"
    for row, members in enumerate(groups.members):
        names = [_label(kg, int(member)).replace("|", "\\|") for kg, member in zip(kgs, members, strict=True)]
        sure = alignment.found.confidence[chosen[row]].min()
        verdict = ("yes" if right[row] else "no") if judged[row] > 0 else "unknown"
        text += "| " + " | ".join([*names, f"{sure:.2f}", verdict]) + " |\n"
    return text


def _label(kg: Any, member: int) -> str:
    label = None if kg.names is None else kg.names[member]
    return str(kg.entities[member] if label is None else label)


def picture(alignment: AlignmentResult, chosen: np.ndarray) -> str:
    """Members of groups on a plane (t-SNE), one colour and shape a KG, joined by lines; as SVG."""
    groups, kgs = alignment.found.groups.take(chosen), alignment.task.kgs
    ids = (groups.members + alignment.task.entity_offsets[:-1]).ravel()
    points = project(alignment.embeddings[ids].float().cpu().numpy(), MAX_PERPLEXITY).reshape(*groups.members.shape, 2)
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    points = EDGE + (points - low) / np.maximum(high - low, 1e-9) * (SIZE - 2 * EDGE)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif" font-size="12">'
    ]
    for members in points:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in members)
        parts.append(f'<polygon points="{line}" fill="none" stroke="#222" stroke-width="0.8"/>')
    for number, kg in enumerate(kgs):
        shape = SHAPES[number % len(SHAPES)]
        parts.append(f'<g fill="{COLOURS[number % len(COLOURS)]}">')
        for row, (x, y) in enumerate(points[:, number]):
            name = escape(_label(kg, int(groups.members[row, number])))
            mark = shape.format(x=f"{x:.1f}", y=f"{y:.1f}", left=f"{x - 4.5:.1f}", top=f"{y - 5:.1f}")
            parts.append(mark.replace("/>", f"><title>{name}</title></{mark[1:].split()[0]}>"))
        at = 10 + 90 * number
        parts.append(
            shape.format(x=at, y=12, left=at - 4.5, top=7) + f'<text x="{at + 9}" y="16">{escape(kg.name)}</text>'
        )
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def need_tsne() -> None:
    """Says before long work that the picture could not be made."""
    if not has_tsne():
        raise SettingError(f"figure-tsne needs openTSNE: {HOW_TO_GET_IT}")
