"""The waterfall of a group: how many log-odds each kind of evidence and each later step add or take away."""

from __future__ import annotations

from collections.abc import Mapping

from multiea.report.charts import picture
from multiea.report.markup import Html, element

WATERFALL = (
    "The bars of a group are log-odds, as means over its pairs: what each kind of evidence says, what competition with "
    "rivals, third KGs and calibration change, and the sum. The command multiea explain shows one pair in detail."
)
WIDTH, ROW, LABEL, NUMBER = 320, 18, 84, 48  # pixels: of all, of a row's height, of labels and of numbers


def waterfall(group_id: str, steps: Mapping[str, float]) -> Html:
    """One bar per step; each begins where the one before it ends, and the last one is the sum."""
    total = sum(steps.values())
    spans, level = [], 0.0
    for name, value in steps.items():
        spans.append((name, level, level + value))
        level += value
    spans.append(("sum", 0.0, total))
    low, high = (pick(end for _, *ends in spans for end in ends) for pick in (min, max))
    scale = (WIDTH - LABEL - NUMBER) / max(high - low, 1e-9)
    parts = []
    for row, (name, before, after) in enumerate(spans):
        left, right = sorted(LABEL + (end - low) * scale for end in (before, after))
        middle = row * ROW + 13
        sign = "plus" if after >= before else "minus"
        parts += [
            element("text", name, x=0, y=middle),
            element(
                "rect", x=round(left, 1), y=row * ROW + 4, width=round(max(right - left, 1), 1), height=ROW - 8,
                class_=f"bar step {sign}",
            ),
            element("text", f"{after - before:+.1f}", x=WIDTH, y=middle, text_anchor="end"),
        ]  # fmt: skip
    words = ", ".join(f"{name} {after - before:+.1f}" for name, before, after in spans)
    title = f"Log-odds of group {group_id}"
    drawn = picture(title, words, parts, WIDTH, len(spans) * ROW)
    return element("figure", element("figcaption", title), drawn, class_="steps")
