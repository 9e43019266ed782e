"""Conflicts: corresponding values that differ count against a pair, as far as values of the same entity agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from multiea.evidence.anchors import Anchors
from multiea.evidence.attributes import attribute_tables, numeric_tables
from multiea.evidence.conflicts import MOST_AGAINST, find_conflicts
from multiea.evidence.correspondence import ComparableValues
from multiea.evidence.numbers import FEWEST_ANCHORS, quantities
from support.evidence import table_kg

SIZE = 60
Columns = Mapping[str, Any]


def said(left: Columns, right: Columns, anchors: int = SIZE, wrong: float = 0.0) -> np.ndarray:
    """What conflicts say about all pairs; the first rows of both tables are anchors, of which a share is wrong."""
    kgs = [table_kg("a", **left), table_kg("b", **right)]
    tables, sizes = attribute_tables(kgs), [len(kg.entities) for kg in kgs]
    same: Anchors = {(0, 1): (np.arange(anchors), np.arange(anchors))}
    values = ComparableValues(tables, sizes, quantities(numeric_tables(tables), same))
    row, column = (axis.ravel() for axis in np.indices((sizes[0], sizes[1])))
    return np.asarray(
        find_conflicts(values, same, {(0, 1): wrong})[0, 1].at(row, column, (sizes[0], sizes[1])).toarray()
    )


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def dates(rng: np.random.Generator, count: int = SIZE) -> list[str]:
    years, months, days = rng.integers(1900, 2000, count), rng.integers(1, 13, count), rng.integers(1, 29, count)
    return [f"{year}-{month:02}-{day:02}" for year, month, day in zip(years, months, days, strict=True)]


def codes(rng: np.random.Generator, count: int = SIZE) -> list[str]:
    return [f"978{number}" for number in rng.integers(10**9, 10**10, count)]


def test_dates_that_differ_count_against_a_pair_and_equal_ones_do_not(rng: np.random.Generator) -> None:
    born = dates(rng)
    written = [".".join(reversed(date.split("-"))) for date in born]
    found = said({"born": born}, {"dob": written})
    assert (np.diag(found) == 0).all()
    other_year = np.array([[one[:4] != other[:4] for other in born] for one in born])
    assert (found[other_year] < -3).all()


def test_dates_of_the_same_year_count_less_where_days_are_often_unknown(rng: np.random.Generator) -> None:
    """Some sources write the first of January for a year."""
    born = dates(rng)
    rough = [f"{date[:4]}-01-01" if number % 3 == 0 else date for number, date in enumerate(born)]
    found = said({"born": born}, {"dob": rough})
    assert (np.diag(found) == 0).all()
    other_year = np.array([[one[:4] != other[:4] for other in born] for one in born])
    assert (found[other_year] < -3).all()


def test_codes_conflict_in_whatever_way_they_are_written(rng: np.random.Generator) -> None:
    isbn = codes(rng)
    found = said({"isbn": isbn}, {"number": [f"{code[:3]}-{code[3]}-{code[4:8]}-{code[8:]}" for code in isbn]})
    assert (np.diag(found) == 0).all()
    assert (found[~np.eye(SIZE, dtype=bool)] < -3).all()


def test_numbers_conflict_where_they_differ_more_than_usual(rng: np.random.Generator) -> None:
    height = rng.uniform(100, 5000, SIZE).round(1)
    found = said({"height": height}, {"metres": (height + rng.normal(0, 0.5, SIZE)).round(1)})
    assert (np.diag(found) > -1).all()
    assert (found[np.abs(height[:, None] - height[None, :]) > 1000] < -3).all()


def test_a_missing_value_is_neutral(rng: np.random.Generator) -> None:
    born: list[str | None] = [*dates(rng)]
    lacking = [None if number % 4 == 0 else date for number, date in enumerate(born)]
    found = said({"born": born}, {"dob": lacking})
    assert (found[:, ::4] == 0).all()
    assert found[0, 1] < -2


def test_several_values_of_a_property_cannot_conflict(rng: np.random.Generator) -> None:
    """Each side has three of ten tags, whatever the entity is; most anchors share one of them by chance."""
    tags = np.array(["red", "blue", "green", "plain", "dark", "bright", "round", "flat", "long", "short"])
    columns = [[list(rng.choice(tags, 3, replace=False)) for _ in range(SIZE)] for _ in range(2)]
    assert not said({"tag": columns[0]}, {"tag": columns[1]}).any()
    some = [code if number % 3 else [code, f"x{code}"] for number, code in enumerate(codes(rng))]
    found = said({"isbn": some}, {"isbn": some})
    assert not found[::3].any()
    assert found[1, 2] < -2


def test_values_written_alike_do_not_conflict_though_a_column_looks_like_numbers(rng: np.random.Generator) -> None:
    zips = [f"{number:05}" for number in rng.permutation(100_000)[:SIZE]]
    mixed = [f"N{code}" if number % 4 == 0 else code for number, code in enumerate(zips)]
    assert (np.diag(said({"zip": mixed}, {"postcode": mixed})) == 0).all()
    assert not said({"zip": zips}, {"postcode": mixed})[np.arange(1, SIZE, 2), np.arange(1, SIZE, 2)].any()


def test_numbers_correspond_whatever_the_order_of_entities_is(rng: np.random.Generator) -> None:
    height = np.sort(rng.uniform(100, 120, SIZE)).round(2)
    for order in (np.arange(SIZE), rng.permutation(SIZE)):
        found = said({"height": height[order]}, {"metres": height[order]})
        assert found[order == 0].min() < -2


def test_a_property_that_is_often_wrong_hardly_counts(rng: np.random.Generator) -> None:
    isbn, noise = codes(rng), codes(rng)
    often = [wrong if number % 2 else right for number, (right, wrong) in enumerate(zip(isbn, noise, strict=True))]
    assert not said({"isbn": isbn}, {"isbn": often}).any()
    seldom = [
        wrong if number % 6 == 0 else right for number, (right, wrong) in enumerate(zip(isbn, noise, strict=True))
    ]
    exact, noisy = (said({"isbn": isbn}, {"isbn": column})[1, 2] for column in (isbn, seldom))
    assert exact < noisy < 0


def test_properties_that_have_nothing_in_common_are_neutral(rng: np.random.Generator) -> None:
    assert not said({"born": dates(rng), "isbn": codes(rng)}, {"seen": dates(rng), "ean": codes(rng)}).any()


def test_a_category_that_all_entities_share_is_neutral() -> None:
    assert not said({"sort": ["book"] * SIZE}, {"kind": ["book"] * (SIZE - 1) + ["film"]}).any()


def test_wrong_anchors_do_not_make_conflicts_harmless(rng: np.random.Generator) -> None:
    """Two entities with one name are an anchor; that all their values differ says that it is a wrong one."""
    born, isbn = dates(rng), codes(rng)
    wrong = 12
    mixed = {"born": [*dates(rng, wrong), *born[wrong:]], "isbn": [*codes(rng, wrong), *isbn[wrong:]]}
    clean, spoilt = (
        said({"born": born, "isbn": isbn}, right)[-1, 20] for right in ({"born": born, "isbn": isbn}, mixed)
    )
    assert spoilt < 0.8 * clean < 0


def test_a_single_property_conflicts_though_most_anchors_are_namesakes(rng: np.random.Generator) -> None:
    """Less than 30% of the dates are equal, because the other anchors are different people of the same name."""
    born, wrong = dates(rng), 45
    mixed = {"dob": [*dates(rng, wrong), *born[wrong:]]}
    assert not said({"born": born}, mixed).any()
    found = said({"born": born}, mixed, wrong=wrong / SIZE)
    assert (np.diag(found)[wrong:] == 0).all()
    assert (np.diag(found)[:wrong] < -1.5).mean() > 0.8


def test_wrong_anchors_are_no_excuse_for_values_that_differ_more_often(rng: np.random.Generator) -> None:
    isbn, other = codes(rng), codes(rng)
    often = [wrong if number % 2 else right for number, (right, wrong) in enumerate(zip(isbn, other, strict=True))]
    assert not said({"isbn": isbn}, {"isbn": often}, wrong=0.1).any()


def test_few_anchors_say_nothing(rng: np.random.Generator) -> None:
    isbn = codes(rng)
    assert not said({"isbn": isbn}, {"isbn": isbn}, FEWEST_ANCHORS - 1).any()
    assert said({"isbn": isbn}, {"isbn": isbn}, FEWEST_ANCHORS).any()


def test_many_conflicts_are_bounded(rng: np.random.Generator) -> None:
    table: Columns = {f"code{number}": codes(rng) for number in range(6)}
    assert said(table, table).min() == -MOST_AGAINST


def test_the_order_of_entities_changes_no_conflict_of_a_pair(rng: np.random.Generator) -> None:
    """The same anchors, in the same order, among entities of another order."""
    born, isbn = dates(rng), codes(rng)
    extra = {"born": [*born, *dates(rng, 5)], "isbn": [*isbn, *codes(rng, 5)]}
    found = said(extra, {"dob": born, "number": isbn})
    assert (found[:SIZE] == said({"born": born, "isbn": isbn}, {"number": isbn, "dob": born})).all()
