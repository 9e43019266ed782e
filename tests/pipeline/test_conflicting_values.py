"""Conflicting values make doubtful what names would join, and every result says so."""

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
    """Two tables with the same people, and each with people of its own, who have the names of people of the other.

    Person i is a{i} and b{i}. The last ones of both tables share their names, but are born on other days.
    """
    rng = np.random.default_rng(0)
    names = [f"{FIRST[i % len(FIRST)]} {LAST[i // len(FIRST) % len(LAST)]}" for i in range(SIZE - HOMONYMS)]
    names += [f"Homonym{chr(97 + i)} of {LAST[i % len(LAST)]}" for i in range(HOMONYMS)]
    tables = {}
    shared = rng.integers(0, 30_000, SIZE)
    for kg, column in (("a", "born"), ("b", "birth_date")):
        own = np.r_[shared[:-HOMONYMS], rng.integers(0, 30_000, HOMONYMS)]
        born = [(date(1920, 1, 1) + timedelta(days=int(day))).isoformat() for day in own]
        ids = [f"{kg}{i}" for i in range(SIZE)]
        tables[kg] = pl.DataFrame({"id": ids, "name": names} | ({column: born} if with_dates else {}))
    return tables


def confidence_of_homonyms(alignment: Alignment) -> np.ndarray:
    """The confidence of the pairs with one name and other dates; zero where they are not in one group."""
    found = {(left, right): confidence for left, right, confidence in
             alignment.pairs.select("left", "right", "confidence").iter_rows()}  # fmt: skip
    return np.array([found.get((f"a{i}", f"b{i}"), 0.0) for i in range(SIZE - HOMONYMS, SIZE)])


@pytest.fixture(scope="module")
def aligned() -> Alignment:
    return multiea.align(people())


def test_people_with_one_name_and_other_dates_of_birth_are_doubtful(aligned: Alignment) -> None:
    without = confidence_of_homonyms(multiea.align(people(with_dates=False)))
    assert (without > 0.9).all()  # nothing but a date can tell them apart
    confidence = confidence_of_homonyms(aligned)
    assert np.quantile(confidence, 0.9) < 0.85  # a date of the same year is no proof of another person
    right = aligned.pairs.filter(pl.col("left").str.slice(1) == pl.col("right").str.slice(1))
    assert len(right.filter(pl.col("confidence") > 0.9)) >= 0.97 * (SIZE - HOMONYMS)


def test_explain_shows_conflicting_values_as_a_step_that_takes_away(aligned: Alignment) -> None:
    steps = {step.name: step for step in aligned.explain("a/a149", "b/b149").steps}
    assert steps["conflicts"].log_odds < -2
    (fact,) = steps["conflicts"].facts
    assert isinstance(fact, ValuePair)
    assert (fact.left_property, fact.right_property, fact.agrees) == ("born", "birth_date", False)
    assert "differs from" in str(fact)
    assert "conflicts" not in {step.name for step in aligned.explain("a/a3", "b/b3").steps}


def test_the_sides_of_a_conflict_follow_the_question(aligned: Alignment) -> None:
    steps = {step.name: step for step in aligned.explain("b/b149", "a/a149").steps}
    (fact,) = steps["conflicts"].facts
    assert isinstance(fact, ValuePair)
    assert (fact.left_property, fact.right_property) == ("birth_date", "born")


def test_steps_with_a_conflict_add_up_to_the_confidence(aligned: Alignment) -> None:
    explanation = aligned.explain("a/a149", "b/b149")
    assert explanation.confidence is not None
    assert 1 / (1 + np.exp(-explanation.log_odds)) == pytest.approx(explanation.confidence, abs=1e-6)


def test_an_opened_run_has_the_same_conflicts(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run").explain("a/a149", "b/b149")
    expected = {step.name: step.log_odds for step in aligned.explain("a/a149", "b/b149").steps}
    assert {step.name: step.log_odds for step in opened.steps} == pytest.approx(expected)


def test_order_has_no_influence_on_results_with_conflicts(aligned: Alignment) -> None:
    again = multiea.align(Shuffling.of(aligned.task, 1).task)
    columns = ["left", "right", "confidence"]
    one, other = (result.pairs.select(columns).sort(columns) for result in (aligned, again))
    flipped = other.select(left=pl.min_horizontal("left", "right"), right=pl.max_horizontal("left", "right"),
                           confidence="confidence").sort(columns)  # fmt: skip
    assert one.select("left", "right").equals(flipped.select("left", "right"))
    np.testing.assert_allclose(one["confidence"].to_numpy(), flipped["confidence"].to_numpy(), atol=1e-6)
