"""Correspondences: a property of one KG and one of another that say the same, and how well their values agree.

Values agree by levels: dates are equal, of the same year, or different; numbers differ by up to 1, 5, 25 or 125 usual
differences, or by more; short texts, such as codes and categories, are equal or different. Several values of one
property cannot conflict: others may state another part of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import polars as pl

from multiea.evidence.keys import Keys, with_codes
from multiea.evidence.numbers import WIDTHS, Quantity
from multiea.evidence.text import plain_text
from multiea.evidence.values import DATE, NUMBER

LONGEST_VALUE = 64  # characters; longer texts are written in many ways
DATES, NUMBERS, EQUALITY = "dates", "numbers", "equality"
LEVELS = {DATES: 3, NUMBERS: len(WIDTHS) + 1, EQUALITY: 2}
UNKNOWN = -1  # the level where a value is missing


@dataclass(frozen=True)
class Correspondence:
    """Two properties, by name, and for each KG their values as numbers, (entities,), NaN where there is none.

    how: the way in which values are compared. step: the usual difference, of numbers.
    """

    properties: tuple[str, str]
    values: tuple[np.ndarray, np.ndarray]
    how: str
    step: float = 1.0

    def levels(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How well some pairs of entities agree, from 0, the best."""
        x, y = self.values[0][left], self.values[1][right]
        if self.how == NUMBERS:
            level = np.searchsorted(WIDTHS, np.abs(x - y) / self.step - 1e-6)
        elif self.how == DATES:
            level = np.where(x == y, 0, np.where(x // 10000 == y // 10000, 1, 2))
        else:
            level = np.where(x == y, 0, 1)
        return np.where(np.isnan(x) | np.isnan(y), UNKNOWN, level)

    def chance(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The share of each level among all pairs of values of some entities of both KGs, (levels,).

        From sorted values, without comparing all pairs, and whatever the order of the entities is.
        """
        sides = (values[ends] for values, ends in zip(self.values, (left, right), strict=True))
        x, y = (np.sort(side[~np.isnan(side)]) for side in sides)
        near = [(x, y, 0.0)]
        if self.how == NUMBERS:
            near = [(x, y, (width + 1e-6) * self.step) for width in WIDTHS]
        elif self.how == DATES:
            near.append((x // 10000, y // 10000, 0.0))
        within = [
            float((np.searchsorted(b, a + width, "right") - np.searchsorted(b, a - width, "left")).sum())
            for a, b, width in near
        ]
        return np.diff([0.0, *within, float(len(x) * len(y))]) / max(len(x) * len(y), 1)


class ComparableValues:
    """The values of all KGs that can agree or conflict. tables: the parsed attributes; sizes: entities of each KG."""

    def __init__(self, tables: Sequence[pl.DataFrame], sizes: Sequence[int], quantities: Sequence[Quantity]) -> None:
        self._tables, self._sizes, self._quantities = tables, sizes, quantities
        self._measured, self._keyed = cache(self._measure), cache(self._key)  # pairs of KGs have properties in common

    @cached_property
    def keys(self) -> list[Keys]:
        """For each KG its dates, codes, categories and whole numbers, written alike."""
        return with_codes([keys_of(table) for table in self._tables])

    def of_numbers(self, a: int, b: int) -> list[Correspondence]:
        """The numbers of two KGs that measure the same."""
        found = []
        for number, quantity in enumerate(self._quantities):
            name = dict(quantity.factors.keys())
            if a in name and b in name:
                left, right = (self._measured(kg, name[kg], number) for kg in (a, b))
                found.append(Correspondence((name[a], name[b]), (left, right), NUMBERS, quantity.step))
        return found

    def of_keys(self, pair: tuple[int, int], properties: tuple[str, str]) -> Correspondence:
        """Two properties of two KGs whose keys may be equal."""
        are_dates = all(self._is_date(kg, name) for kg, name in zip(pair, properties, strict=True))
        left, right = (self._keyed(kg, name, are_dates) for kg, name in zip(pair, properties, strict=True))
        return Correspondence(properties, (left, right), DATES if are_dates else EQUALITY)

    def _measure(self, kg: int, name: str, quantity: int) -> np.ndarray:
        return self._single(kg, _numbers(self._tables[kg], (kg, name), self._quantities[quantity]))

    def _is_date(self, kg: int, name: str) -> bool:
        return bool((self.keys[kg].of_property(name)["kind"] == DATE).all())

    def _key(self, kg: int, name: str, as_dates: bool) -> np.ndarray:
        own = self.keys[kg].of_property(name)
        return self._single(kg, own.with_columns(value=pl.col("key" if as_dates else "code").cast(pl.Float64)))

    def _single(self, kg: int, table: pl.DataFrame) -> np.ndarray:
        """The values of all entities, NaN for those with none or with several."""
        single = table.select("entity", "value").unique().filter(pl.len().over("entity") == 1)
        values = np.full(self._sizes[kg], np.nan)
        values[single["entity"].to_numpy()] = single["value"].to_numpy()
        return values


def keys_of(table: pl.DataFrame) -> pl.DataFrame:
    """Dates, telephone keys, short texts and whole numbers as they are written: these may be codes, 04995 is not 4995.

    Other numbers have none: sources write them in many ways. Nor has a value that is not of the kind of its property:
    it says nothing about what others state.
    """
    is_whole = (pl.col("number") == pl.col("number").round()).fill_null(False)
    is_comparable = (pl.col("kind") != NUMBER) | is_whole
    short = table.filter(pl.col("value").str.len_chars() <= LONGEST_VALUE, is_comparable)
    text = plain_text(short["value"].str.replace(r"^(\d+)\.0+$", "$1")).str.replace_all(" ", "")
    key = pl.when(pl.col("kind") == DATE).then("date").otherwise(pl.coalesce("telephone", text))
    return (
        short.with_columns(key=key)
        .filter(pl.col("key") != "")
        .select(pl.col("entity").cast(pl.Int64), "property", "kind", "key")
        .unique()
        .sort("entity", "property", "key")
    )


def _numbers(table: pl.DataFrame, owner: tuple[int, str], quantity: Quantity) -> pl.DataFrame:
    """The numbers of a property in the units of the quantity: entity, value."""
    own = table.filter(pl.col("property") == owner[1], pl.col("kind") == NUMBER, pl.col("number").is_finite())
    value = own["number"].to_numpy() * quantity.factors[owner]
    if quantity.is_relative:
        value = np.log(np.maximum(np.abs(value), 1e-300))
    return pl.DataFrame({"entity": own["entity"].cast(pl.Int64), "value": value}).sort("entity", "value")
