"""Charts as inline SVG, each with a title and a description for screen readers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multiea.report.markup import Html, element, joined

WIDTH, HEIGHT = 360, 240  # pixels on a narrow screen; larger would make the text too small to read
LEFT, RIGHT, TOP, BOTTOM = 52, 22, 28, 40  # space for the longest numbers, and for half of one beyond the last tick
TICKS = 5
MAX_POINTS = 300  # of a line; more cannot be distinguished


@dataclass(frozen=True)
class Axes:
    """The axes of a chart; whole: whether x, and whether y, are whole numbers."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    whole: tuple[bool, bool] = (False, False)

    def x(self, value: float) -> float:
        """The position of a value, in pixels from the left."""
        return LEFT + _share(value, self.x_range) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """The position of a value, in pixels from the top."""
        return HEIGHT - BOTTOM - _share(value, self.y_range) * (HEIGHT - TOP - BOTTOM)

    def drawn(self) -> list[Html]:
        """Lines, ticks and labels of both axes."""
        bottom = HEIGHT - BOTTOM
        parts = []
        for value in ticks(*self.y_range, whole=self.whole[1]):
            y = self.y(value)
            parts.append(_line(LEFT, y, WIDTH - RIGHT, y, "grid"))
            parts.append(element("text", short_number(value), x=LEFT - 6, y=_px(y + 4), text_anchor="end"))
        for value in ticks(*self.x_range, whole=self.whole[0]):
            x = self.x(value)
            parts.append(_line(x, bottom, x, bottom + 4, "axis"))
            parts.append(element("text", short_number(value), x=_px(x), y=bottom + 17, text_anchor="middle"))
        parts.append(_line(LEFT, bottom, WIDTH - RIGHT, bottom, "axis"))
        x_middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(element("text", self.x_label, x=_px(x_middle), y=HEIGHT - 6, text_anchor="middle"))
        parts.append(element("text", self.y_label, x=0, y=12))  # horizontal, above the axis: never overlaps its numbers
        return parts


def line(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    class_: str,
    *,
    dots: bool = False,
    weights: Sequence[float] = (),
) -> list[Html]:
    """A line through at most MAX_POINTS of the points; weights set the sizes of the dots."""
    finite = np.flatnonzero(np.isfinite(np.asarray(x, float)) & np.isfinite(np.asarray(y, float)))
    kept = finite[np.unique(np.linspace(0, len(finite) - 1, min(len(finite), MAX_POINTS)).astype(int))]
    places = [(axes.x(x[at]), axes.y(y[at])) for at in kept]
    points = " ".join(f"{_px(left)},{_px(top)}" for left, top in places)
    parts = [element("polyline", points=points, class_=f"line {class_}")] if len(places) > 1 else []
    heaviest = max(weights, default=1)
    if dots or len(places) == 1:
        for at, (left, top) in zip(kept, places, strict=True):
            title = element("title", f"{axes.x_label} {short_number(x[at])}, {axes.y_label} {short_number(y[at])}")
            radius = 2 + 5 * (weights[at] / heaviest) ** 0.5 if len(weights) else 3
            parts.append(element("circle", title, cx=_px(left), cy=_px(top), r=_px(radius), class_=f"dot {class_}"))
    return parts


def bars(axes: Axes, edges: Sequence[float], stacked: Sequence[tuple[str, Sequence[int]]]) -> list[Html]:
    """A stacked histogram; stacked: the name of each series and its counts between the edges."""
    parts, below = [], np.zeros(len(edges) - 1)
    for number, (name, counts) in enumerate(stacked):
        for at in np.flatnonzero(np.asarray(counts)).tolist():
            left, right = axes.x(edges[at]), axes.x(edges[at + 1])
            top, foot = axes.y(below[at] + counts[at]), axes.y(below[at])
            title = element(
                "title", f"{short_number(edges[at])} to {short_number(edges[at + 1])}: {int(counts[at]):,} {name}"
            )
            size = {"width": _px(max(right - left - 1, 0.5)), "height": _px(foot - top)}
            parts.append(element("rect", title, x=_px(left + 0.5), y=_px(top), **size, class_=f"bar series-{number}"))
        below += np.asarray(counts)
    return parts


def vertical_line(axes: Axes, value: float) -> Html:
    """A line at one value of x; the legend explains it, since text next to the line would overlap with bars."""
    return _line(axes.x(value), TOP, axes.x(value), HEIGHT - BOTTOM, "threshold-line")


def chart(title: str, description: str, parts: Sequence[Html], legend: Sequence[tuple[str, str]] = ()) -> Html:
    """A figure with its title; legend: the CSS class and the text of each entry."""
    keys = [
        element("li", element("span", class_=f"key {class_}", aria_hidden="true"), words) for class_, words in legend
    ]
    return element(
        "figure",
        element("figcaption", title),
        picture(title, description, parts, WIDTH, HEIGHT),
        *([element("ul", *keys, class_="legend")] if keys else []),
    )


def picture(title: str, description: str, parts: Sequence[Html], width: int, height: int) -> Html:
    """An SVG with a title and a description."""
    drawn = joined([element("title", title), element("desc", description), *parts])
    return element("svg", drawn, viewBox=f"0 0 {width} {height}", role="img", aria_label=f"{title}. {description}")


def ticks(low: float, high: float, *, whole: bool = False) -> list[float]:
    """A few round values between low and high."""
    if not high > low:
        return [low]
    step = _step(low, high, whole=whole)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]


def _step(low: float, high: float, *, whole: bool) -> float:
    rough = (high - low) / TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    return max(step, 1.0) if whole else step


def axis_range(values: Sequence[float], *, whole: bool = False) -> tuple[float, float]:
    """A range that includes all values and zero, and ends at a tick."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min([*finite, 0.0]), max([*finite, 0.0]) or 1.0
    step = _step(low, high, whole=whole)
    return low, max(high, round(step * math.ceil(high / step - 0.01), 12))


def short_number(value: float) -> str:
    """A number in few characters: 12.5k, 0.25, 2.5e-4."""
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / unit:,.4g}{letter}"
    if 0 < abs(value) < 1e-3:
        digits, power = f"{value:.2e}".split("e")
        return f"{float(digits):g}e{int(power)}"
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def _share(value: float, limits: tuple[float, float]) -> float:
    low, high = limits
    return (value - low) / (high - low) if high > low else 0.0


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return element("line", x1=_px(x1), y1=_px(y1), x2=_px(x2), y2=_px(y2), class_=class_)


def _px(value: float) -> str:
    """A coordinate in pixels, rounded to a tenth to keep the page small."""
    return f"{value:.1f}".removesuffix(".0")
