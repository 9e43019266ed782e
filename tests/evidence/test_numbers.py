"""Numeric properties: which correspond is found from the values, whatever their names and units are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from multiea.evidence.anchors import Anchors
from multiea.evidence.numbers import FEWEST_ANCHORS, grid_tokens, quantities

SIZE = 40


def table(**properties: np.ndarray) -> pl.DataFrame:
    """Numbers of the entities 0, 1, ... of one KG."""
    parts = [
        pl.DataFrame(
            {"entity": np.arange(len(values), dtype=np.int32), "property": name, "number": values.astype(float)}
        )
        for name, values in properties.items()
    ]
    return pl.concat(parts)


def same_entities(count: int = SIZE, kgs: int = 2) -> Anchors:
    places = np.arange(count)
    return {(a, b): (places, places) for a in range(kgs) for b in range(a + 1, kgs)}


def shared_tokens(tables: list[pl.DataFrame], anchors: Anchors) -> np.ndarray:
    """How many tokens each entity of the first KG shares with each of the second."""
    found = quantities(tables, anchors)
    sets: list[list[set[str]]] = []
    for number, one in enumerate(tables):
        of_entity = grid_tokens(one, number, found).group_by("row").agg("token")
        tokens = dict(of_entity.iter_rows())
        sets.append([set(tokens.get(entity, ())) for entity in range(SIZE)])
    return np.array([[len(one & other) for other in sets[1]] for one in sets[0]])


@pytest.fixture
def seconds() -> np.ndarray:
    return np.random.default_rng(0).integers(60, 600, SIZE).astype(float)


def test_seconds_and_milliseconds_under_other_names_correspond(seconds: np.ndarray) -> None:
    left = table(length=seconds, year=np.random.default_rng(1).integers(1950, 2020, SIZE))
    right = table(duration_ms=seconds * 1000 + np.random.default_rng(2).normal(size=SIZE))
    (found,) = quantities([left, right], same_entities())
    assert set(found.factors) == {(0, "length"), (1, "duration_ms")}
    assert found.factors[0, "length"] / found.factors[1, "duration_ms"] == pytest.approx(1000, rel=1e-3)


def test_factors_of_three_kgs_agree(seconds: np.ndarray) -> None:
    tables = [table(s=seconds), table(ms=seconds * 1000), table(minutes=seconds / 60)]
    (found,) = quantities(tables, same_entities(kgs=3))
    values = [float(seconds[0]), float(seconds[0] * 1000), float(seconds[0] / 60)]
    scaled = [value * found.factors[key] for value, key in zip(values, sorted(found.factors), strict=True)]
    assert sorted(found.factors) == [(0, "s"), (1, "ms"), (2, "minutes")]
    np.testing.assert_allclose(scaled, scaled[0], rtol=1e-3)


def test_equal_values_share_the_most_tokens_and_distant_ones_none() -> None:
    sizes = np.sort(np.random.default_rng(3).lognormal(10, 2, SIZE))
    noisy = sizes * (1 + 0.001 * np.random.default_rng(4).normal(size=SIZE))
    shared = shared_tokens([table(population=sizes), table(people=noisy)], same_entities())
    assert (shared.argmax(axis=1) == np.arange(SIZE)).mean() > 0.9
    assert shared[0, -1] == shared[-1, 0] == 0
    assert shared.diagonal().min() > 0


def test_a_property_that_nothing_corresponds_to_gives_no_token(seconds: np.ndarray) -> None:
    left, right = table(length=seconds, random=np.random.default_rng(5).random(SIZE) * 100), table(length=seconds)
    found = quantities([left, right], same_entities())
    alone = left.filter(pl.col("property") == "random")
    assert len(found) == 1
    assert len(grid_tokens(left, 0, found)) > 0
    assert len(grid_tokens(alone, 0, found)) == 0


@pytest.mark.parametrize("choices", [[2000], [1, 2], [1999, 2000, 2001]])
def test_values_that_agree_by_chance_are_no_correspondence(choices: list[int]) -> None:
    rng = np.random.default_rng(6)
    one, other = (rng.choice(choices, SIZE) for _ in range(2))
    assert quantities([table(a=one), table(b=other)], same_entities()) == []


def test_too_few_anchors_are_no_correspondence(seconds: np.ndarray) -> None:
    tables = [table(a=seconds), table(b=seconds)]
    assert quantities(tables, same_entities(FEWEST_ANCHORS - 1)) == []
    assert len(quantities(tables, same_entities(FEWEST_ANCHORS + 12))) == 1


def test_each_property_corresponds_to_the_one_that_agrees_best(seconds: np.ndarray) -> None:
    rng = np.random.default_rng(7)
    often_wrong = np.where(rng.random(SIZE) < 0.5, seconds, rng.permutation(seconds))
    found = quantities([table(length=seconds), table(length=often_wrong, time=seconds)], same_entities())
    assert [set(one.factors) for one in found] == [{(0, "length"), (1, "time")}]


@pytest.mark.parametrize("values", [np.linspace(-60, 60, SIZE), np.r_[0.0, np.linspace(1, 9, SIZE - 1)]])
def test_negative_numbers_and_zero_are_compared_as_well(values: np.ndarray) -> None:
    shared = shared_tokens([table(latitude=values), table(lat=values)], same_entities())
    assert (shared.diagonal() == shared.max(axis=1)).all()
    assert shared.diagonal().min() > 0
