"""Namesakes: which share of anchors have an equal name by chance, as names repeated inside KGs tell."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.evidence.anchors import Anchors
from multiea.evidence.namesakes import MOST_BY_CHANCE, share_of_namesakes
from support.evidence import named_kg

NAMES = 2000


def share(left: list[int], right: list[int]) -> float:
    """Of two KGs whose entities bear these names; the pairs that alone have their name are anchors."""
    kgs = [named_kg(kg, [[f"name {one}"] for one in own]) for kg, own in (("a", left), ("b", right))]
    equal = np.array(left)[:, None] == np.array(right)[None, :]
    row, column = np.nonzero(equal & (equal.sum(axis=0) == 1) & (equal.sum(axis=1) == 1)[:, None])
    anchors: Anchors = {(0, 1): (row, column)}
    return share_of_namesakes(kgs, anchors)[0, 1]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_equal_names_are_chance_where_they_are_as_frequent_inside_the_kgs(rng: np.random.Generator) -> None:
    assert share(rng.integers(0, NAMES, 400).tolist(), rng.integers(0, NAMES, 600).tolist()) > 0.7


def test_the_share_of_namesakes_is_about_right(rng: np.random.Generator) -> None:
    """80 entities are in both KGs; all other equal names are those of different entities."""
    both = rng.integers(0, NAMES, 80).tolist()
    left, right = ([*both, *rng.integers(0, NAMES, 400).tolist()] for _ in range(2))
    alone = [one for one in set(left) if left.count(one) == right.count(one) == 1]
    assert share(left, right) == pytest.approx(1 - len({*both} & {*alone}) / len(alone), abs=0.2)


def test_kgs_without_namesakes_have_none(rng: np.random.Generator) -> None:
    names = rng.permutation(NAMES).tolist()
    assert share(names[:600], names[300:900]) == 0


def test_a_kg_that_repeats_its_entities_does_not_make_others_namesakes(rng: np.random.Generator) -> None:
    names = rng.permutation(NAMES).tolist()
    assert share([*names[:400], *names[:100]], names[50:450]) < 0.05


def test_the_order_of_kgs_and_entities_changes_nothing(rng: np.random.Generator) -> None:
    left, right = rng.integers(0, NAMES, 400).tolist(), rng.integers(0, NAMES, 500).tolist()
    found = share(left, right)
    assert 0 < found < MOST_BY_CHANCE
    assert share(right[::-1], left[::-1]) == found
