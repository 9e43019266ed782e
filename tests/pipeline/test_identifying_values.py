"""Equal identifiers join what nothing else would join, and numbers that mean nothing do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import Alignment
from multiea.explain.facts import ValuePair
from support.shuffling import Shuffling

SIZE, LACKING = 120, 30
KINDS = {"drill": "Bohrer", "lamp": "Leuchte", "kettle": "Kocher", "backpack": "Rucksack"}
COLOURS = {"black": "schwarz", "white": "weiss", "red": "rot"}
BRANDS = ["Adler", "Berger", "Conrad", "Dietz", "Ebner"]


def products() -> dict[str, pl.DataFrame]:
    """Two shops with the same products, named in two languages: product i is a{i} and b{i}.

    Many have the same brand. The last ones have no EAN in b, and some others have none in a.
    """
    rng = np.random.default_rng(0)
    kind, colour, brand = rng.choice([*KINDS], SIZE), rng.choice([*COLOURS], SIZE), rng.choice(BRANDS, SIZE)
    ean = [str(number) for number in rng.integers(10**12, 10**13, SIZE)]
    names = [f"{one} {two}" for one, two in zip(colour, kind, strict=True)]
    translated = [f"{KINDS[two]} {COLOURS[one]}" for one, two in zip(colour, kind, strict=True)]
    codes = [code if i >= LACKING else None for i, code in enumerate(ean)]
    barcodes = [code if i < SIZE - LACKING else None for i, code in enumerate(ean)]
    return {
        "a": pl.DataFrame({"id": [f"a{i}" for i in range(SIZE)], "name": names, "brand": brand, "ean": codes}),
        "b": pl.DataFrame({"id": [f"b{i}" for i in range(SIZE)], "name": translated, "marke": brand, "code": barcodes}),
    }


def found(alignment: Alignment) -> set[tuple[str, str]]:
    return {
        (left, right) if left < right else (right, left)
        for left, right in alignment.pairs.select("left", "right").iter_rows()
    }


@pytest.fixture(scope="module")
def aligned() -> Alignment:
    return multiea.align(products(), evidence=["attributes"])


def test_equal_identifiers_join_products_by_attributes_alone(aligned: Alignment) -> None:
    coded = {(f"a{i}", f"b{i}") for i in range(LACKING, SIZE - LACKING)}
    assert coded <= found(aligned)
    confidence = {
        frozenset((left, right)): one
        for left, right, one in aligned.pairs.select("left", "right", "confidence").iter_rows()
    }
    assert min(confidence[frozenset(pair)] for pair in coded) > 0.9


def test_explain_shows_equal_identifiers_as_a_step(aligned: Alignment) -> None:
    explanation = aligned.explain("a/a50", "b/b50")
    steps = {step.name: step for step in explanation.steps}
    assert steps["identifiers"].log_odds > 5
    (fact,) = steps["identifiers"].facts
    assert isinstance(fact, ValuePair)
    assert (fact.left_property, fact.right_property, fact.agrees) == ("ean", "code", True)
    assert explanation.confidence is not None
    assert explanation.log_odds == pytest.approx(
        np.log(explanation.confidence / (1 - explanation.confidence)), abs=1e-6
    )
    last = f"{SIZE - 1}"
    assert "identifiers" not in {step.name for step in aligned.explain(f"a/a{last}", f"b/b{last}").steps}


def test_the_sides_of_equal_identifiers_follow_the_question(aligned: Alignment) -> None:
    steps = {step.name: step for step in aligned.explain("b/b50", "a/a50").steps}
    (fact,) = steps["identifiers"].facts
    assert isinstance(fact, ValuePair)
    assert (fact.left_property, fact.right_property) == ("code", "ean")


def test_an_opened_run_has_the_same_identifiers(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run").explain("a/a50", "b/b50")
    expected = {step.name: step.log_odds for step in aligned.explain("a/a50", "b/b50").steps}
    assert {step.name: step.log_odds for step in opened.steps} == pytest.approx(expected)


def test_order_has_no_influence_on_results_with_identifiers(aligned: Alignment) -> None:
    again = multiea.align(Shuffling.of(aligned.task, 1).task, evidence=["attributes"])
    assert found(again) == found(aligned)


def test_row_numbers_of_both_tables_change_nothing() -> None:
    rng = np.random.default_rng(1)
    numbered = {
        kg: table.with_columns(pl.Series(f"row_{kg}", rng.permutation(SIZE) + 1)) for kg, table in products().items()
    }
    evidence = multiea.align(numbered, evidence=["attributes"]).evidence
    assert evidence is not None
    (identifiers,) = evidence.identifiers.values()
    assert identifiers.nnz == SIZE - 2 * LACKING  # of the EAN alone
    without = {"a": numbered["a"].drop("ean"), "b": numbered["b"].drop("code")}
    evidence = multiea.align(without, evidence=["attributes"]).evidence
    assert evidence is not None
    assert not any(matrix.nnz for matrix in evidence.identifiers.values())
