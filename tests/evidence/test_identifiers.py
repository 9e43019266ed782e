"""Identifiers: equal codes speak for a pair, unless chance explains them or other evidence contradicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
import scipy.sparse as sp

from multiea.evidence.attributes import attribute_tables
from multiea.evidence.codes import codes_of
from multiea.evidence.correspondence import keys_of
from multiea.evidence.features import Features
from multiea.evidence.identifiers import (
    MOST_FOR,
    Identifiers,
    OtherEvidence,
    candidate_codes,
    find_identifiers,
)
from multiea.evidence.keys import with_codes
from multiea.evidence.numbers import FEWEST_ANCHORS
from support.evidence import table_kg

SIZE, PAIR = 120, (0, 1)
Table = Mapping[str, Sequence[str | list[str] | None]]
NOBODY = np.empty(0, dtype=np.int64)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def same(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Anchors: the first rows of both tables are the same entities."""
    return np.arange(count), np.arange(count)


def words(rng: np.random.Generator, *, informative: bool) -> list[list[Features]]:
    """What else is known: rows that are similar for the same place, or for nobody."""
    rows = [sp.csr_array(np.abs(rng.normal(size=(SIZE, 4))).astype(np.float32)) for _ in range(2)]
    return [[Features.one_each(rows[0]), Features.one_each(rows[0] if informative else rows[1])]]


def identifiers(left: Table, right: Table, other: OtherEvidence | None = None) -> Identifiers:
    tables = attribute_tables([table_kg("a", **left), table_kg("b", **right)])
    codes = [codes_of(table, with_codes([keys_of(table)])[0]) for table in tables]
    some = {PAIR: candidate_codes(codes, PAIR)}
    return find_identifiers(some, other or OtherEvidence({PAIR: (NOBODY, NOBODY)}))[PAIR]


def said(found: Identifiers) -> np.ndarray:
    return np.asarray(found.matrix((SIZE, SIZE)).toarray())


def numbers(rng: np.random.Generator) -> list[str]:
    return [str(number) for number in rng.integers(10**12, 10**13, SIZE)]


def counters(rng: np.random.Generator) -> list[str]:
    return [str(number + 1) for number in rng.permutation(SIZE)]


def test_equal_codes_speak_for_a_pair_and_nothing_else_does(rng: np.random.Generator) -> None:
    ean = numbers(rng)
    found = said(identifiers({"ean": ean}, {"barcode": ean}))
    assert (np.diag(found) > 5).all()
    assert not found[~np.eye(SIZE, dtype=bool)].any()


def test_a_missing_or_wrong_code_is_neutral(rng: np.random.Generator) -> None:
    ean = numbers(rng)
    some = [None if place % 4 == 0 else numbers(rng)[0] if place % 4 == 1 else one for place, one in enumerate(ean)]
    found = said(identifiers({"ean": ean}, {"barcode": some}))
    assert not found[:, ::4].any()
    assert not found[:, 1::4].any()
    assert (np.diag(found)[2::4] > 5).all()


def test_one_of_several_equal_codes_is_enough(rng: np.random.Generator) -> None:
    ean, other = numbers(rng), numbers(rng)
    found = said(identifiers({"ean": ean}, {"barcode": [list(pair) for pair in zip(other, ean, strict=True)]}))
    assert (np.diag(found) > 5).all()


def test_a_code_that_several_entities_share_says_less(rng: np.random.Generator) -> None:
    ean = numbers(rng)
    found = said(identifiers({"ean": ean}, {"barcode": [ean[0], ean[0], ean[0], *ean[3:]]}))
    assert found[0, :3] == pytest.approx(found[9, 9] - np.log(3), abs=1e-4)


def test_more_entities_make_equal_codes_say_more(rng: np.random.Generator) -> None:
    ean = numbers(rng)
    few, many = (identifiers({"ean": ean[:size]}, {"barcode": ean[:size]}).found[0].weight for size in (10, SIZE))
    assert many - few == pytest.approx(2 * np.log(SIZE / 10), abs=0.01)


def test_codes_that_anchors_often_contradict_say_less(rng: np.random.Generator) -> None:
    ean = numbers(rng)
    often = [one if place % 3 else numbers(rng)[0] for place, one in enumerate(ean)]
    sides = ({"ean": ean}, {"barcode": ean}), ({"ean": ean}, {"barcode": often})
    exact, noisy = (identifiers(*side, OtherEvidence({PAIR: same(60)})).found[0].weight for side in sides)
    assert 0 < noisy < exact - 0.3


def test_counters_that_nothing_confirms_do_not_identify(rng: np.random.Generator) -> None:
    left, right = {"number": counters(rng)}, {"nr": counters(rng)}
    assert not identifiers(left, right).found
    assert not identifiers(left, right, OtherEvidence({}, words(rng, informative=True))).found
    assert not identifiers(left, right, OtherEvidence({PAIR: same(60)})).found


def test_shared_running_numbers_identify_where_anchors_have_the_same(rng: np.random.Generator) -> None:
    number = counters(rng)
    left, right = {"number": number}, {"nr": number}
    assert not identifiers(left, right, OtherEvidence({PAIR: same(FEWEST_ANCHORS - 1)})).found
    found = said(identifiers(left, right, OtherEvidence({PAIR: same(FEWEST_ANCHORS)})))
    assert np.diag(found) == pytest.approx(np.log(SIZE), abs=0.2)


def test_a_code_of_something_else_does_not_identify(rng: np.random.Generator) -> None:
    """The ISBN of the book before: equal to that of another one, as anchors show."""
    isbn = numbers(rng)
    found = identifiers({"before": [*isbn[1:], isbn[0]]}, {"isbn": isbn}, OtherEvidence({PAIR: same(60)}))
    assert not found.found


def test_short_codes_have_to_be_confirmed(rng: np.random.Generator) -> None:
    """A zip code is rarely equal by chance, but shops in one place are not one shop."""
    zips = [str(number) for number in rng.permutation(90_000)[:SIZE] + 10_000]
    assert not identifiers({"zip": zips}, {"plz": zips}).found
    assert not identifiers({"zip": zips}, {"plz": zips}, OtherEvidence({}, words(rng, informative=False))).found
    assert identifiers({"zip": zips}, {"plz": zips}, OtherEvidence({}, words(rng, informative=True))).found


def test_of_two_codes_that_equal_the_same_one_the_confirmed_one_counts(rng: np.random.Generator) -> None:
    isbn = numbers(rng)
    left = {"before": [*isbn[1:], isbn[0]], "isbn": isbn}
    (only,) = identifiers(left, {"number": isbn}, OtherEvidence({}, words(rng, informative=True))).found
    assert only.properties == ("isbn", "number")


def test_several_identifiers_are_bounded(rng: np.random.Generator) -> None:
    columns = {f"code{place}": numbers(rng) for place in range(4)}
    assert said(identifiers(columns, columns)).max() == MOST_FOR


def test_few_equal_codes_say_nothing(rng: np.random.Generator) -> None:
    ean = numbers(rng)
    assert not identifiers({"ean": ean}, {"barcode": [*ean[:2], *numbers(rng)[2:]]}).found
