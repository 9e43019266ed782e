"""Reasons say what is true: ties are ties, and values that agree do not stand below "too different"."""

from __future__ import annotations

import polars as pl
import pytest

import multiea
from multiea import Alignment
from multiea.explain.facts import NamePair

CITIES = ["Oslo", "Bergen", "Paris", "Lyon", "Berlin", "Hamburg", "Vienna", "Graz"]


@pytest.fixture(scope="module")
def tied() -> Alignment:
    """Two tables; `b` has Oslo twice, with the same values. All rows share the same colour."""
    colour = ["light blue"] * 8
    a = pl.DataFrame({"id": range(8), "name": CITIES, "colour": colour})
    b = pl.DataFrame({"id": range(20, 29), "name": [*CITIES, "Oslo"], "colour": [*colour, "light blue"]})
    return multiea.align({"a": a.with_columns(size=1), "b": b.with_columns(size=1)})


def test_a_tie_is_said_to_be_a_tie(tied: Alignment) -> None:
    verdicts = [tied.explain("a/0", other).verdict for other in ("b/20", "b/28")]
    assert all("equally well (both score" in verdict for verdict in verdicts), verdicts


def test_no_two_equal_numbers_are_said_to_differ(tied: Alignment) -> None:
    for other in range(20, 29):
        verdict = tied.explain("a/0", f"b/{other}").verdict
        if "not 0." in verdict:
            better, own = verdict.split("(score ")[1].split(")")[0].split(", not ")
            assert better != own


def test_values_that_agree_do_not_stand_below_too_different() -> None:
    syllables = ["ba", "ko", "mi", "ru", "te", "zo", "la", "fi", "gu", "ne", "po", "xi"]
    places = [(i, i // 12, i * 7, i * 5 + 3) for i in range(120)]
    names = ["".join(syllables[place % 12] for place in of_name) for of_name in places]
    colours = ["light blue" if row % 2 else "dark red" for row in range(120)]
    table = pl.DataFrame({"id": range(120), "name": names, "colour": colours, "size": 1})
    alignment = multiea.align({"a": table, "b": table.with_columns(id=pl.col("id") + 1000)})
    same_colour, other_colour = ({step.name: step for step in alignment.explain("a/1", other).steps} for other in
                                 ("b/1003", "b/1002"))  # fmt: skip
    assert str(same_colour["attributes"].facts[0]) == "colour 'light blue' = colour 'light blue'"
    assert "not among the 20 most similar of either" in same_colour["attributes"].note
    assert other_colour["attributes"].note == "too different to be candidates"


def test_names_that_do_not_count_as_similar_are_said_to_differ() -> None:
    assert str(NamePair("Oslo", "Bergen", are_similar=False)) == "'Oslo' differs from 'Bergen'"
    assert str(NamePair("Oslo", "Osló")) == "'Oslo' ~ 'Osló'"
