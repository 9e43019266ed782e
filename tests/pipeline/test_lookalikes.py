"""Lookalikes, such as classes of the left and the right hand: without seeds, their confidences say that they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from multiea import Alignment, Groups, KnowledgeGraph, Task
from support.evidence import named_kg
from support.quick import align
from support.shuffling import shuffled_task

ORGANS, SIDES = 30, ("left", "right", "upper", "lower")
LACKED = 8  # organs of which one ontology lacks the left side, and the other the right one
Key = tuple[int, str]


@pytest.fixture(scope="module")
def ontologies() -> Task:
    """Two ontologies of organs and their sides. What one calls "left kidney" is "kidney left" in the other."""
    rng = np.random.default_rng(0)
    organs = ["".join(rng.choice(list("bdfgklmnprst"), 4) + rng.choice(list("aeiou"), 4)) for _ in range(ORGANS)]
    every = list(product(range(ORGANS), ("", *SIDES)))
    kgs = []
    for name, lacked in zip(("a", "b"), SIDES, strict=False):
        keys = [(organ, side) for organ, side in every if side != lacked or organ >= LACKED]
        place = {key: number + 1 for number, key in enumerate(keys)}
        parts = [(side, organs[organ]) if name == "a" else (organs[organ], side) for organ, side in keys]
        triples = [[place[organ, side], 0, place[organ, ""] if side else 0] for organ, side in keys]
        names = [["body"], *([" ".join(words).strip()] for words in parts)]
        kgs.append(replace(named_kg(name, names), relations=pl.Series(["partOf"]), triples=np.array(triples, np.int32)))
    return Task(kgs, held_out=_same_words(kgs))


def _same_words(kgs: list[KnowledgeGraph]) -> Groups:
    """The entities whose names have the same words."""
    words = [[frozenset(name.split()) for name in kg.given_names["name"]] for kg in kgs]
    place = {one: number for number, one in enumerate(words[1])}
    members = [[number, place[one]] for number, one in enumerate(words[0]) if one in place]
    return Groups(("a", "b"), np.array(members, np.int32))


@pytest.fixture(scope="module")
def aligned(ontologies: Task) -> Alignment:
    return align(ontologies)


def confidences(alignment: Alignment) -> dict[frozenset[str], float]:
    """The confidence of each found pair."""
    return {
        frozenset(pair): value for *pair, value in alignment.pairs.select("left", "right", "confidence").iter_rows()
    }


def pairs_with_truth(alignment: Alignment) -> tuple[np.ndarray, np.ndarray]:
    """The confidence of each found pair, and whether it is right."""
    right = set(map(tuple, alignment.task.held_out.members.tolist()))
    found = [tuple(row) in right for row in alignment.found.groups.members.tolist()]
    return alignment.found.confidence.mean(axis=1), np.array(found)


def test_siblings_that_are_left_over_are_less_certain_than_others(aligned: Alignment) -> None:
    confidence, right = pairs_with_truth(aligned)
    assert (~right).sum() == LACKED  # the right side of one ontology and the left side of the other
    assert confidence[~right].max() < 0.75
    assert confidence[right].min() > confidence[~right].max()
    assert confidence[right].mean() > 0.85


def test_confidences_do_not_change_when_everything_is_shuffled(ontologies: Task, aligned: Alignment) -> None:
    assert confidences(align(shuffled_task(ontologies))) == confidences(aligned)


def test_an_explanation_gives_the_uncontested_score(aligned: Alignment) -> None:
    pair = aligned.pairs.sort("confidence").row(0, named=True)
    explanation = aligned.explain(f"{pair['left_kg']}/{pair['left']}", f"{pair['right_kg']}/{pair['right']}")
    assert "estimated without seeds; uncontested score 0." in str(explanation)
    assert explanation.log_odds == pytest.approx(np.log(pair["confidence"] / (1 - pair["confidence"])), abs=1e-6)
