"""Numeric properties: which of one KG speak of the same as which of another, in what units, and how exactly.

This is learned from anchors, pairs of entities that are probably the same: two properties correspond if their values
agree in many anchors, up to a constant factor such as that of seconds and milliseconds, and rarely in shuffled ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from multiea.evidence.anchors import MOST_ANCHORS, Anchors

FEWEST_ANCHORS = 8
LEAST_AGREEMENT = 0.3  # share of the anchors in which the values of two properties agree
LEAST_GAIN = 3.0  # how many times more often than in shuffled anchors
TOLERANCE = 0.02  # relative difference of two values that agree
WIDTHS = (1.0, 5.0, 25.0, 125.0)  # of the cells of a grid, in units of the usual difference
SIGNIFICANT_DIGITS = (3, 4, 5)
LEAST_STEP, LEAST_RELATIVE_STEP = 1e-9, 1e-6


@dataclass(frozen=True)
class Quantity:
    """What corresponding properties of several KGs measure.

    factors: what the values of each property, (KG, property), are multiplied by. step: the usual difference of two
    values of the same entity; of their logarithms where is_relative.
    """

    factors: Mapping[tuple[int, str], float]
    step: float
    is_relative: bool


def quantities(tables: Sequence[pl.DataFrame], anchors: Anchors) -> list[Quantity]:
    """The corresponding numeric properties of all KGs; tables: entity, property, number of each KG."""
    links = []
    anchors = {pair: some_anchors(*ends) for pair, ends in anchors.items()}
    numbers = [_FirstNumbers(table) for table in tables]
    for (a, b), (left, right) in sorted(anchors.items()):
        columns = [numbers[a].of_all(left), numbers[b].of_all(right)]
        for p, x in columns[0].items():
            for q, y in columns[1].items():
                agreement, factor = _agreement(x, y)
                if agreement:
                    links.append((-agreement, (a, p), (b, q), factor))
    clusters = _joined(sorted(links))
    return [_quantity(cluster, numbers, anchors) for cluster in clusters]


def some_anchors(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most so many anchors, evenly chosen: more would not say more."""
    step = max(1, -(-len(left) // MOST_ANCHORS))
    return left[::step], right[::step]


def rounded_tokens(table: pl.DataFrame) -> pl.DataFrame:
    """Tokens of the numbers of one KG, whatever they measure: rounded to some significant digits."""
    parts = [pl.DataFrame(schema={"row": pl.Int64, "token": pl.String})]
    for digits in SIGNIFICANT_DIGITS:
        token = f"~{digits}:" + (table["number"].round_sig_figs(digits) + 0.0).cast(pl.String)
        parts.append(pl.DataFrame({"row": table["entity"].cast(pl.Int64), "token": token}))
    return pl.concat(parts)


def grid_tokens(table: pl.DataFrame, kg: int, found: Sequence[Quantity]) -> pl.DataFrame:
    """Tokens of the numbers of one KG: cells of grids of several widths, each also shifted by half a cell."""
    parts = [pl.DataFrame(schema={"row": pl.Int64, "token": pl.String})]
    for number, quantity in enumerate(found):
        for (owner, name), factor in quantity.factors.items():
            if owner != kg:
                continue
            own = table.filter(pl.col("property") == name)
            value = own["number"].to_numpy() * factor
            if quantity.is_relative:
                value = np.log(np.maximum(np.abs(value), 1e-300))
            for place, width in enumerate(WIDTHS):
                for shift in (0.0, 0.5):
                    cell = np.floor(value / (width * quantity.step) + shift)
                    token = pl.Series(f"#{number}.{place}.{shift}:", [f"#{number}.{place}.{shift}:"]).new_from_index(
                        0, len(cell)
                    ) + pl.Series(cell).cast(pl.Int64, strict=False).cast(pl.String)
                    parts.append(pl.DataFrame({"row": own["entity"].cast(pl.Int64), "token": token}))
    return pl.concat(parts)


class _FirstNumbers:
    """The first number of each entity and property of one KG; table: entity, property, number."""

    def __init__(self, table: pl.DataFrame) -> None:
        first = table.sort("property", "entity", "number")
        first = first.unique(["property", "entity"], keep="first", maintain_order=True)
        self._of: dict[str, tuple[np.ndarray, ...]] = {
            str(name): (part["entity"].to_numpy(), part["number"].to_numpy(), part["number"].is_not_null().to_numpy())
            for (name,), part in first.group_by("property", maintain_order=True)
        }

    def of_all(self, entities: np.ndarray) -> dict[str, np.ndarray]:
        """For each property the numbers of some entities, NaN without one; properties that few of them have are not."""
        columns = {name: self.of(name, entities) for name in self._of}
        return {name: values for name, values in columns.items() if values is not None}

    def of(self, name: str, entities: np.ndarray) -> np.ndarray | None:
        """The numbers of one property; None where few of the entities have any."""
        if name not in self._of:
            return None
        owners, numbers, is_stated = self._of[name]
        place = np.minimum(np.searchsorted(owners, entities), len(owners) - 1)
        has_one = (owners[place] == entities) & is_stated[place]
        return np.where(has_one, numbers[place], np.nan) if np.count_nonzero(has_one) >= FEWEST_ANCHORS else None


def _agreement(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The share of anchors in which two properties agree, and the factor of the second; zero if by chance."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if len(x) < FEWEST_ANCHORS:
        return 0.0, 1.0
    best = (0.0, 1.0)
    positive = (x > 0) & (y > 0)
    ratio = np.median(x[positive] / y[positive]) if positive.sum() >= FEWEST_ANCHORS else 1.0
    for factor in dict.fromkeys([1.0, 1.0 if abs(ratio - 1) < 2 * TOLERANCE else float(ratio)]):
        share = _share_agreeing(x, factor * y)
        chance = _share_by_chance(x, factor * y)
        if share >= LEAST_AGREEMENT and share >= LEAST_GAIN * chance:
            best = max(best, (float(share), factor))
    return best


def _share_agreeing(x: np.ndarray, y: np.ndarray) -> float:
    return float((np.abs(x - y) <= TOLERANCE * np.maximum(np.abs(x), np.abs(y)) + 1e-12).mean())


def _share_by_chance(x: np.ndarray, y: np.ndarray) -> float:
    """The share of all pairs of values that agree, from sorted values: whatever the order of the entities is."""
    y, bounds = np.sort(y), np.stack([x * (1 - TOLERANCE), x / (1 - TOLERANCE)])
    first, last = bounds.min(axis=0) - 1e-12, bounds.max(axis=0) + 1e-12
    return float((np.searchsorted(y, last, "right") - np.searchsorted(y, first, "left")).mean() / len(y))


def _joined(
    links: Sequence[tuple[float, tuple[int, str], tuple[int, str], float]],
) -> list[dict[tuple[int, str], float]]:
    """Properties joined greedily, the best agreement first; at most one property per KG in a cluster, with factors."""
    cluster_of: dict[tuple[int, str], dict[tuple[int, str], float]] = {}
    for _, one, other, factor in links:
        left, right = cluster_of.get(one, {one: 1.0}), cluster_of.get(other, {other: 1.0})
        if left is right or {kg for kg, _ in left} & {kg for kg, _ in right}:
            continue
        scale = left[one] * factor / right[other]
        joined = left | {name: value * scale for name, value in right.items()}
        cluster_of |= dict.fromkeys(joined, joined)
    distinct = {id(cluster): cluster for cluster in cluster_of.values()}
    return list(distinct.values())


def _quantity(factors: dict[tuple[int, str], float], numbers: Sequence[_FirstNumbers], anchors: Anchors) -> Quantity:
    """The usual difference between the values of anchors, in absolute or in relative terms, whichever fits better."""
    pairs, name_of = [(np.empty(0), np.empty(0))], dict(factors.keys())
    for pair, ends in anchors.items():
        if any(kg not in name_of for kg in pair):
            continue
        own = [numbers[kg].of(name_of[kg], side) for kg, side in zip(pair, ends, strict=True)]
        sides = [side * factors[kg, name_of[kg]] for kg, side in zip(pair, own, strict=True) if side is not None]
        if len(sides) < len(pair):
            continue
        both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
        pairs.append((sides[0][both], sides[1][both]))
    x, y = (np.concatenate(side) for side in zip(*pairs, strict=True))
    agrees = np.abs(x - y) <= TOLERANCE * np.maximum(np.abs(x), np.abs(y)) + 1e-12
    x, y = x[agrees], y[agrees]
    is_relative = bool((np.concatenate([x, y]) > 0).all() and np.abs(x).max() > 100 * np.abs(x).min())
    if is_relative:
        x, y = np.log(x), np.log(y)
    usual = float(np.median(np.abs(x - y)))
    spread = float(np.quantile(x, 0.9) - np.quantile(x, 0.1)) or 1.0
    return Quantity(factors, max(usual, LEAST_RELATIVE_STEP * 1e3 * spread, LEAST_STEP), is_relative)
