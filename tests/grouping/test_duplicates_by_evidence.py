"""Tables that repeat rows: duplicates are found by names and attributes, without triples and without seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import SettingError, Task

SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "sab", "vor", "el", "dun", "pix", "gra", "ost", "ha", "ny", "bel", "quo")
ROWS, COPIES = 240, 50


def table(prefix: str, names: list[str], numbers: np.ndarray) -> pl.DataFrame:
    ids = [f"{prefix}{number}" for number in range(len(names))]
    return pl.DataFrame({"id": ids, "name": names, "height": numbers})


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    """Three sources of the same places; the first repeats some rows, with another last letter."""
    rng = np.random.default_rng(0)
    words = [" ".join("".join(rng.choice(SYLLABLES, 3)) for _ in range(2)) for _ in range(ROWS)]
    heights = rng.uniform(10, 5000, ROWS).round(1)
    copies = rng.choice(ROWS, COPIES, replace=False)
    repeated = [*words, *(words[number][:-1] + "z" for number in copies)]
    first = table("a", repeated, np.r_[heights, heights[copies]])
    first = first.with_columns(original=pl.Series([*range(ROWS), *copies]))
    return {"a": first, "b": table("b", words, heights), "c": table("c", words[20:], heights[20:])}


@pytest.fixture(scope="module")
def task(tables: dict[str, pl.DataFrame]) -> Task:
    return multiea.load({name: one.drop("original", strict=False) for name, one in tables.items()})


def pairs_inside(alignment: multiea.Alignment, tables: dict[str, pl.DataFrame]) -> tuple[int, int]:
    """How many pairs of rows of the first source are in one group, and how many of them are right."""
    originals = tables["a"].select(entity="id", original="original")
    own = alignment.groups.filter(pl.col("kg") == "a").join(originals, on="entity")
    together = own.group_by("group_id").agg("original").filter(pl.col("original").list.len() > 1)
    return len(together), int((together["original"].list.n_unique() == 1).sum())


@pytest.mark.parametrize("wanted", ["a", "auto"])
def test_repeated_rows_join_the_group_of_the_row_they_repeat(
    task: Task, tables: dict[str, pl.DataFrame], wanted: str
) -> None:
    alignment = multiea.align(task, duplicates=wanted)
    found, right = pairs_inside(alignment, tables)
    assert right >= 0.9 * found
    assert right >= 0.7 * COPIES
    assert set(alignment.groups.filter(pl.col("status") == "duplicate")["kg"]) == {"a"}
    assert alignment.groups.filter(pl.col("kg") == "b")["entity"].n_unique() >= 0.95 * ROWS


def test_auto_says_which_sources_it_chose_and_chooses_none_without_copies(task: Task) -> None:
    assert multiea.align(task, duplicates="auto").history["duplicates"] == ["a"]
    clean = Task(task.kgs[1:])
    alignment = multiea.align(clean, duplicates="auto")
    assert alignment.history["duplicates"] == []
    assert not len(alignment.duplicates)


def people(rng: np.random.Generator, count: int) -> list[tuple[str, str, int]]:
    """Names of few given names and surnames, a city, a year: many people are similar by chance."""
    given, surnames, cities = (["".join(rng.choice(SYLLABLES, 2)) for _ in range(some)] for some in (40, 150, 30))
    return [
        (f"{rng.choice(given)} {rng.choice(surnames)}", str(rng.choice(cities)), int(rng.integers(1930, 2005)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("random_state", range(3))
def test_auto_does_not_choose_sources_that_have_few_things_in_common_and_repeat_none(random_state: int) -> None:
    rng = np.random.default_rng(random_state)
    things = people(rng, 400)
    tables = {}
    for prefix in "ab":
        own = [things[number] for number in np.flatnonzero(rng.random(len(things)) < 0.35)]
        names, cities, years = zip(*own, strict=True)
        tables[prefix] = table(prefix, list(names), np.array(years)).with_columns(city=pl.Series(cities))
    assert multiea.align(tables, duplicates="auto").history["duplicates"] == []


def test_duplicates_by_evidence_are_read_back_and_do_not_depend_on_the_order_of_sources(
    task: Task, tmp_path: Path
) -> None:
    alignment = multiea.align(task, duplicates="auto")
    alignment.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert opened.groups.equals(alignment.groups)
    assert opened.evidence is not None
    assert all(sorted(kind.inside) == [0, 1, 2] for kind in opened.evidence.kinds.values())
    columns = ["group_id", "kg", "entity", "status"]
    other = multiea.align(Task(task.kgs[::-1]), duplicates="auto").groups
    assert other.select(columns).sort(columns).equals(alignment.groups.select(columns).sort(columns))


def test_auto_beside_names_of_kgs_is_refused() -> None:
    with pytest.raises(SettingError, match="duplicates 'auto' looks in all KGs"):
        multiea.AlignSettings.default(duplicates=["auto", "a"])
