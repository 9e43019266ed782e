"""The section about the distribution of confidences over the found groups."""

from __future__ import annotations

import numpy as np

from multiea.evaluation.self_check import confidence_basis, stay_unmatched
from multiea.foundation.errors import counted
from multiea.report.charts import Axes, axis_range, bars, chart, vertical_line
from multiea.report.markup import Content, Html, Section, as_table, element, joined, paragraph, table
from multiea.report.subject import Subject

ANCHOR, TITLE = "confidences", "Confidences"
BINS = 20
MEANING = (
    "The confidence of a member, from 0 to 1, says how likely it denotes the same thing as the other members of its "
    "group. The confidence of a group is the mean over its members."
)


def confidences(subject: Subject) -> Section:
    """A histogram of the confidences of found groups, complete and partial ones."""
    if not len(subject.found):
        return Section(ANCHOR, TITLE, paragraph("No group was found."))
    edges = np.linspace(0, 1, BINS + 1)
    complete = subject.found.sizes == len(subject.found.kg_names)
    kinds = (("complete groups", complete), ("partial groups", ~complete))
    counts = [(name, np.histogram(subject.confidence[of_kind], edges)[0]) for name, of_kind in kinds if of_kind.any()]
    total = np.sum([count for _, count in counts], axis=0)
    first, median, third = np.quantile(subject.confidence, (0.25, 0.5, 0.75))
    words = f"{counted(len(subject.found), 'group')}; quartiles {first:.2f}, {median:.2f} and {third:.2f}."
    basis = f"Confidences are {confidence_basis(subject.alignment)}."
    rows: list[list[Content]] = [
        [f"{edges[at]:.2f} to {edges[at + 1]:.2f}", *(int(count[at]) for _, count in counts)]
        for at in reversed(np.flatnonzero(total))
    ]
    numbers = table("Found groups by confidence", ["confidence", *(name for name, _ in counts)], rows)
    text = element("div", paragraph(f"{MEANING} {basis}"), paragraph(words))
    side_by_side = element("div", text, _histogram(subject, edges, counts, words), class_="charts")
    return Section(ANCHOR, TITLE, joined([side_by_side, as_table(numbers)]))


def _histogram(subject: Subject, edges: np.ndarray, counts: list[tuple[str, np.ndarray]], description: str) -> Html:
    highest = float(np.sum([count for _, count in counts], axis=0).max())
    axes = Axes((0.0, 1.0), axis_range([highest], whole=True), "confidence", "groups", (False, True))
    parts = [*axes.drawn(), *bars(axes, edges.tolist(), [(name, count.tolist()) for name, count in counts])]
    legend = [(f"series-{number}", name) for number, (name, _) in enumerate(counts)]
    calibration = subject.alignment.calibration
    if (threshold := calibration.threshold) > 0:
        parts.append(vertical_line(axes, threshold))
        legend.append(("threshold-line", f"threshold {threshold:.2f}: entities below it {stay_unmatched(calibration)}"))
    return chart("Confidence of the found groups", description, parts, legend)
