"""Names as evidence: similar names are found similar, and the best pair of names counts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from multiea.evidence.names import LENGTH_OF_OTHER_NAMES, LENGTH_WITHOUT_BRACKETS, WEIGHTS, name_features
from multiea.evidence.text import joined_codes
from support.evidence import named_kg, products, table_kg

OTHERS = [["Bergen"], ["Trondheim"], ["Stavanger"], ["Drammen"], ["Fredrikstad"]]


def similarity(left: list[list[str]], right: list[list[str]]) -> np.ndarray:
    """The similarity of all pairs of the first entities, among some others."""
    one, other = name_features([named_kg("a", left + OTHERS), named_kg("b", right + OTHERS)])
    return products(one, other)[: len(left), : len(right)]


def test_of_several_names_the_best_pair_counts() -> None:
    found = similarity([["München", "Munich", "Monaco di Baviera"]], [["Munich"], ["Monaco"]])
    assert found[0, 0] == pytest.approx(1, abs=1e-5)
    alone = similarity([["Monaco di Baviera"]], [["Munich"], ["Monaco"]])
    assert found[0, 1] == pytest.approx(alone[0, 1], abs=0.1)


def test_what_is_in_brackets_counts_less_and_still_tells_entities_apart() -> None:
    found = similarity([["Paris (Texas)"]], [["Paris"], ["Paris (Texas)"], ["Paris (France)"]])[0]
    assert found[1] == pytest.approx(1, abs=1e-5)
    assert found[0] == pytest.approx(LENGTH_WITHOUT_BRACKETS, abs=1e-5)
    assert found[2] < found[0]


def test_codes_are_the_same_with_and_without_a_hyphen_or_space_inside() -> None:
    rest = [["impact drill 18V"], ["impact saw 18V"]]
    for written in ("Drill SX-616", "Drill SX 616", "Drill SX616"):
        for other in ("drill sx616", "drill SX-616"):
            assert similarity([[written]], [[other], *rest])[0, 0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "text", ["Etc/GMT-12", "012-Auf in den Kampf", "built in 2019", "E-76", "Apollo 13", "X-Ray Two"]
)
def test_what_is_no_code_beside_words_stays_as_it_is(text: str) -> None:
    assert joined_codes(pl.Series([text])).to_list() == [text]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Москва", "Moskva"),
        ("O\u2019Brien", "OBRIEN"),
        ("Zürich", "zurich"),
        ("Jean-Luc Picard", "jean luc picard"),
    ],
)
def test_names_that_differ_in_script_case_or_punctuation_only_are_the_same(one: str, other: str) -> None:
    assert similarity([[one]], [[other]])[0, 0] == pytest.approx(1, abs=1e-5)


def test_a_typo_and_another_order_of_words_stay_more_similar_than_other_names() -> None:
    found = similarity([["Thomas Vinterberg"]], [["Tomas Vinterberg"], ["Vinterberg, Thomas"], ["Lars von Trier"]])[0]
    assert min(found[:2]) > 0.5 > 0.2 > found[2]


def test_equal_names_say_clearly_more_than_names_that_differ_in_a_number() -> None:
    numbered = [[f"hypaxial region of somite {number}"] for number in range(10, 30)]
    found = similarity(numbered, numbered)
    assert np.diag(found) == pytest.approx(1, abs=1e-5)
    assert found[~np.eye(len(found), dtype=bool)].max() < 1 - WEIGHTS[-1] + 0.01


def test_a_synonym_counts_less_than_the_preferred_name() -> None:
    one = table_kg("a", label=["chorion", "bone"])
    other = table_kg("b", label=["chorion", "egg membrane"], synonym=[None, "chorion"])
    found = products(*name_features([one, other]))[0]
    assert found.tolist() == pytest.approx([1, LENGTH_OF_OTHER_NAMES], abs=1e-5)


def test_an_entity_without_a_name_or_with_punctuation_only_has_no_evidence() -> None:
    one, _ = name_features([named_kg("a", [["Oslo"], [], ["?!"], ["Bergen"]]), named_kg("b", [["Oslo"]])])
    assert one.has_any.tolist() == [True, False, False, True]


def test_a_kg_without_names_gives_no_features() -> None:
    one, other = name_features([named_kg("a", [[], []]), named_kg("b", [["Oslo"]])])
    assert not one.has_any.any()
    assert other.has_any.all()
    assert not products(one, other).any()
