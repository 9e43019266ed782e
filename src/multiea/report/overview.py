"""The first sections of the page: the summary, the KGs, and how many groups each pair of KGs shares."""

from __future__ import annotations

import numpy as np

from multiea.evaluation.self_check import (
    ESTIMATED,
    confidence_basis,
    doubts,
    evidence_used,
    f1_interval,
    stay_unmatched,
)
from multiea.foundation.errors import SENTENCE_ENDS, counted
from multiea.grouping.calibration import Calibration
from multiea.report.markup import Cell, Content, Html, Section, element, joined, note, paragraph, percent, table
from multiea.report.subject import Subject

MAX_KGS = 30  # in the overlap table; the table of KGs has all
MAX_SHADE = 0.55  # keeps the text on it readable
TERMS = (
    "A group contains entities of different KGs that denote the same thing, at most one per KG. It is complete if it "
    "has a member in every KG, partial otherwise. Seeds are groups that were known before the run."
)


def summary(subject: Subject) -> Section:
    """What was aligned, the main figures, and how to interpret the confidences."""
    task = subject.alignment.task
    tiles = [
        element("div", element("dt", title), element("dd", element("b", value), element("span", detail)))
        for title, value, detail in _figures(subject)
    ]
    kgs = counted(len(task.kgs), "knowledge graph")
    sentence = f"{kgs} (KGs) aligned by the engine {subject.alignment.settings.engine}: {', '.join(task.kg_names)}. "
    sentence += f"Evidence: {', '.join(evidence_used(subject.alignment))}."
    parts = [
        paragraph(sentence),
        paragraph(TERMS),
        element("dl", *tiles, class_="tiles"),
        paragraph(_calibration(subject)),
        *(note(f"Warning: {words}.") for words in doubts(subject.alignment)),
        *_open_seeds(subject),
    ]
    if duplicates := len(subject.alignment.duplicates):
        words = f"The found groups also contain {counted(duplicates, 'duplicate')}: "
        parts.append(paragraph(words + "further entities of a KG that already has a member in the group."))
    return Section("summary", "Summary", joined(parts))


def _figures(subject: Subject) -> list[tuple[str, Content, str]]:
    """The main figures: title, value, detail."""
    found = subject.found
    matched, total = sum(int(part.sum()) for part in subject.matched), sum(map(len, subject.matched))
    figures: list[tuple[str, Content, str]] = [
        ("KGs", len(subject.alignment.task.kgs), f"{total:,} entities"),
        ("Seeds", len(subject.known), "known groups to learn from"),
        ("Groups found", len(found), f"{len(found.complete):,} of them complete"),
        ("Matched entities", percent(matched / max(total, 1)), f"{matched:,} in groups, {total - matched:,} unmatched"),
    ]
    if len(found):
        median = f"{float(np.median(subject.confidence)):.2f}"
        is_estimated = confidence_basis(subject.alignment) == ESTIMATED
        figures.append(("Median confidence", median, ESTIMATED if is_estimated else "of the groups found"))
    if subject.scores:
        pairs = subject.scores["pairs"]
        detail = f"precision {percent(pairs['precision'])}, recall {percent(pairs['recall'])}"
        figures.append(("F1 of pairs", percent(pairs["f1"]), detail))
    seconds = subject.metrics.get("seconds", subject.alignment.seconds).get("total")
    if isinstance(seconds, int | float):
        peak = subject.metrics.get("peak_rss_mb")
        figures.append(("Time", f"{seconds:,.1f} s", f"peak memory {peak:,.0f} MB" if peak else "in total"))
    return figures


def _calibration(subject: Subject) -> str:
    calibration = subject.alignment.calibration
    if calibration.examples:
        pairs = counted(calibration.examples, "pair")
        words = f"Confidences are probabilities. They are calibrated on {pairs} that were found without the validation "
        words += "seeds and then compared with them. "
        words += f"{_unmatched(calibration)} {_validation(calibration)}".strip()
    elif confidence_basis(subject.alignment) == ESTIMATED:
        words = f"Confidences are {ESTIMATED}: no known group could tell how often such scores are right. "
        words += _unmatched(calibration)
    else:
        words = "Confidences are uncalibrated scores, not probabilities: there were too few seeds for validation."
    return words if subject.scores else f"{words} No groups were held out, so the result cannot be scored."


