"""Evidence of a task: what is collected, what is missing, and the part of some entities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from multiea import Groups, KnowledgeGraph
from multiea.evidence.attributes import attribute_features
from multiea.evidence.evidence import ATTRIBUTES, NAMES, STRUCTURE, Evidence, collect_evidence
from support.evidence import named_kg, table_kg

CITIES = ["Oslo", "Bergen", "Paris", "Lyon", "Berlin", "Hamburg", "Vienna", "Graz", "Madrid", "Sevilla"]
EVERY = (STRUCTURE, NAMES, ATTRIBUTES)


def collected(kgs: list[KnowledgeGraph], kinds: tuple[str, ...] = EVERY, seeds: Groups | None = None) -> Evidence:
    return collect_evidence(kgs, kinds, Groups.empty(tuple(kg.name for kg in kgs)) if seeds is None else seeds)


@pytest.fixture
def two() -> list[KnowledgeGraph]:
    """Two tables with names and colours in another order; the last of each has no name."""
    colours = ["red", "blue", "teal", "pink", "gold", "grey", "plum", "sand", "mint", "rust"]
    one = table_kg("a", name=[*CITIES[:-1], None], colour=colours)
    other = table_kg("b", name=[None, *reversed(CITIES[:-1])], colour=list(reversed(colours)))
    return [one, other]


def test_names_and_attributes_find_the_same_entities(two: list[KnowledgeGraph]) -> None:
    evidence = collected(two)
    assert set(evidence.kinds) == {NAMES, ATTRIBUTES}
    for kind in evidence.kinds.values():
        matrix = kind.similarity[0, 1].toarray()
        has = kind.has_any[0]
        assert (matrix.argmax(axis=1)[has] == np.arange(10)[::-1][has]).all()


def test_entities_without_a_name_are_known_to_have_none(two: list[KnowledgeGraph]) -> None:
    evidence = collected(two)
    assert evidence.kinds[NAMES].has_any[0].tolist() == [True] * 9 + [False]
    assert evidence.kinds[NAMES].has_any[1].tolist() == [False] + [True] * 9
    assert all(has.all() for has in evidence.has_any())
    assert not collected(two, (NAMES,)).has_any()[0][-1]


@pytest.mark.parametrize("kinds", [(NAMES,), (ATTRIBUTES,), (STRUCTURE,)])
def test_only_what_is_wanted_is_collected(two: list[KnowledgeGraph], kinds: tuple[str, ...]) -> None:
    assert set(collected(two, kinds).kinds) == set(kinds) - {STRUCTURE}


def test_a_kind_that_only_one_kg_has_is_left_out(two: list[KnowledgeGraph]) -> None:
    names_only = named_kg("c", [[city] for city in CITIES])
    assert set(collected([two[0], names_only]).kinds) == {NAMES}
    codes = table_kg("c", code=[f"K{number}" for number in range(10)])
    assert set(collected([named_kg("d", [[city] for city in CITIES]), codes]).kinds) == set()


def test_structure_counts_for_entities_with_a_triple_where_it_is_wanted(two: list[KnowledgeGraph]) -> None:
    one, other = (replace(kg, relations=kg.entities[:1], triples=np.array([[0, 0, 1]], dtype=np.int32)) for kg in two)
    evidence = collected([one, other])
    assert [has.nonzero()[0].tolist() for has in evidence.has_structure] == [[0, 1], [0, 1]]
    assert evidence.has_triples
    assert not collected([one, two[1]]).has_triples
    assert not collected([one, other], (NAMES, ATTRIBUTES)).has_triples
    assert not evidence.without_structure().has_triples
    assert set(evidence.without_structure().kinds) == set(evidence.kinds)


def test_the_evidence_within_pools_is_that_of_their_entities(two: list[KnowledgeGraph]) -> None:
    whole = collected(two)
    pools = [np.array([1, 3, 9]), np.array([0, 6, 8, 2])]
    part = whole.within(pools)
    for kind, one in whole.kinds.items():
        wanted = one.similarity[0, 1].toarray()[np.ix_(*pools)]
        np.testing.assert_array_equal(part.kinds[kind].similarity[0, 1].toarray(), wanted)
        for has, of_part, pool in zip(one.has_any, part.kinds[kind].has_any, pools, strict=True):
            np.testing.assert_array_equal(of_part, has[pool])
    assert [len(has) for has in part.has_structure] == [3, 4]


def test_seeds_tell_which_numbers_correspond_where_no_words_do() -> None:
    """Without seeds nothing says that seconds and milliseconds are the same; with them the other rows are found."""
    lengths = np.random.default_rng(0).permutation(np.arange(100, 160))
    kgs = [table_kg("a", seconds=lengths.tolist()), table_kg("b", ms=(lengths * 1000 + 1).tolist())]
    assert ATTRIBUTES not in collected(kgs).kinds
    seeds = Groups(("a", "b"), np.stack([np.arange(20), np.arange(20)], axis=1).astype(np.int32))
    found = collected(kgs, seeds=seeds).kinds[ATTRIBUTES].similarity[0, 1].toarray()
    assert (found.argmax(axis=1)[20:] == np.arange(20, 60)).mean() > 0.95


def test_pairs_that_names_make_certain_tell_which_numbers_correspond() -> None:
    """The last rows have no name: they are found by numbers, whose correspondence the named rows show."""
    rng = np.random.default_rng(1)
    sizes = rng.permutation(np.arange(100, 700, 10))
    words = np.array(["kalo", "mirent", "tasvor", "zelqua", "ostib", "brun", "feld", "gard"])
    names = [f"{' '.join(rng.permutation(words)[:3])} {chr(97 + row % 26)}{chr(97 + row // 26)}" for row in range(60)]
    names = [*names[:40], *[None] * 20]  # type: ignore[list-item]
    kgs = [
        table_kg("a", name=names, metres=sizes.tolist()),
        table_kg("b", name=names, km=(sizes / 1000 + 1e-5).tolist()),
    ]
    found = collected(kgs).kinds[ATTRIBUTES].similarity[0, 1].toarray()
    assert (found.argmax(axis=1)[40:] == np.arange(40, 60)).mean() > 0.9


def test_words_are_not_compared_for_anchors_where_names_give_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{one} {other}" for one in CITIES for other in CITIES if one != other]
    heights = [100.0 + 7 * number for number in range(len(names))]
    kgs = [
        table_kg(kg, name=names, **{column: [height * factor for height in heights]})
        for kg, column, factor in (("a", "height", 1.0), ("b", "feet", 3.28))
    ]
    by_words_too = collected(kgs).kinds[ATTRIBUTES].similarity[0, 1]
    monkeypatch.setattr("multiea.evidence.anchors.MOST_ANCHORS", 20)
    asked: list[bool] = []

    def noted(of: Any, tables: Any, anchors: Any, **options: Any) -> Any:
        asked.append(anchors is None)
        return attribute_features(of, tables, anchors, **options)

    monkeypatch.setattr("multiea.evidence.evidence.attribute_features", noted)
    by_names = collected(kgs).kinds[ATTRIBUTES].similarity[0, 1]
    assert asked == [False]
    assert np.array_equal(by_names.toarray(), by_words_too.toarray())
    assert by_names.diagonal().min() > 0.8


def test_ignored_properties_and_roles_of_the_user_count() -> None:
    one, other = (table_kg(kg, key=CITIES, shade=CITIES) for kg in "ab")
    assert set(collected([one, other]).kinds) == {ATTRIBUTES}
    ignored = [replace(kg, property_roles={"key": "ignore", "shade": "ignore"}) for kg in (one, other)]
    assert not collected(ignored).kinds
    as_names = [replace(kg, property_roles={"key": "name", "shade": "ignore"}) for kg in (one, other)]
    assert set(collected(as_names).kinds) == {NAMES}


def test_the_order_of_literals_changes_nothing(two: list[KnowledgeGraph]) -> None:
    moved = [replace(kg, literals=kg.literals.sample(fraction=1, shuffle=True, seed=3)) for kg in two]
    one, other = collected(two), collected(moved)
    for kind in (NAMES, ATTRIBUTES):
        first, second = (part.kinds[kind].similarity[0, 1].toarray() for part in (one, other))
        np.testing.assert_array_equal(first, second)


def test_literals_of_a_table_give_the_same_evidence_as_names_given_beside_it() -> None:
    stated = [table_kg(kg, name=CITIES) for kg in "ab"]
    given = [named_kg(kg, [[city] for city in CITIES]) for kg in "ab"]
    one, other = (collected(kgs).kinds[NAMES].similarity[0, 1].toarray() for kgs in (stated, given))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("homonyms", [30, 120])
def test_a_name_that_many_share_still_agrees_with_itself(homonyms: int) -> None:
    days = [f"{1900 + number}-03-{number % 28 + 1:02}" for number in range(homonyms)]
    names = ["Ann Lee"] * homonyms
    one = table_kg("a", name=[*names, "Bo Lind"], born=[*days, "1870-01-01"])
    other = table_kg("b", name=["Anne Leigh", *names[::-1]], born=["1871-02-02", *days[::-1]])
    similarity = collected([one, other]).kinds[NAMES].similarity[0, 1].toarray()
    same = similarity[np.arange(homonyms), np.arange(homonyms, 0, -1)]
    assert same == pytest.approx(1, abs=1e-3)
    assert (same > similarity[:homonyms, 0]).all()


def test_numbers_alone_find_the_same_entities_without_seeds() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(-60, 60, (40, 2))
    near = places + rng.normal(0, 1e-4, places.shape)
    one = table_kg("a", lat=places[:, 0].round(4).tolist(), long=places[:, 1].round(4).tolist())
    other = table_kg("b", x=near[::-1, 1].round(4).tolist(), y=near[::-1, 0].round(4).tolist())
    matrix = collected([one, other], (ATTRIBUTES,)).kinds[ATTRIBUTES].similarity[0, 1].toarray()
    assert (matrix.argmax(axis=1) == np.arange(40)[::-1]).all()
    assert np.sort(matrix, axis=1)[:, -2].max() < matrix.max(axis=1).min()


def test_what_one_kg_has_as_names_may_be_an_attribute_of_another() -> None:
    named = named_kg("a", [[city] for city in CITIES])
    other = table_kg("b", note=[f"{city} {number}{number}" for number, city in enumerate(reversed(CITIES))])
    assert set(collected([named, other]).kinds) == {ATTRIBUTES}
    matrix = collected([named, other]).kinds[ATTRIBUTES].similarity[0, 1].toarray()
    assert (matrix.argmax(axis=1) == np.arange(10)[::-1]).all()


def test_ties_do_not_depend_on_the_order_of_entities() -> None:
    names = [f"Name{number // 12}" for number in range(60)]
    colours = [f"colour{number % 9}" for number in range(60)]
    order = np.random.default_rng(0).permutation(60)
    one = table_kg("a", name=names, colour=colours)
    other = table_kg("b", name=names[::-1], colour=colours[::-1])
    moved = table_kg("b", name=[names[::-1][at] for at in order], colour=[colours[::-1][at] for at in order])
    for kind in (NAMES, ATTRIBUTES):
        first, second = (collected([one, two]).kinds[kind].similarity[0, 1].toarray() for two in (other, moved))
        np.testing.assert_array_equal(first[:, order], second)
