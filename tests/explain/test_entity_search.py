"""Finding the entity that a user means."""

from __future__ import annotations

import polars as pl
import pytest

import multiea
from multiea import KnowledgeGraph, MultiEAError
from multiea.explain.entity_search import find_entity
from support.bad_input import assert_says


@pytest.fixture
def kgs() -> tuple[KnowledgeGraph, ...]:
    tables = {
        "en": pl.DataFrame(
            {"id": ["e1", "e2", "x"], "name": ["Oslo", "Bergen", "Paris"], "alias": ["Kristiania", "", ""]}
        ),
        "fr": pl.DataFrame({"id": ["http://fr.org/a", "f:2", "x"], "name": ["Oslo", "bergen", "Nice"]}),
    }
    return multiea.load(tables).kgs


@pytest.mark.parametrize(
    ("word", "kg", "entity"),
    [
        ("e1", "en", "e1"),
        ("http://fr.org/a", "fr", "http://fr.org/a"),
        ("fr/http://fr.org/a", "fr", "http://fr.org/a"),
        ("fr:f:2", "fr", "f:2"),
        ("en/x", "en", "x"),
        ("fr:x", "fr", "x"),
        ("Paris", "en", "x"),
        ("Kristiania", "en", "e1"),
        ("kristiania", "en", "e1"),
        ("bergen", "fr", "f:2"),
        ("en/Oslo", "en", "e1"),
        ("fr:oslo", "fr", "http://fr.org/a"),
    ],
)
def test_an_entity_is_found_by_id_or_name(kgs: tuple[KnowledgeGraph, ...], word: str, kg: str, entity: str) -> None:
    number, position = find_entity(word, kgs)
    assert (kgs[number].name, kgs[number].entities[position]) == (kg, entity)


def refusal(word: object, kgs: tuple[KnowledgeGraph, ...]) -> str:
    with pytest.raises(MultiEAError) as caught:
        find_entity(word, kgs)
    return str(caught.value)


def test_an_ambiguous_word_is_refused_with_the_entities_it_may_mean(kgs: tuple[KnowledgeGraph, ...]) -> None:
    assert_says(refusal("x", kgs), "'x' means 2 entities", "en/x", "fr/x", "kg/id")
    assert_says(refusal("Oslo", kgs), "en/e1 'Oslo'", "fr/http://fr.org/a 'Oslo'")


def test_an_unknown_word_is_refused_with_near_entities(kgs: tuple[KnowledgeGraph, ...]) -> None:
    assert_says(refusal("Bergn", kgs), "no entity 'Bergn'", "Did you mean", "en/e2 'Bergen'", "fr/f:2 'bergen'")
    assert "fr/" not in refusal("en/Bergn", kgs).split("Did you mean")[1]
    assert_says(refusal("qqqq", kgs), "no entity 'qqqq'", "an id, kg/id", "The KGs are en, fr")


@pytest.mark.parametrize("word", ["", None, 3, "\ud800"])
def test_what_is_not_text_is_refused(kgs: tuple[KnowledgeGraph, ...], word: object) -> None:
    assert "an entity must be text" in refusal(word, kgs)