def _unmatched(calibration: Calibration) -> str:
    return f"Entities with a confidence below {calibration.threshold:.2f} {stay_unmatched(calibration)}."


def _validation(calibration: Calibration) -> str:
    f1, interval = calibration.validation_f1, f1_interval(calibration)
    if f1 is None:
        return ""
    words = f"F1 of pairs on the validation seeds is {percent(f1)}"
    if interval is not None:
        low, high = map(percent, interval)
        words += f", 95% interval {low} to {high}, judged by {counted(calibration.validation_groups, 'group')}"
    return f"{words}."


def _open_seeds(subject: Subject) -> list[Html]:
    """How many members were found for open seeds."""
    open_seeds = subject.alignment.task.open_seeds
    if not len(open_seeds):
        return []
    searched = subject.alignment.history.get("open_seeds", {})
    counts = ", ".join(f"{count['found']:,} of {count['looked_for']:,} in '{kg}'" for kg, count in searched.items())
    words = f"{counted(len(open_seeds), 'seed')} are open: their members in some KGs are unknown and were looked for. "
    return [paragraph(f"{words}Members found for them: {counts}.")]


def kgs(subject: Subject) -> Section:
    """The size of each KG and its unmatched entities."""
    with_triples = subject.missing_triples is None
    columns = ["relations", "triples"] if with_triples else []
    header = ["KG", "entities", *columns, "matched", "unmatched", "share unmatched"]
    rows: list[list[Content]] = []
    for kg, matched in zip(subject.alignment.task.kgs, subject.matched, strict=True):
        size, inside = len(matched), int(matched.sum())
        counts = [len(kg.relations), len(kg.triples)] if with_triples else []
        share = percent(1 - inside / max(size, 1))
        rows.append([element("bdi", kg.name), size, *counts, inside, size - inside, share])
    parts = [table("Size of each KG, and how many of its entities are in groups", header, rows)]
    if subject.missing_triples is not None:
        words = f"Relations, triples and shared neighbours are not shown: {subject.missing_triples}"
        parts.append(note(words if words.endswith(SENTENCE_ENDS) else f"{words}."))
    return Section("kgs", "Knowledge graphs", joined(parts))


def overlap(subject: Subject) -> Section:
    """How many groups each pair of KGs shares, and how many groups there are of each size."""
    task = subject.alignment.task
    seeds, found = subject.known.overlap(), subject.found.overlap()
    both = seeds + found
    shown = np.sort(np.argsort(-np.diagonal(both), kind="stable")[:MAX_KGS])
    names = [element("bdi", task.kg_names[kg]) for kg in shown]
    highest = max(int((both - np.diag(np.diagonal(both)))[np.ix_(shown, shown)].max(initial=0)), 1)
    rows = [
        [name, *(_cell(int(seeds[a, b]), int(found[a, b]), highest, on_diagonal=a == b) for b in shown)]
        for a, name in zip(shown, names, strict=True)
    ]
    words = "Each cell shows how many groups have members in both KGs, and below it how many of them are seeds + found "
    words += "groups. A stronger colour means more groups. The diagonal counts all groups with a member in the KG."
    parts = [paragraph(words)]
    if len(shown) < len(task.kgs):
        parts.append(paragraph(f"Only the {len(shown)} of {len(task.kgs)} KGs with the most members are shown."))
    shared = table("Groups shared by each pair of KGs", ["KG", *names], rows, class_="heat")
    seed_sizes, found_sizes = subject.known.by_size(), subject.found.by_size()
    size_rows: list[list[Content]] = [
        [counted(size, "KG"), seed_sizes[size], found_sizes[size]]
        for size in found_sizes
        if seed_sizes[size] or found_sizes[size]
    ]
    sizes = table("Groups by number of KGs with a member", ["members in", "seeds", "found"], size_rows)
    parts.append(element("div", shared, sizes, class_="beside"))
    return Section("overlap", "Overlap of the KGs", joined(parts))


def _cell(seeds: int, found: int, highest: int, *, on_diagonal: bool) -> Cell:
    content = (element("b", seeds + found), element("small", f"{seeds:,} + {found:,}"))
    if on_diagonal:
        return Cell(element("td", *content, class_="number own"))
    shade = round((seeds + found) / highest * MAX_SHADE, 3)
    return Cell(element("td", *content, class_="number", style=f"--shade:{shade}"))
