"""Charts as inline SVG, each with a title and a description for those who do not see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multiea.report.markup import Html, element, joined

WIDTH, HEIGHT = 360, 240  # in pixels on a narrow screen, so that letters stay legible
LEFT, RIGHT, TOP, BOTTOM = 52, 22, 28, 40  # room for the longest numbers, also half of one beyond the last tick
TICKS = 5
MOST_POINTS = 300  # of a line; more cannot be told apart


@dataclass(frozen=True)
class Axes:
    """Where values lie on a chart; counted: which of the two, x and y, are whole numbers."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    counted: tuple[bool, bool] = (False, False)

    def x(self, value: float) -> float:
        """From the left, in pixels."""
        return LEFT + _share(value, self.x_range) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """From the top, in pixels."""
        return HEIGHT - BOTTOM - _share(value, self.y_range) * (HEIGHT - TOP - BOTTOM)

    def drawn(self) -> list[Html]:
        """Lines, ticks and words of both axes."""
        bottom = HEIGHT - BOTTOM
        parts = []
        for value in ticks(*self.y_range, whole=self.counted[1]):
            y = self.y(value)
            parts.append(_line(LEFT, y, WIDTH - RIGHT, y, "grid"))
            parts.append(element("text", brief(value), x=LEFT - 6, y=_n(y + 4), text_anchor="end"))
        for value in ticks(*self.x_range, whole=self.counted[0]):
            x = self.x(value)
            parts.append(_line(x, bottom, x, bottom + 4, "axis"))
            parts.append(element("text", brief(value), x=_n(x), y=bottom + 17, text_anchor="middle"))
        parts.append(_line(LEFT, bottom, WIDTH - RIGHT, bottom, "axis"))
        x_middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(element("text", self.x_label, x=_n(x_middle), y=HEIGHT - 6, text_anchor="middle"))
        parts.append(element("text", self.y_label, x=0, y=12))  # lying: no number of the axis is ever in its way
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
    """One line through points, thinned out where there are many; weights make dots larger or smaller."""
    finite = np.flatnonzero(np.isfinite(np.asarray(x, float)) & np.isfinite(np.asarray(y, float)))
    kept = finite[np.unique(np.linspace(0, len(finite) - 1, min(len(finite), MOST_POINTS)).astype(int))]
    places = [(axes.x(x[at]), axes.y(y[at])) for at in kept]
    points = " ".join(f"{_n(left)},{_n(top)}" for left, top in places)
    parts = [element("polyline", points=points, class_=f"line {class_}")] if len(places) > 1 else []
    heaviest = max(weights, default=1)
    if dots or len(places) == 1:
        for at, (left, top) in zip(kept, places, strict=True):
            title = element("title", f"{axes.x_label} {brief(x[at])}, {axes.y_label} {brief(y[at])}")
            radius = 2 + 5 * (weights[at] / heaviest) ** 0.5 if len(weights) else 3
            parts.append(element("circle", title, cx=_n(left), cy=_n(top), r=_n(radius), class_=f"dot {class_}"))
    return parts


def bars(axes: Axes, edges: Sequence[float], stacked: Sequence[tuple[str, Sequence[int]]]) -> list[Html]:
    """Counts between edges, one kind on top of the other: (name, counts) each."""
    parts, below = [], np.zeros(len(edges) - 1)
    for number, (name, counts) in enumerate(stacked):
        for at in np.flatnonzero(np.asarray(counts)).tolist():
            left, right = axes.x(edges[at]), axes.x(edges[at + 1])
            top, foot = axes.y(below[at] + counts[at]), axes.y(below[at])
            title = element("title", f"{brief(edges[at])} to {brief(edges[at + 1])}: {int(counts[at]):,} {name}")
            size = {"width": _n(max(right - left - 1, 0.5)), "height": _n(foot - top)}
            parts.append(element("rect", title, x=_n(left + 0.5), y=_n(top), **size, class_=f"bar series-{number}"))
        below += np.asarray(counts)
    return parts


def upright(axes: Axes, value: float) -> Html:
    """A line at one value of x; the legend says what it is, where no bar can hide the words."""
    return _line(axes.x(value), TOP, axes.x(value), HEIGHT - BOTTOM, "mark-line")


def chart(title: str, description: str, parts: Sequence[Html], legend: Sequence[tuple[str, str]] = ()) -> Html:
    """A figure with its title; legend: (class, words) of what is drawn."""
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
    """An SVG that says what it shows."""
    drawn = joined([element("title", title), element("desc", description), *parts])
    return element("svg", drawn, viewBox=f"0 0 {width} {height}", role="img", aria_label=f"{title}. {description}")


def ticks(low: float, high: float, *, whole: bool = False) -> list[float]:
    """A few round values from low to high."""
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


def room_for(values: Sequence[float], *, whole: bool = False) -> tuple[float, float]:
    """A range that holds all values: from zero, or from the least value below it, to a tick at or above the highest."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min([*finite, 0.0]), max([*finite, 0.0]) or 1.0
    step = _step(low, high, whole=whole)
    return low, max(high, round(step * math.ceil(high / step - 0.01), 12))


def brief(value: float) -> str:
    """A number in few letters."""
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
    return element("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_=class_)


def _n(value: float) -> str:
    """A place in pixels, to a tenth: more would only make the page longer."""
    return f"{value:.1f}".removesuffix(".0")
