"""Names as evidence: similar names are found similar, and the best pair of names counts."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.evidence.names import LENGTH_WITHOUT_BRACKETS, name_features
from support.evidence import named_kg, products

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
    assert min(found[:2]) > 0.6 > 0.2 > found[2]


def test_an_entity_without_a_name_or_with_punctuation_only_has_no_evidence() -> None:
    one, _ = name_features([named_kg("a", [["Oslo"], [], ["?!"], ["Bergen"]]), named_kg("b", [["Oslo"]])])
    assert one.has_any.tolist() == [True, False, False, True]


def test_a_kg_without_names_gives_no_features() -> None:
    one, other = name_features([named_kg("a", [[], []]), named_kg("b", [["Oslo"]])])
    assert not one.has_any.any()
    assert other.has_any.all()
    assert not products(one, other).any()
