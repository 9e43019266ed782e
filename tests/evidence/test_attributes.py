"""Attributes as evidence: shared values make entities similar, rare ones more."""

from __future__ import annotations

import numpy as np
import pytest

from multiea import KnowledgeGraph
from multiea.evidence.anchors import Anchors
from multiea.evidence.attributes import attribute_features, attribute_tables, numeric_tables
from multiea.evidence.numbers import quantities
from support.evidence import products, table_kg


def similarity(kgs: list[KnowledgeGraph], anchors: Anchors | None = None, *, with_names: bool = False) -> np.ndarray:
    tables = attribute_tables(kgs)
    found = None if anchors is None else quantities(numeric_tables(tables), anchors)
    one, other = attribute_features(kgs, tables, found, with_names=with_names)
    return products(one, other)


def test_a_rare_value_counts_more_than_a_common_one() -> None:
    left = table_kg("a", colour=["red", "teal", *["red"] * 10], shape=["oval", "cube", *["cube"] * 10])
    right = table_kg("b", hue=["red", "teal", *["red"] * 10], form=["cube", "cube", *["cube"] * 10])
    found = similarity([left, right])
    assert found[1, 1] == pytest.approx(1, abs=1e-5)
    assert found[1, 1] > 0.9 > 0.2 > found[1, 2]


@pytest.mark.parametrize(("code", "other"), [("AB1234", "AB1235"), ("Q42", "P42"), ("x-77-y9", "x77y8")])
def test_codes_are_compared_exactly(code: str, other: str) -> None:
    """Codes that look alike are not similar: they identify different things."""
    rest = [f"K{number}Z{number}" for number in range(20)]
    left, right = table_kg("a", code=[code, *rest]), table_kg("b", key=[code, other, *rest])
    found = similarity([left, right])[0]
    assert found[0] > 0.9
    assert found[1] == 0


def test_codes_inside_texts_count_with_and_without_a_hyphen() -> None:
    rest = [f"saw ZK{number}" for number in range(20, 40)]
    left, right = table_kg("a", offer=["drill SX-616", *rest]), table_kg("b", text=["drill SX616", "drill ZX61", *rest])
    found = similarity([left, right])[0]
    assert found[0] > 2 * found[1]


def test_a_word_counts_whatever_property_it_is_in() -> None:
    rest = [f"word{number}" for number in "abcdefghij"]
    left = table_kg("a", artist=["Nina Simone", *rest])
    right = table_kg("b", description=["live recordings of nina simone in Montreux", *rest])
    found = similarity([left, right])
    assert found[0].argmax() == 0
    assert found[0, 0] > 0.3


def test_a_date_is_the_same_in_two_spellings_and_its_year_counts_in_text() -> None:
    days = [f"19{year}-0{1 + year % 9}-1{year % 7}" for year in range(60, 80)]
    left = table_kg("a", born=days)
    right = table_kg("b", birth=[".".join(reversed(day.split("-"))) for day in days])
    assert (similarity([left, right]).argmax(axis=1) == np.arange(20)).all()
    text = table_kg("c", about=[f"born in {day[:4]}" for day in days])
    assert (similarity([left, text]).argmax(axis=1) == np.arange(20)).all()


def test_numbers_in_other_units_make_the_same_entities_similar_once_anchors_tell_the_correspondence() -> None:
    lengths = np.random.default_rng(0).permutation(np.arange(100, 160))
    left = table_kg("a", seconds=lengths.tolist())
    right = table_kg("b", ms=(lengths * 1000 + 1).tolist())
    assert not similarity([left, right]).any()
    anchors = {(0, 1): (np.arange(20), np.arange(20))}
    found = similarity([left, right], anchors)
    assert (found.argmax(axis=1)[20:] == np.arange(20, 60)).mean() > 0.95


def test_words_of_names_count_for_entities_with_attributes_only_where_names_are_evidence() -> None:
    left = table_kg("a", name=["Nina Simone", "Ella Smith", "Bob Dylan"], note=["x1", "x2", "x3"])
    right = table_kg("b", label=["y", "z", "w"], text=["songs by Dylan", "songs by Nina", "songs by Smith"])
    assert not similarity([left, right]).any()
    assert similarity([left, right], with_names=True).argmax(axis=1).tolist() == [1, 2, 0]


def test_an_entity_without_values_has_no_evidence() -> None:
    kgs = [table_kg("a", code=["K1", None, "K3"]), table_kg("b", code=["K1", "K2", None])]
    one, other = attribute_features(kgs, attribute_tables(kgs), None, with_names=False)
    assert one.has_any.tolist() == [True, False, True]
    assert other.has_any.tolist() == [True, True, False]
