"""The section with all scores against held-out groups: F1, precision, recall, reliability, M-Hits@K, Hits@K, MRR."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from multiea.foundation.errors import counted
from multiea.report.charts import Axes, chart, line
from multiea.report.markup import (
    Content,
    Html,
    Section,
    as_table,
    collapsible,
    element,
    joined,
    paragraph,
    percent,
    table,
)
from multiea.report.subject import Subject

SHARES = (0.0, 1.0)
CANDIDATES = {"test": "held-out entities", "all": "all non-seed entities"}  # by the name of the pool
DEFINITIONS = (
    "A pair is two entities of one group; it is correct if both are in one held-out group. A group is correct if it "
    "equals a held-out group. Pairs and groups about which the held-out groups say nothing are not counted. Precision "
    "is the share of what was found that is correct, recall the share of what was held out that was found, and F1 "
    "their harmonic mean."
)
M_HITS = (
    "M-Hits@K is the share of complete held-out groups in which the counterparts of a member in all other KGs are "
    "among the K most similar candidates."
)
HITS = "Hits@K: share of entities whose counterpart is among the K most similar candidates. MRR: mean reciprocal rank. "
HITS += "Both are means over both directions."


def scores(subject: Subject) -> Section | None:
    """Scores against held-out groups; None if no groups are held out."""
    if not subject.scores:
        return None
    confidence = subject.scores["confidence"]
    held_out = counted(len(subject.alignment.task.held_out), "known group")
    words = f"{held_out} were held out: the run never used them, and here its result is compared with them. "
    rows = [
        [what, *(percent(subject.scores[what][name]) for name in ("f1", "precision", "recall"))]
        for what in ("pairs", "groups")
    ]
    charts = [_precision_recall(confidence["curve"]), _reliability(confidence["reliability"], confidence["ece"])]
    parts = [
        paragraph(words + DEFINITIONS),
        table("Scores of the found pairs and groups", ["what", "F1", "precision", "recall"], rows),
        element("div", *(drawn for drawn in charts if drawn), class_="charts"),
        *_ranking(subject.metrics),
    ]
    return Section("scores", "Scores against held-out groups", joined(parts))


def _precision_recall(curve: list[dict[str, float]]) -> Html | None:
    if not curve:
        return None
    axes = Axes(SHARES, SHARES, "recall", "precision")
    recall, precision = ([point[name] for point in curve] for name in ("recall", "precision"))
    words = f"From the most confident pairs (precision {precision[0]:.1%}, recall {recall[0]:.1%}) "
    words += f"to all found pairs (precision {precision[-1]:.1%}, recall {recall[-1]:.1%})."
    parts = [*axes.drawn(), *line(axes, recall, precision, "series-0", dots=True)]
    rows = [[f"{point[name]:.3f}" for name in ("confidence", "precision", "recall")] for point in curve]
    numbers = table("Precision and recall by threshold", ["confidence at least", "precision", "recall"], rows)
    return element("div", chart("Precision and recall of pairs, by threshold", words, parts), as_table(numbers))


def _reliability(rows: list[dict[str, float]], error: float) -> Html | None:
    if not rows:
        return None
    axes = Axes(SHARES, SHARES, "confidence", "share correct")
    predicted, observed = ([row[name] for row in rows] for name in ("predicted", "observed"))
    parts = [*axes.drawn(), *line(axes, [0, 1], [0, 1], "ideal")]
    parts += line(axes, predicted, observed, "series-0", dots=True, weights=[row["pairs"] for row in rows])
    words = "The confidence of pairs against the share of them that is correct; larger dots stand for more pairs. "
    words += f"The expected calibration error is {error:.3f}; 0 is perfect."
    cells: list[list[Content]] = [
        [f"{row['predicted']:.3f}", f"{row['observed']:.3f}", int(row["pairs"])] for row in rows
    ]
    numbers = table("Reliability by confidence", ["mean confidence", "share correct", "pairs"], cells)
    legend = [
        ("series-0", f"this run; larger dots: more pairs; expected calibration error {error:.3f}"),
        ("ideal", "perfect calibration"),
    ]
    return element("div", chart("Reliability diagram of the confidences", words, parts, legend), as_table(numbers))


def _ranking(metrics: Mapping[str, Any]) -> list[Html]:
    """Scores of the ranking of counterparts, if the run was evaluated: M-Hits@K, then Hits@K and MRR by pair of KGs."""
    m_hits, hits, mrr = (metrics.get(name, {}) for name in ("m_hits", "hits", "mrr"))
    parts = []
    if m_hits:
        ks = _ks(m_hits.values())
        rows = [
            [CANDIDATES.get(pool, pool), *(percent(of_pool.get(k)) for k in ks)] for pool, of_pool in m_hits.items()
        ]
        parts += [paragraph(M_HITS), table("M-Hits@K", ["candidates", *(f"@{k}" for k in ks)], rows)]
    if hits:
        ks = _ks(of_pair for of_pool in hits.values() for of_pair in of_pool.values())
        rows = [
            [
                element("bdi", pair),
                CANDIDATES.get(pool, pool),
                *(percent(of_pair.get(k)) for k in ks),
                percent(mrr.get(pool, {}).get(pair)),
            ]
            for pool, of_pool in hits.items()
            for pair, of_pair in of_pool.items()
        ]
        header = ["KGs", "candidates", *(f"@{k}" for k in ks), "MRR"]
        parts.append(collapsible("Hits@K and MRR by pair of KGs", table(HITS, header, rows, text_columns=2)))
    return parts


def _ks(scores: Iterable[Mapping[str, float | None]]) -> list[str]:
    """All K of Hits@K that occur in the scores."""
    return list(dict.fromkeys(k for by_rank in scores for k in by_rank))
