"""Codes: which properties may identify, and how many of their values two sources have in common by chance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from multiea.evidence.attributes import attribute_tables
from multiea.evidence.codes import MOST_SHARING, Codes, codes_of, equal_by_chance, equal_by_repetition
from multiea.evidence.correspondence import keys_of
from multiea.evidence.keys import with_codes
from support.evidence import table_kg

SIZE = 200


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def found(**columns: list[str]) -> dict[str, Codes]:
    (table,) = attribute_tables([table_kg("a", **columns)])
    return {one.name: one for one in codes_of(table, with_codes([keys_of(table)])[0])}


def codes(values: list[str]) -> Codes:
    return found(code=values)["code"]


def numbers(rng: np.random.Generator, digits: int, count: int = SIZE) -> list[str]:
    return [str(number) for number in rng.integers(10 ** (digits - 1), 10**digits, count)]


@pytest.mark.parametrize(
    "code",
    ["{}", "978-{}", "HRB {}", "DE89 3704 {}", "https://shop.example/{}", "user{}@mail.example", "10.1234/x{}"],
)
def test_values_that_hardly_two_entities_share_are_codes(code: str, rng: np.random.Generator) -> None:
    assert set(found(code=[code.format(number) for number in numbers(rng, 8)])) == {"code"}


def test_telephone_numbers_are_codes_however_they_are_written(rng: np.random.Generator) -> None:
    left = found(tel=[f"030/{number}" for number in numbers(rng, 7)])["tel"]
    right = found(phone=[f"+49 30 {number}" for number in numbers(np.random.default_rng(0), 7)])["phone"]
    assert set(left.table["key"]) == set(right.table["key"])


def test_years_ratings_prices_dates_zip_codes_and_titles_are_none(rng: np.random.Generator) -> None:
    columns = {
        "year": [str(year) for year in rng.integers(1950, 2020, SIZE)],
        "rating": [str(stars) for stars in rng.integers(1, 6, SIZE)],
        "price": [f"{price:.2f}" for price in rng.uniform(1, 900, SIZE)],
        "date": [f"{year}-{month:02}-{1 + month:02}" for year, month in rng.integers([1900, 1], [2020, 12], (SIZE, 2))],
        "zip": [f"{10000 + 37 * place}" for place in rng.integers(0, 300, SIZE)],
        "title": [f"Cordless drill no. {number}" for number in numbers(rng, 8)],
    }
    assert not found(**columns)


def test_a_default_value_is_no_code_but_the_others_are(rng: np.random.Generator) -> None:
    ean = numbers(rng, 13)
    own = found(ean=["4000000000000" if place % 3 == 0 else code for place, code in enumerate(ean)])["ean"]
    assert len(own.table) == SIZE - len(range(0, SIZE, 3))
    assert not found(ean=["4000000000000" if place % 3 else code for place, code in enumerate(ean)])


def test_a_value_of_a_few_entities_remains() -> None:
    values = [f"{place:08}" for place in range(SIZE)]
    assert len(codes([*values, *[values[0]] * (MOST_SHARING - 1)]).table) == SIZE + MOST_SHARING - 1


@pytest.mark.parametrize(
    "counted",
    [
        lambda place: f"{place + 1}",
        lambda place: f"K-{10 * place + 10}",
        lambda place: f"{9_000_000_000 + 7 * place}",
        lambda place: f"{[483957, 120384, 993741, 220017][place % 4]}{place // 4:03}",
    ],
)
def test_sources_that_count_for_themselves_have_most_numbers_in_common(
    counted: Callable[[int], str], rng: np.random.Generator
) -> None:
    every = np.array([counted(place) for place in range(SIZE)])
    left, right = (set(rng.permutation(every)[: SIZE * 3 // 4].tolist()) for _ in range(2))
    equal = len(left & right)
    assert equal_by_chance(codes(sorted(left)), codes(sorted(right))) > 0.5 * equal


def test_long_numbers_are_hardly_equal_by_chance(rng: np.random.Generator) -> None:
    ean = numbers(rng, 13)
    assert equal_by_chance(codes(ean[:150]), codes(ean[50:])) < 1e-3


def test_short_numbers_are_sometimes_equal_by_chance(rng: np.random.Generator) -> None:
    left, right = ([*dict.fromkeys(numbers(rng, 4))] for _ in range(2))
    expected = equal_by_chance(codes(left), codes(right))
    assert expected == pytest.approx(len(left) * len(right) / 9000, rel=0.6)


def test_values_that_entities_of_a_source_share_may_be_shared_across_sources_as_well() -> None:
    values = [f"{place // 2:08}" if place < 20 else f"{place:08}" for place in range(SIZE)]
    both = codes(values), codes(values[::2])
    pairs_inside = 20, 0
    share = sum(pairs_inside) / (SIZE * (SIZE - 1) + 100 * 99)
    assert equal_by_repetition(*both) == pytest.approx(SIZE * 100 * share)
    assert equal_by_repetition(both[1], both[1]) == 0
