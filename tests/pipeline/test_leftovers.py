"""Entities without counterpart: tables with nothing in common, and what is left over where most are known."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import Alignment

FIRST = ("Anna", "Bernd", "Clara", "David", "Elena", "Felix", "Greta", "Henrik", "Ines", "Jonas", "Karin", "Lukas")
LAST = ("Adler", "Berger", "Conrad", "Dietz", "Ebner", "Fuchs", "Gruber", "Hansen", "Iversen", "Jensen", "Keller")
MAKERS = ("Acme", "Brixton", "Corvo", "Deltan", "Everly", "Gorman", "Halden", "Isotech", "Jupiter")
THINGS = ("lamp", "kettle", "drill", "speaker", "camera", "printer", "router", "keyboard", "monitor", "heater")


def people(rng: np.random.Generator, names: list[str], prefix: str) -> pl.DataFrame:
    dates = rng.integers((1930, 1, 1), (2000, 13, 29), size=(len(names), 3))
    born = [f"{year}-{month:02d}-{day:02d}" for year, month, day in dates]
    return pl.DataFrame({"id": [f"{prefix}{place}" for place in range(len(names))], "name": names, "born": born})


@pytest.mark.parametrize("state", range(3))
def test_tables_of_different_people_have_hardly_any_group(state: int, caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(state)
    names = [" ".join(pair) for pair in product(FIRST, LAST)]
    names = [names[place] for place in rng.permutation(len(names))]
    half = len(names) // 2
    found = multiea.align({"a": people(rng, names[:half], "a"), "b": people(rng, names[half:], "b")}).pairs
    assert found["confidence"].sum() < 0.05 * half
    assert "the KGs seem to have little in common" in caplog.text  # whether hardly anything or nothing matched


def test_three_rows_that_share_a_word_each_are_far_from_certain() -> None:
    one = pl.DataFrame({"id": ["a1", "a2", "a3"], "name": ["John Smith", "Mary Jones", "Wolfgang Huber"]})
    other = pl.DataFrame({"id": ["b1", "b2", "b3"], "name": ["Smith & Sons Ltd", "Jones Bakery", "Peter Huber"]})
    assert multiea.align({"a": one, "b": other}).pairs["confidence"].to_numpy().max(initial=0) < 0.85


def aligned_products(seeds: int, others: int) -> Alignment:
    """Products whose pairs are all seeds, and as many others in each table as asked for, without counterpart."""
    rng = np.random.default_rng(0)
    models = [f"{letter}{number}" for letter, number in product("ABCDEFGH", range(10, 99))]
    every = [" ".join((*pair, str(rng.choice(models)))) for pair in product(MAKERS, THINGS)]
    names = [every[place] for place in rng.permutation(len(every))[: seeds + 2 * others]]
    shared, own, theirs = names[:seeds], names[seeds : seeds + others], names[seeds + others :]
    tables = {
        kg: pl.DataFrame({"id": [f"{kg}{place}" for place in range(seeds + others)], "name": [*shared, *rest]})
        for kg, rest in (("a", own), ("b", theirs))
    }
    known = pl.DataFrame({kg: [f"{kg}{place}" for place in range(seeds)] for kg in tables})
    return multiea.align(multiea.load(tables, seeds=known))


@pytest.mark.parametrize("seeds", [20, 60])
def test_what_is_left_over_where_all_others_are_seeds_is_not_matched(seeds: int) -> None:
    found = aligned_products(seeds, 10).pairs.filter(pl.col("status") == "found")
    assert found["confidence"].sum() < 1.5


def test_without_seeds_nothing_is_certain() -> None:
    one, other = (people(np.random.default_rng(0), [f"{first} {LAST[0]}" for first in FIRST], kg) for kg in "ab")
    confidence = multiea.align({"a": one, "b": other}).pairs["confidence"].to_numpy()
    assert len(confidence) == len(FIRST)
    assert confidence.min() > 0.9
    assert confidence.max() < 0.999


def test_where_nothing_matched_the_warning_says_so(caplog: pytest.LogCaptureFixture) -> None:
    one = pl.DataFrame({"id": ["a1", "a2"], "name": ["Anna Berger", "hex bolt"]})
    other = pl.DataFrame({"id": ["b1", "b2"], "name": ["lock nut anna", "flat washer"]})
    assert not len(multiea.align({"a": one, "b": other}).pairs)
    assert "nothing matched: the KGs seem to have little in common" in caplog.text
