"""Why entities are in one group or not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars import DataFrame

import multiea
from multiea import Alignment, Enhancement, Groups, Task
from multiea.explain.explanation import Explanation
from multiea.explain.facts import Fact, NamePair, NeighbourPair, ThirdEntity, ValuePair
from multiea.explain.steps import steps_of_groups
from multiea.settings.engines import default_enhancement
from support.quick import align
from support.shuffling import shuffled_task

Pair = tuple[str, str]


def found_pairs(alignment: Alignment) -> DataFrame:
    return alignment.pairs.filter(pl.col("status") == "found")


def written(row: dict[str, str]) -> Pair:
    return f"{row['left_kg']}/{row['left']}", f"{row['right_kg']}/{row['right']}"


def some_pairs(alignment: Alignment, count: int = 4) -> list[Pair]:
    """Found pairs, from the most to the least confident."""
    table = found_pairs(alignment).sort("confidence", "left", "right", descending=[True, False, False])
    rows = np.linspace(0, len(table) - 1, count).astype(int)
    return [written(row) for row in table[rows].iter_rows(named=True)]


def unmatched(alignment: Alignment) -> list[str]:
    inside = set(alignment.groups.select("kg", "entity").iter_rows())
    return [
        f"{kg.name}/{one}" for kg in alignment.task.kgs for one in kg.entities.sort() if (kg.name, one) not in inside
    ]


def logit(confidence: float) -> float:
    return float(np.log(confidence / (1 - confidence)))


def assert_adds_up(explanation: Explanation) -> None:
    assert explanation.confidence is not None
    assert explanation.log_odds == pytest.approx(logit(explanation.confidence), abs=1e-6)


def test_the_steps_add_up_to_the_confidence_of_the_pair(named: Alignment) -> None:
    confidence = {written(row): row["confidence"] for row in found_pairs(named).iter_rows(named=True)}
    for pair in some_pairs(named):
        explanation = named.explain(*pair)
        assert explanation.same_group
        assert explanation.confidence == confidence[pair]
        assert_adds_up(explanation)
        names = [step.name for step in explanation.steps if step.name != "identifiers"]  # not all have equal codes
        assert names == ["names", "attributes", "structure", "neighbours", "competition", "third KGs", "calibration"]


def test_a_pair_that_is_not_in_one_group_has_the_confidence_of_a_group_of_two(named: Alignment) -> None:
    first, second = some_pairs(named, 2)
    explanation = named.explain(first[0], second[1])
    assert not explanation.same_group
    assert explanation.verdict.startswith("not in one group: ")
    assert_adds_up(explanation)


def test_both_orders_of_a_pair_give_the_same_steps(named: Alignment) -> None:
    one, other = some_pairs(named)[1]
    forward, backward = named.explain(one, other), named.explain(other, one)
    assert [step.log_odds for step in forward.steps] == [step.log_odds for step in backward.steps]
    assert forward.confidence == backward.confidence
    assert forward.entities == backward.entities[::-1]
    names = [fact for step in forward.steps for fact in step.facts if isinstance(fact, NamePair)]
    turned = [fact for step in backward.steps for fact in step.facts if isinstance(fact, NamePair)]
    assert [(fact.left, fact.right) for fact in names] == [(fact.right, fact.left) for fact in turned]


def test_the_best_rivals_of_both_are_those_with_the_highest_scores(named: Alignment) -> None:
    one, other = some_pairs(named)[0]
    scores, pools = named.similarities("all")
    explanation = named.explain(one, other)
    kgs = [named.task.kg_names.index(entity.kg) for entity in explanation.entities]
    position = int(named.task.kgs[kgs[0]].positions(pl.Series([explanation.entities[0].id]))[0])
    row = scores[kgs[0], kgs[1]].rows(slice(0, None))[int(np.flatnonzero(pools[kgs[0]] == position)[0])].numpy()
    ids = named.task.kgs[kgs[1]].entities.gather(pools[kgs[1]])
    own = ids.to_list().index(explanation.entities[1].id)
    best = np.delete(row, own).max()
    rivals = [rival for rival in explanation.rivals if rival.of == explanation.entities[0]]
    assert rivals[0].score == pytest.approx(float(best), abs=1e-6)
    assert explanation.entities[1] not in [rival.entity for rival in rivals]
    assert [rival.score for rival in rivals] == sorted((rival.score for rival in rivals), reverse=True)


def test_a_worse_candidate_is_refused_in_favour_of_the_better_one(named: Alignment) -> None:
    for one, other in some_pairs(named):
        rivals = [rival for rival in named.explain(one, other).rivals if str(rival.of.id) == one.split("/", 1)[1]]
        for rival in rivals:
            verdict = named.explain(one, f"{rival.entity.kg}/{rival.entity.id}").verdict
            assert "not in one group" in verdict
            if "better match of" in verdict:
                return
    raise AssertionError("no candidate was refused because of a better one")


def test_one_entity_is_explained_by_its_group_with_every_pair(named: Alignment) -> None:
    group = named.groups.filter(pl.col("status") == "found").group_by("group_id").len().filter(pl.col("len") == 3)
    chosen = group["group_id"].sort()[0]
    rows = named.groups.filter(pl.col("group_id") == chosen)
    explanation = named.explain(f"{rows['kg'][0]}/{rows['entity'][0]}")
    assert explanation.group_id == chosen
    assert {(one.entity.id, one.confidence) for one in explanation.members} == set(
        rows.select("entity", "confidence").iter_rows()
    )
    assert len(explanation.pairs) == 3
    for pair in explanation.pairs:
        assert sum(pair.log_odds.values()) == pytest.approx(logit(pair.confidence), abs=1e-6)
    assert chosen in str(explanation)


def test_an_unmatched_entity_shows_its_best_candidates_and_why_they_were_refused(named: Alignment) -> None:
    explanations = [named.explain(one) for one in unmatched(named)[:10]]
    with_candidates = [one for one in explanations if one.candidates]
    assert with_candidates
    for explanation in with_candidates:
        assert explanation.verdict.startswith("unmatched: its best candidate is ")
        kgs = [one.entity.kg for one in explanation.candidates if one.reason]
        assert sorted(kgs) == sorted({one.entity.kg for one in explanation.candidates})
        assert_adds_up(explanation)


def test_seeds_are_said_to_be_given(named: Alignment) -> None:
    row = named.pairs.filter(pl.col("status") == "seed").row(0, named=True)
    one, other = written(row)
    explanation = named.explain(one, other)
    assert explanation.verdict == "in one group: given as seed"
    assert explanation.confidence is None
    assert "competition" not in [step.name for step in explanation.steps]
    assert {member.status for member in named.explain(one).members} == {"seed"}
    found = next(pair for pair in some_pairs(named, 20) if pair[1].startswith(f"{row['right_kg']}/"))
    verdict = named.explain(one, found[1]).verdict
    assert f"{row['right_kg']}/{row['right']}" in verdict
    assert "given as seed" in verdict


def test_names_values_neighbours_and_third_entities_are_the_ones_of_the_data(named: Alignment) -> None:
    kinds = set()
    for one, other in some_pairs(named, 12):
        explanation = named.explain(one, other)
        literals = []
        for entity in explanation.entities:
            kg = next(kg for kg in named.task.kgs if kg.name == entity.kg)
            place = int(kg.positions(pl.Series([entity.id]))[0])
            literals.append(set(kg.literals.filter(pl.col("entity") == place)["value"]))
            literals[-1] |= set(kg.given_names.filter(pl.col("entity") == place)["name"])
        groups = dict(zip(named.groups.select("kg", "entity").iter_rows(), named.groups["group_id"], strict=True))
        for fact in (fact for step in explanation.steps for fact in step.facts):
            kinds.add(type(fact))
            if isinstance(fact, NamePair | ValuePair):
                assert fact.left in literals[0]
                assert fact.right in literals[1]
            if isinstance(fact, NeighbourPair):
                assert groups[fact.left.kg, fact.left.id] == groups[fact.right.kg, fact.right.id]
            if isinstance(fact, ThirdEntity):
                assert fact.entity.kg not in [entity.kg for entity in explanation.entities]
    assert kinds == {NamePair, ValuePair, NeighbourPair, ThirdEntity}


def test_shuffling_entities_and_kgs_changes_no_explanation(named: Alignment) -> None:
    task = shuffled_task(named.task)
    other = align(task)
    assert other.fingerprint == named.fingerprint
    words = [*some_pairs(named), *((one, None) for one in unmatched(named)[:3])]
    for one, second in words:
        mine, theirs = named.explain(one, second), other.explain(one, second)
        assert mine.verdict == theirs.verdict
        assert [step.name for step in mine.steps] == [step.name for step in theirs.steps]
        for step, same in zip(mine.steps, theirs.steps, strict=True):
            assert step.log_odds == pytest.approx(same.log_odds, abs=1e-4)
            assert [_without_scores(fact) for fact in step.facts] == [_without_scores(fact) for fact in same.facts]
        assert [rival.entity for rival in mine.rivals] == [rival.entity for rival in theirs.rivals]


def _without_scores(fact: Fact) -> object:
    """Scores may differ in the last digits: sums depend on the order of triples."""
    return fact.entity if isinstance(fact, ThirdEntity) else fact


def test_an_opened_run_explains_the_same_as_the_alignment_in_memory(named: Alignment, named_run: Path) -> None:
    opened = multiea.open(named_run, with_triples=True)
    for words in [*some_pairs(named), (unmatched(named)[0], None)]:
        assert json.dumps(opened.explain(*words).as_dict()) == json.dumps(named.explain(*words).as_dict())


def test_without_the_data_set_the_numbers_are_the_same_and_a_note_says_what_is_missing(
    named: Alignment, named_run: Path
) -> None:
    bare, pair = multiea.open(named_run), some_pairs(named)[0]
    explanation = bare.explain(*pair)
    assert [step.log_odds for step in explanation.steps] == [step.log_odds for step in named.explain(*pair).steps]
    assert "with_triples=True" in explanation.notes[0]
    facts = [fact for step in explanation.steps for fact in step.facts]
    assert all(isinstance(fact, ThirdEntity) for fact in facts)
    assert not named.explain(*pair).notes


def test_tables_without_triples_and_seeds_are_explained_by_names_and_attributes(tables: Alignment) -> None:
    for pair in some_pairs(tables):
        explanation = tables.explain(*pair)
        names = [step.name for step in explanation.steps if step.name != "identifiers"]
        assert names == ["names", "attributes", "competition", "calibration"]
        assert_adds_up(explanation)
    assert "estimated without seeds" in str(explanation)


@pytest.mark.parametrize("mode", ["sharpened", "none"])
def test_structure_alone_is_explained(structure_alone: Alignment, mode: str) -> None:
    alignment = structure_alone.with_enhancement(default_enhancement("propagation", mode))
    for pair in some_pairs(alignment, 3):
        explanation = alignment.explain(*pair)
        assert [step.name for step in explanation.steps] == ["structure", "competition", "third KGs", "calibration"]
        assert_adds_up(explanation)


@pytest.mark.parametrize("mode", ["sharpened", "none", "product", "profile"])
def test_all_pairs_compared_without_a_choice_of_candidates_are_explained(structure_alone: Alignment, mode: str) -> None:
    alignment = structure_alone.with_enhancement(Enhancement(mode=mode))
    assert_adds_up(alignment.explain(*some_pairs(alignment, 2)[0]))


def test_a_duplicate_of_a_member_has_its_own_confidence(structure_alone: Alignment) -> None:
    alignment, small = structure_alone, structure_alone.task
    row = found_pairs(alignment).row(0, named=True)
    kg = small.kg_names.index(row["left_kg"])
    inside = set(alignment.groups.filter(pl.col("kg") == row["left_kg"])["entity"])
    free = next(one for one in small.kgs[kg].entities if one not in inside)
    members = alignment.found.groups.members[:, kg]
    group = np.flatnonzero(members == small.kgs[kg].positions(pl.Series([row["left"]]))[0])
    duplicates = type(alignment.duplicates)(
        group, np.array([kg]), small.kgs[kg].positions(pl.Series([free])), np.array([0.6])
    )
    doubled = replace(alignment, duplicates=duplicates)
    explanation = doubled.explain(f"{row['left_kg']}/{free}", f"{row['right_kg']}/{row['right']}")
    assert explanation.confidence == 0.6
    assert "duplicate" in explanation.verdict
    assert_adds_up(explanation)
    assert [one.status for one in doubled.explain(f"{row['left_kg']}/{free}").members][-1] == "duplicate"


def test_members_found_for_open_seeds_are_explained(structure_alone: Alignment) -> None:
    small = structure_alone.task
    first = align(Task(small.kgs[:2], Groups(small.kg_names[:2], _pairs_of(small))))
    seeds = Groups(small.kg_names, small.seeds.members[:40])
    grown = multiea.add(first, small.kgs[2], seeds, propagation=first.settings.propagation)
    assert grown.completed_seeds is not None
    found = grown.pairs.filter(pl.col("status") == "found")
    known = grown.groups.filter(pl.col("status") == "seed")["group_id"].unique()
    row = found.filter(pl.col("group_id").is_in(known.implode())).row(0, named=True)
    explanation = grown.explain(*written(row))
    assert explanation.confidence == row["confidence"]
    assert_adds_up(explanation)


def _pairs_of(task: Task) -> np.ndarray:
    members = task.seeds.members[:, :2]
    return members[(members >= 0).all(axis=1)]


def test_the_steps_of_a_group_are_means_over_its_pairs(named: Alignment) -> None:
    rows = np.array([0, len(named.found.groups) - 1])
    ids = named.group_ids()[1]
    for row, steps in zip(rows, steps_of_groups(named, rows), strict=True):
        member = named.groups.filter(pl.col("group_id") == ids[row]).row(0, named=True)
        pairs = named.explain(f"{member['kg']}/{member['entity']}").pairs
        for name, value in steps.items():
            of_pairs = [pair.log_odds[name] for pair in pairs if name in pair.log_odds]
            assert value == pytest.approx(sum(of_pairs) / len(pairs), abs=1e-6)


def test_the_text_shows_all_steps_and_the_json_has_all_facts(named: Alignment) -> None:
    explanation = named.explain(*some_pairs(named)[0])
    text = str(explanation)
    for step in explanation.steps:
        assert f"\n{step.name} " in text
        assert all(str(fact) in text for fact in step.facts)
    answer = json.loads(json.dumps(explanation.as_dict()))
    assert answer["verdict"] == explanation.verdict
    assert answer["log_odds"] == pytest.approx(sum(step["log_odds"] for step in answer["steps"]))
    assert all("text" in fact for step in answer["steps"] for fact in step["facts"])


def test_the_text_of_a_large_group_sums_up_its_pairs_and_names_the_doubtful_ones(named: Alignment) -> None:
    small = named.explain(some_pairs(named)[0][0])
    (member, *_), (pair, *_) = small.members, small.pairs
    members = [replace(member, confidence=0.5 + at / 100) for at in range(40)]
    pairs = [replace(pair, confidence=1 - at / 1000, log_odds={"names": float(at)}) for at in range(780)]
    large = replace(small, members=tuple(members), pairs=tuple(pairs))
    text = str(large)
    assert len(text.splitlines()) < 40
    assert "(the 10 least confident of 40)" in text
    assert "Its pairs: log-odds by step (the 10 least confident of 780)" in text
    assert "0.221" in text  # the least confident pair
    assert "0.500" in text
    assert "0.890" not in text
    median = next(line for line in text.splitlines() if line.startswith("median of all"))
    assert "+389.50" in median
    assert "780 of 780" in median
    assert "shortened: --json (as_dict() in Python) has all" in text
    assert len(large.as_dict()["pairs"]) == 780
    assert "shortened" not in str(small)


def test_the_text_of_an_unmatched_entity_names_the_best_of_many_candidates(named: Alignment) -> None:
    explained = (named.explain(one) for one in unmatched(named))
    few = next(one for one in explained if one.candidates)
    first = next(one for one in few.candidates if one.reason)
    candidates = tuple(replace(first, score=at / 100) for at in range(90))
    text = str(replace(few, candidates=candidates))
    assert len(text.splitlines()) < 50
    assert "Best candidates in KGs where it has no counterpart (the 10 best of 90)" in text
    assert "Why the best candidate of each KG is not taken (the 10 best of 90)" in text
    assert "0.890" in text
    assert "0.100" not in text
