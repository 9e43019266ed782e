"""The page's beginning: the summary, the KGs, and how many groups join each two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from multiea.foundation.errors import counted
from multiea.report.markup import Cell, Content, Html, Section, element, joined, paragraph, table
from multiea.report.subject import Subject

MOST_KGS = 30  # of the overlap table; the KG table has all
DEEPEST = 0.55  # shade, which still lets words be read


def summary(subject: Subject) -> Section:
    """What was aligned, what came of it, and how far to trust it."""
    alignment, task, found = subject.alignment, subject.alignment.task, subject.found
    inside, total = sum(int(part.sum()) for part in subject.grouped), sum(map(len, subject.grouped))
    figures: list[tuple[str, Content, str]] = [
        ("KGs", len(task.kgs), f"{total:,} entities"),
        ("Seeds", len(subject.known), "known groups, learned from"),
        ("Groups found", len(found), f"{len(found.complete):,} of them in all KGs"),
        ("Entities in groups", _percent(inside / max(total, 1)), f"{inside:,}; {total - inside:,} left alone"),
    ]
    if len(found):
        middle = float(np.median(subject.confidence))
        figures.append(("Median confidence", f"{middle:.2f}", "half of the groups found are surer"))
    if subject.scores:
        pairs = subject.scores["pairs"]
        said = f"precision {pairs['precision']:.1%}, recall {pairs['recall']:.1%}"
        figures.append(("F1 of pairs", _percent(pairs["f1"]), said))
    if isinstance(seconds := _seconds(subject).get("total"), int | float):
        peak = subject.metrics.get("peak_rss_mb")
        figures.append(("Time", f"{seconds:,.1f} s", f"{peak:,.0f} MB of memory at most" if peak else "in all"))
    tiles = [
        element("div", element("dt", name), element("dd", element("b", value), element("span", said)))
        for name, value, said in figures
    ]
    graphs, engine = counted(len(task.kgs), "knowledge graph"), alignment.settings.engine
    sentence = f"{graphs} (KGs) were aligned by engine {engine}: {', '.join(task.kg_names)}."
    terms = "A group holds entities that are the same thing, at most one of each KG; seeds are groups known beforehand."
    parts = [paragraph(sentence), paragraph(terms), element("dl", *tiles, class_="tiles"), paragraph(_trust(subject))]
    if len(task.open_seeds):
        looked_for = alignment.history.get("open_seeds", {})
        counts = ", ".join(f"{count['found']:,} of {count['looked_for']:,} in {kg}" for kg, count in looked_for.items())
        told = f"{counted(len(task.open_seeds), 'seed')} were known before a KG was added to which nothing ties them. "
        parts.append(paragraph(f"{told}Their members there were looked for, and found for {counts}."))
    if len(alignment.duplicates):
        more = counted(len(alignment.duplicates), "further entity")
        parts.append(paragraph(f"Found groups hold {more} as duplicates of a member of the same KG."))
    return Section("summary", "Summary", joined(parts))


def _trust(subject: Subject) -> str:
    calibration = subject.alignment.calibration
    told = "Confidences are plain scores, no probabilities: too few seeds could be held back to learn from."
    if calibration.examples:
        pairs = counted(calibration.examples, "pair")
        told = "Confidences are probabilities: how often scores like these are right was learned from "
        told += f"{pairs} found without some of the seeds and judged by these. "
        told += f"Entities with a confidence below {calibration.threshold:.2f} were left alone, in no group."
    if not subject.scores:
        told += " No groups were held out, so nothing could be scored."
    return told


def kgs(subject: Subject) -> Section:
    """Each KG with its counts."""
    triples = subject.missing_triples is None
    header = [
        "KG",
        "entities",
        *(["relations", "triples"] if triples else []),
        "in groups",
        "left alone",
        "share alone",
    ]
    rows: list[list[Content]] = []
    for kg, inside in zip(subject.alignment.task.kgs, subject.grouped, strict=True):
        size, grouped = len(inside), int(inside.sum())
        counts = [len(kg.relations), len(kg.triples)] if triples else []
        rows.append(
            [element("bdi", kg.name), size, *counts, grouped, size - grouped, _percent(1 - grouped / max(size, 1))]
        )
    made = table("What each KG holds", header, rows)
    if subject.missing_triples is not None:
        made = joined([made, paragraph(_no_triples(subject.missing_triples), class_="note")])
    return Section("kgs", "Knowledge graphs", made)


def _no_triples(reason: str) -> str:
    told = f"Relations, triples and the evidence behind groups are not shown: {reason}"
    return told if told.endswith((".", "!", "?")) else told + "."


def overlap(subject: Subject) -> Section:
    """How many groups join each two KGs, seeds and found ones, shaded by their number."""
    task = subject.alignment.task
    seeds, found = subject.known.overlap(), subject.found.overlap()
    both = seeds + found
    kept = np.sort(np.argsort(-np.diagonal(both), kind="stable")[:MOST_KGS])
    names = [task.kg_names[kg] for kg in kept]
    most = max(int((both - np.diag(np.diagonal(both)))[np.ix_(kept, kept)].max(initial=0)), 1)
    rows = []
    for a, name in zip(kept, names, strict=True):
        cells = [_cell(int(seeds[a, b]), int(found[a, b]), most, own=a == b) for b in kept]
        rows.append([element("bdi", name), *cells])
    told = "Each cell: how many groups have members in both KGs, and below it seeds + found. "
    told += "The stronger the shade, the more. On the diagonal, all groups with a member in the KG."
    parts = [paragraph(told)]
    if len(kept) < len(task.kgs):
        parts.append(paragraph(f"Only the {len(kept)} KGs with the most members of {len(task.kgs)} are shown."))
    header = ["KG", *(element("bdi", name) for name in names)]
    joint = table("Groups that join each two KGs", header, rows, class_="heat")
    of_seeds, of_found = subject.known.by_size(), subject.found.by_size()
    shown: list[list[Content]] = [
        [counted(size, "KG"), of_seeds[size], of_found[size]] for size in of_found if of_seeds[size] or of_found[size]
    ]
    sizes = table("Groups by number of KGs", ["members in", "seeds", "found"], shown)
    parts.append(element("div", joint, sizes, class_="beside"))
    return Section("overlap", "Overlap of the KGs", joined(parts))


def _cell(seeds: int, found: int, most: int, *, own: bool) -> Cell:
    content = (element("b", seeds + found), element("small", f"{seeds:,} + {found:,}"))
    if own:
        return Cell(element("td", *content, class_="number own"))
    share = round((seeds + found) / most * DEEPEST, 3)
    return Cell(element("td", *content, class_="number", style=f"--shade:{share}"))


def _seconds(subject: Subject) -> dict[str, Any]:
    seconds = subject.metrics.get("seconds", subject.alignment.seconds)
    return dict(seconds)


def _percent(share: float) -> Html:
    return Html(f"{share:.1%}")
