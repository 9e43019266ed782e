"""How sure the groups are and how far that can be believed: confidences, precision and recall, reliability, scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from multiea.foundation.errors import counted
from multiea.report.charts import Axes, bars, chart, line, room_for, upright
from multiea.report.markup import Content, Html, Section, element, folded, joined, paragraph, table
from multiea.report.subject import Subject

BINS = 20
SHARES = (0.0, 1.0)
CANDIDATES = {"test": "held-out entities", "all": "all entities but seeds"}  # by the name of their pool
M_HITS = "M-Hits@K is how often all counterparts of an entity, one in each other KG, are among the K most similar."
HITS = "Hits@K: how often the counterpart is among the K most similar; MRR: mean reciprocal rank; both directions"


def confidences(subject: Subject) -> Section:
    """The distribution of confidences over found groups."""
    title = "Confidences"
    if not len(subject.found):
        return Section("confidences", title, paragraph("No group was found."))
    edges = np.linspace(0, 1, BINS + 1)
    complete = subject.found.sizes == len(subject.found.kg_names)
    kinds = (("in all KGs", complete), ("in some KGs", ~complete))
    counts = [(name, np.histogram(subject.confidence[of_kind], edges)[0]) for name, of_kind in kinds if of_kind.any()]
    highest = float(sum(count for _, count in counts).max())  # type: ignore[union-attr]
    axes = Axes(SHARES, room_for([highest], whole=True), "confidence", "groups", (False, True))
    parts = [*axes.drawn(), *bars(axes, edges.tolist(), [(f"groups {name}", count.tolist()) for name, count in counts])]
    quarters = ", ".join(f"{value:.2f}" for value in np.quantile(subject.confidence, (0.25, 0.5, 0.75)))
    told = f"{counted(len(subject.found), 'group')}; a quarter, a half and three quarters lie below {quarters}."
    legend = [(f"series-{number}", f"groups {name}") for number, (name, _) in enumerate(counts)]
    threshold = subject.alignment.calibration.threshold
    if threshold > 0:
        parts.append(upright(axes, threshold))
        legend.append(("mark-line", f"below {threshold:.2f}: left alone"))
    drawn = chart("Confidence of found groups", told, parts, legend)
    shown = np.flatnonzero(sum(count for _, count in counts))
    rows: list[list[Content]] = [
        [f"{edges[at]:.2f} to {edges[at + 1]:.2f}", *(int(count[at]) for _, count in counts)] for at in reversed(shown)
    ]
    numbers = table("Found groups by confidence", ["confidence", *(name for name, _ in counts)], rows)
    words = "The confidence of a member, from 0 to 1, says how surely it is the same thing as another member of its "
    words += "group; that of a group is the mean of its members'."
    beside = element("div", element("div", paragraph(words), paragraph(told)), drawn, class_="charts")
    return Section("confidences", title, joined([beside, folded("The same as numbers", numbers)]))


def scores(subject: Subject) -> Section | None:
    """Scores against held-out groups; nothing where none were held out."""
    if not subject.scores:
        return None
    confidence = subject.scores["confidence"]
    held_out = counted(len(subject.alignment.task.held_out), "group")
    words = f"{held_out} were known and held out: the run never saw them, and is scored by them here. "
    words += "A pair is two entities of one group; it is right if both sit in one known group, and a group is right if "
    words += "it equals a known one, as far as that is known. What cannot be judged does not count. Precision is the "
    words += "share of what was found that is right, recall the share of what is known that was found, F1 their "
    words += "harmonic mean."
    rows = [[what, *(f"{subject.scores[what][name]:.1%}" for name in ("precision", "recall", "f1"))]
            for what in ("pairs", "groups")]  # fmt: skip
    found = table("Scores of what was found", ["what", "precision", "recall", "F1"], rows)
    over_all, of_pairs = _ranked(subject.metrics)
    parts = [paragraph(words), *([paragraph(M_HITS)] if over_all else [])]
    parts += [element("div", found, *over_all, class_="beside"), *of_pairs]
    charts = [_precision_recall(confidence["curve"]), _reliability(confidence["reliability"], confidence["ece"])]
    parts.append(element("div", *(drawn for drawn in charts if drawn), class_="charts"))
    return Section("scores", "Scores against held-out groups", joined(parts))


def _precision_recall(curve: list[dict[str, float]]) -> Html | None:
    if not curve:
        return None
    axes = Axes(SHARES, SHARES, "recall", "precision")
    recall, precision = ([point[name] for point in curve] for name in ("recall", "precision"))
    told = f"From the surest pairs (precision {precision[0]:.1%}, recall {recall[0]:.1%}) "
    told += f"to all that were found (precision {precision[-1]:.1%}, recall {recall[-1]:.1%})."
    parts = [*axes.drawn(), *line(axes, recall, precision, "series-0", dots=True)]
    rows = [[f"{point[name]:.3f}" for name in ("confidence", "precision", "recall")] for point in curve]
    numbers = table("Precision and recall by confidence", ["confidence from", "precision", "recall"], rows)
    return _with_numbers(chart("Precision and recall of pairs, the surest first", told, parts), numbers)


def _reliability(rows: list[dict[str, float]], error: float) -> Html | None:
    if not rows:
        return None
    axes = Axes(SHARES, SHARES, "confidence", "share right")
    predicted, observed = ([row[name] for row in rows] for name in ("predicted", "observed"))
    parts = [*axes.drawn(), *line(axes, [0, 1], [0, 1], "ideal")]
    parts += line(axes, predicted, observed, "series-0", dots=True, weights=[row["pairs"] for row in rows])
    told = "What confidences promise against what came true, larger dots for more pairs; "
    told += f"calibration error {error:.3f}, 0 being perfect."
    cells: list[list[Content]] = [
        [f"{row['predicted']:.3f}", f"{row['observed']:.3f}", int(row["pairs"])] for row in rows
    ]
    numbers = table("Reliability by tenths of confidence", ["mean confidence", "share right", "pairs"], cells)
    legend = [
        ("series-0", f"this run (calibration error {error:.3f}); larger dots: more pairs"),
        ("ideal", "perfect: right as often as the confidence says"),
    ]
    return _with_numbers(chart("Reliability of confidences", told, parts, legend), numbers)


def _with_numbers(drawn: Html, numbers: Html) -> Html:
    return element("div", drawn, folded("The same as numbers", numbers))


def _ranked(metrics: Mapping[str, Any]) -> tuple[list[Html], list[Html]]:
    """How high counterparts rank, where the run has been scored so: over all KGs, and between each two."""
    m_hits, hits, mrr = (metrics.get(name, {}) for name in ("m_hits", "hits", "mrr"))
    over_all, of_pairs = [], []
    if m_hits:
        ks = _ranks(m_hits.values())
        rows = [
            [CANDIDATES.get(pool, pool), *(_percent(of_pool.get(k)) for k in ks)] for pool, of_pool in m_hits.items()
        ]
        over_all.append(table("M-Hits@K", ["among", *(f"@{k}" for k in ks)], rows))
    if hits:
        ks = _ranks(of_pair for of_pool in hits.values() for of_pair in of_pool.values())
        rows = [
            [
                element("bdi", pair),
                CANDIDATES.get(pool, pool),
                *(_percent(of_pair.get(k)) for k in ks),
                _percent(mrr.get(pool, {}).get(pair)),
            ]
            for pool, of_pool in hits.items()
            for pair, of_pair in of_pool.items()
        ]
        header = ["KGs", "among", *(f"@{k}" for k in ks), "MRR"]
        of_pairs.append(folded("Hits of each two KGs", table(HITS, header, rows, words=2)))
    return over_all, of_pairs


def _ranks(scores: Iterable[Mapping[str, float | None]]) -> list[str]:
    """The K of Hits@K that any of the scores has."""
    return list(dict.fromkeys(k for by_rank in scores for k in by_rank))


def _percent(score: float | None) -> str:
    return "-" if score is None else f"{score:.1%}"
