"""Lookalikes, such as classes of the left and the right hand: without seeds, their confidences say that they are."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from torch import Tensor

import multiea
from multiea import Alignment, Groups, KnowledgeGraph, Task
from multiea.cli.tables import show_process
from multiea.data.groups import ABSENT
from multiea.explain.candidate_scores import CandidateScores
from multiea.grouping.calibration import UNCONTESTED_SHARE
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.matching import scores_inside
from multiea.similarity import direct_scores
from multiea.similarity.block_scores import BlockScores
from support.evidence import named_kg
from support.html_pages import checked_text
from support.quick import align
from support.shuffling import shuffled_task

ORGANS, SIDES = 30, ("left", "right", "upper", "lower")
LACKED = 8  # organs of which one ontology lacks the left side, and the other the right one
Key = tuple[int, str]


@pytest.fixture(scope="module")
def ontologies() -> Task:
    """Two ontologies of organs and their sides. What one calls "left kidney" is "kidney left" in the other."""
    kgs = [ontology("a", "left"), ontology("b", "right")]
    return Task(kgs, held_out=_same_words(kgs))


def ontology(name: str, lacked: str) -> KnowledgeGraph:
    """Organs and their sides; the first organs lack one side. Only in `b` the side follows the organ."""
    rng = np.random.default_rng(0)
    organs = ["".join(rng.choice(list("bdfgklmnprst"), 4) + rng.choice(list("aeiou"), 4)) for _ in range(ORGANS)]
    every = product(range(ORGANS), ("", *SIDES))
    keys = [(organ, side) for organ, side in every if side != lacked or organ >= LACKED]
    place = {key: number + 1 for number, key in enumerate(keys)}
    parts = [(organs[organ], side) if name == "b" else (side, organs[organ]) for organ, side in keys]
    triples = [[place[organ, side], 0, place[organ, ""] if side else 0] for organ, side in keys]
    names = [["body"], *([" ".join(words).strip()] for words in parts)]
    return replace(named_kg(name, names), relations=pl.Series(["partOf"]), triples=np.array(triples, np.int32))


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


@pytest.fixture(scope="module")
def with_more_kgs() -> Alignment:
    """The same with an ontology that lacks other sides, and with a list of names without structure."""
    kgs = [ontology("a", "left"), ontology("b", "right"), ontology("c", "upper")]
    every = [[name] for name in kgs[0].given_names["name"]]
    return align(Task([*kgs, named_kg("d", every)]))


def confidences_before(alignment: Alignment) -> np.ndarray:
    """The confidences of all pairs of members before they are lowered, (groups, M, M)."""
    scores, pools = alignment.similarities("all")
    return alignment.calibration.probabilities(scores_inside(alignment.found.groups, scores, pools))


def test_pairs_of_kgs_without_structure_are_not_lowered(with_more_kgs: Alignment) -> None:
    before, found = confidences_before(with_more_kgs), with_more_kgs.found.pair_confidence
    np.testing.assert_allclose(found[:, 3], before[:, 3], rtol=1e-5)
    lowered = found[:, :3, :3] < 0.99 * before[:, :3, :3]
    assert lowered.any()


def test_an_explanation_gives_the_uncontested_score_of_the_chain_that_was_used(with_more_kgs: Alignment) -> None:
    before, found = confidences_before(with_more_kgs), with_more_kgs.found
    scores = CandidateScores.of(with_more_kgs)
    to_canonical, positions = with_more_kgs.order.given_columns, with_more_kgs.order.canonical_positions
    over_others = 0
    for group, (a, b) in product(np.argsort(found.confidence.sum(axis=1))[:20], ((0, 1), (0, 2), (1, 2))):
        members = found.groups.members[group]
        if min(members[a], members[b]) == ABSENT:
            continue
        ids = [
            f"{kg.name}/{kg.entities[int(members[at])]}" for at, kg in enumerate(with_more_kgs.task.kgs) if at in (a, b)
        ]
        explanation = with_more_kgs.explain(*ids)
        shown = float(str(explanation).split("uncontested score ")[1][:5])
        confidence = found.pair_confidence[group, a, b]
        assert confidence == pytest.approx(before[group, a, b] * (1 - UNCONTESTED_SHARE * (1 - shown)), abs=1e-3)
        assert explanation.log_odds == pytest.approx(np.log(confidence / (1 - confidence)), abs=1e-6)
        nodes = [(to_canonical.index(kg), int(positions[to_canonical.index(kg)][members[kg]])) for kg in (a, b)]
        over_others += shown > (scores.uncontested(nodes[0], nodes[1]) or 0) + 0.01
    assert over_others


def test_a_run_whose_confidences_were_not_lowered_is_explained_without_uncontested_scores(
    aligned: Alignment, tmp_path: Path
) -> None:
    plain = replace(aligned.calibration, uncontested_share=0.0)
    found = replace(aligned.found, pair_confidence=confidences_before(aligned))
    replace(aligned, calibration=plain, found=found).save(tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    del manifest["calibration"]["uncontested_share"]  # as stored before it was known
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    pair = aligned.pairs.sort("confidence").row(0, named=True)
    explanation = multiea.open(tmp_path / "run").explain(f"a/{pair['left']}", f"b/{pair['right']}")
    assert "uncontested" not in str(explanation)
    assert (explanation.confidence or 0) > pair["confidence"] + 0.01
    assert sum(step.log_odds for step in explanation.steps) == pytest.approx(explanation.log_odds, abs=1e-6)


def test_uncontested_scores_are_made_once_and_not_kept(ontologies: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[BlockScores] = []
    original = direct_scores._uncontested

    def counted(masses: BlockScores, rest: Tensor) -> BlockScores:
        made.append(original(masses, rest))
        return made[-1]

    monkeypatch.setattr(direct_scores, "_uncontested", counted)
    alignment = align(ontologies)
    assert len(made) == 1  # not in the rounds
    scores, _ = alignment.similarities("all")
    assert isinstance(scores, BlockScores)
    assert scores.uncontested is None
    judged = align(Task(ontologies.kgs, seeds=ontologies.held_out.take(np.arange(100))))
    assert judged.calibration.examples
    assert len(made) == 1  # where seeds judge, none are made


def test_messages_say_that_the_threshold_applies_before_confidences_are_lowered(
    aligned: Alignment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "stay unmatched, judged before confidences of lookalikes are lowered"
    aligned.report(tmp_path / "page.html")
    page = checked_text(tmp_path / "page.html")
    assert page.count(words) == 2  # the summary, and the threshold in the chart
    show_process(aligned)
    assert words in " ".join(capsys.readouterr().out.split())
    not_lowered = replace(aligned, calibration=replace(aligned.calibration, uncontested_share=0.0))
    show_process(not_lowered)
    printed = " ".join(capsys.readouterr().out.split())
    assert "stay unmatched" in printed
    assert "lookalikes" not in printed


def test_a_verdict_gives_the_confidence_of_the_explanation_and_the_one_that_the_threshold_applies_to(
    ontologies: Task, aligned: Alignment
) -> None:
    strict = replace(
        aligned, calibration=replace(aligned.calibration, threshold=0.999), found=FoundGroups.empty(("a", "b"))
    )
    pair = aligned.pairs.sort("confidence").row(0, named=True)
    explanation = strict.explain(f"a/{pair['left']}", f"b/{pair['right']}")
    assert f"too weak: confidence {explanation.confidence:.2f} (" in explanation.verdict
    assert "before it was lowered for lookalikes), and members below 1.00 stay unmatched" in explanation.verdict
