"""Conflicting values count against what names would join, and every result says so."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import Alignment
from multiea.explain.facts import ValuePair
from support.shuffling import Shuffling

SIZE, HOMONYMS = 150, 20
FIRST = ["Anna", "Bernd", "Clara", "David", "Elena", "Felix", "Greta", "Henrik", "Ines", "Jonas", "Karin", "Lukas"]
LAST = ["Adler", "Berger", "Conrad", "Dietz", "Ebner", "Fuchs", "Gruber", "Hansen", "Jensen", "Keller", "Lorenz"]


def people(*, with_dates: bool = True) -> dict[str, pl.DataFrame]:
    """Two tables with the same people: person i is a{i} and b{i}.

    The last ones are written in another way in b, while somebody else there, b{i + SIZE}, has exactly their name, but
    another date of birth.
    """
    rng = np.random.default_rng(0)
    names = [f"{FIRST[i % len(FIRST)]} {LAST[i // len(FIRST) % len(LAST)]}" for i in range(SIZE - HOMONYMS)]
    names += [f"Homonym{chr(97 + i)} of {LAST[i % len(LAST)]}" for i in range(HOMONYMS)]
    born = rng.permutation(30_000)[: SIZE + HOMONYMS]
    days = [(date(1920, 1, 1) + timedelta(days=int(day))).isoformat() for day in born]
    nearly = [name.replace(" of ", " off ") if number >= SIZE - HOMONYMS else name for number, name in enumerate(names)]
    rows = {"a": (names, days[:SIZE]), "b": ([*nearly, *names[-HOMONYMS:]], days)}
    return {
        kg: pl.DataFrame(
            {"id": [f"{kg}{i}" for i in range(len(own))], "name": own} | ({column: dates} if with_dates else {})
        )
        for (kg, (own, dates)), column in zip(rows.items(), ("born", "birth_date"), strict=True)
    }


def right_homonyms(alignment: Alignment) -> float:
    """The share of the people with a homonym who are found."""
    found = set(alignment.pairs.select("left", "right").iter_rows())
    return float(np.mean([(f"a{i}", f"b{i}") in found for i in range(SIZE - HOMONYMS, SIZE)]))


@pytest.fixture(scope="module")
def aligned() -> Alignment:
    return multiea.align(people())


def test_people_of_one_name_with_other_dates_of_birth_give_way_to_those_with_the_same(aligned: Alignment) -> None:
    assert right_homonyms(multiea.align(people(with_dates=False))) < 0.2
    assert right_homonyms(aligned) > 0.95


def test_one_wrong_date_does_not_separate_two_people_who_have_only_each_other() -> None:
    tables = people()
    b = tables["b"].head(SIZE - HOMONYMS)
    dates = b["birth_date"].to_list()
    dates[:5] = [f"19{number}1-02-03" for number in range(3, 8)]
    found = multiea.align({"a": tables["a"], "b": b.with_columns(birth_date=pl.Series(dates))})
    pairs = set(found.pairs.select("left", "right").iter_rows())
    assert sum((f"a{i}", f"b{i}") in pairs for i in range(5)) >= 4


def test_explain_shows_conflicting_values_as_a_step_that_takes_away(aligned: Alignment) -> None:
    steps = {step.name: step for step in aligned.explain("a/a149", "b/b169").steps}
    assert steps["conflicts"].log_odds < -2
    (fact,) = steps["conflicts"].facts
    assert isinstance(fact, ValuePair)
    assert (fact.left_property, fact.right_property, fact.agrees) == ("born", "birth_date", False)
    assert "differs from" in str(fact)
    assert "conflicts" not in {step.name for step in aligned.explain("a/a3", "b/b3").steps}


def test_the_sides_of_a_conflict_follow_the_question(aligned: Alignment) -> None:
    steps = {step.name: step for step in aligned.explain("b/b169", "a/a149").steps}
    (fact,) = steps["conflicts"].facts
    assert isinstance(fact, ValuePair)
    assert (fact.left_property, fact.right_property) == ("birth_date", "born")


def test_an_opened_run_has_the_same_conflicts(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run").explain("a/a149", "b/b169")
    expected = {step.name: step.log_odds for step in aligned.explain("a/a149", "b/b169").steps}
    assert {step.name: step.log_odds for step in opened.steps} == pytest.approx(expected)


def test_order_has_no_influence_on_results_with_conflicts(aligned: Alignment) -> None:
    again = multiea.align(Shuffling.of(aligned.task, 1).task)
    columns = ["left", "right", "confidence"]
    one, other = (result.pairs.select(columns).sort(columns) for result in (aligned, again))
    flipped = other.select(left=pl.min_horizontal("left", "right"), right=pl.max_horizontal("left", "right"),
                           confidence="confidence").sort(columns)  # fmt: skip
    assert one.select("left", "right").equals(flipped.select("left", "right"))
    np.testing.assert_allclose(one["confidence"].to_numpy(), flipped["confidence"].to_numpy(), atol=1e-6)
