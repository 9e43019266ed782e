"""Lookalikes: groups that chance explains are not found, those that it does not explain are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import multiea
from multiea.evaluation.self_check import doubts
from multiea.evidence import lookalikes
from multiea.evidence.features import Features

GIVEN = [
    "James",
    "Mary",
    "Robert",
    "Patricia",
    "John",
    "Jennifer",
    "Michael",
    "Linda",
    "David",
    "Susan",
    "Joseph",
    "Karen",
]
SURNAMES = [
    "Smith",
    "Johnson",
    "Williams",
    "Brown",
    "Jones",
    "Garcia",
    "Miller",
    "Davis",
    "Wilson",
    "Anderson",
    "Taylor",
    "Moore",
    "Jackson",
    "Lee",
]
ROWS = 80


def day(rng: np.random.Generator, year: int, days: int) -> str:
    return str(np.datetime64(f"{year}-01-01") + int(rng.integers(days)))


def people(rng: np.random.Generator, count: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(count)],
            "name": [f"{rng.choice(GIVEN)} {rng.choice(SURNAMES)}" for _ in range(count)],
            "born": [day(rng, 1950, 20_000) for _ in range(count)],
            "phone": [f"0{rng.integers(10**8, 10**9)}" for _ in range(count)],
            "income": rng.lognormal(10.5, 0.4, count).round(-2),
        }
    )


def measurements(rng: np.random.Generator, columns: tuple[str, str, str]) -> pl.DataFrame:
    when, *what = columns
    numbers = {name: rng.lognormal(2 + place, 0.5, ROWS).round(2) for place, name in enumerate(what)}
    return pl.DataFrame(
        {"id": [f"m{row}" for row in range(ROWS)], when: [day(rng, 2020, 300) for _ in range(ROWS)], **numbers}
    )


@pytest.mark.parametrize("random_state", [0, 1, 2])
def test_a_shared_date_makes_no_group(random_state: int) -> None:
    rng = np.random.default_rng(random_state)
    tables = {"rivers": measurements(rng, ("date", "flow", "level")), "rain": measurements(rng, ("day", "mm", "wind"))}
    alignment = multiea.align(tables)
    assert len(alignment.found.groups) <= 1
    assert doubts(alignment)


@pytest.mark.parametrize("random_state", [0, 1, 2])
def test_namesakes_with_other_phones_make_no_group(random_state: int) -> None:
    rng = np.random.default_rng(random_state)
    alignment = multiea.align({name: people(rng, ROWS) for name in ("a", "b")})
    assert len(alignment.found.groups) <= 2


def test_namesakes_do_not_hide_those_who_are_the_same() -> None:
    rng = np.random.default_rng(3)
    same, left, right = people(rng, 12), people(rng, ROWS), people(rng, ROWS)
    tables = {
        name: pl.concat([same, own.with_columns(id="x" + pl.col("id"))]) for name, own in (("a", left), ("b", right))
    }
    pairs = multiea.align(tables).pairs
    right_ones = pairs.filter((pl.col("left") == pl.col("right")) & ~pl.col("left").str.starts_with("x"))
    assert len(right_ones) == len(same)


def test_an_opened_run_scores_as_before_where_nothing_matched(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    alignment = multiea.align({name: people(rng, ROWS) for name in ("a", "b")})
    assert alignment.weights.by_chance
    alignment.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert opened.weights.by_chance == alignment.weights.by_chance
    before, after = (one.similarities("all")[0][0, 1].rows(slice(None)).numpy() for one in (alignment, opened))
    np.testing.assert_array_equal(before, after)


def test_a_sample_is_compared_with_all_others_but_not_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookalikes, "MOST_SAMPLED", 4)
    features = Features.one_each(sp.csr_array(np.eye(10)))
    sample = lookalikes.sampled(features)
    assert sample.entities == 4
    similarity = sp.csr_array(sample.rows @ features.rows.T)
    assert similarity.nnz == 4
    assert not lookalikes.without_themselves(similarity).nnz
