"""What an alignment says about its own quality: evidence, basis of confidences, F1 on validation seeds, warnings."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import multiea
from multiea import Alignment, AlignSettings, Groups, Task, Training
from multiea.cli.main import app
from multiea.data.write import write_task
from multiea.evaluation.self_check import confidence_basis, doubts, evidence_used, f1_interval, validation_scores
from multiea.grouping.calibration import Calibration
from support.tasks import two_tables


@pytest.fixture(scope="module")
def aligned(small: Task) -> Alignment:
    return multiea.align(small)


def test_f1_on_validation_seeds_is_close_to_f1_on_held_out_groups(aligned: Alignment) -> None:
    validation = validation_scores(aligned)
    assert validation["pairs"] == aligned.calibration.examples > 0
    assert validation["pair_f1"] == pytest.approx(aligned.evaluate()["pairs"]["f1"], abs=0.15)


def test_a_run_records_evidence_basis_of_confidences_and_validation(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["evidence"] == ["structure"]
    assert metrics["calibration"] == "calibrated on validation seeds"
    assert metrics["validation"] == validation_scores(aligned)
    opened = multiea.open(tmp_path / "run")
    assert validation_scores(opened) == validation_scores(aligned)
    assert doubts(opened) == doubts(aligned)


def test_without_seeds_confidences_are_estimated_and_nothing_is_doubted() -> None:
    alignment = multiea.align(two_tables(12))
    assert evidence_used(alignment) == ["names", "attributes"]
    assert confidence_basis(alignment) == "estimated without seeds"
    assert validation_scores(alignment) == {"pair_f1": None, "low": None, "high": None, "pairs": 0, "groups": 0}
    assert not doubts(alignment)


def test_with_few_seeds_structure_alone_gives_plain_scores_and_a_warning(
    small: Task, caplog: pytest.LogCaptureFixture
) -> None:
    few = Task(small.kgs, small.seeds.take(np.arange(12)), small.held_out)
    with caplog.at_level(logging.WARNING, logger="multiea"):
        alignment = multiea.align(few)
    assert confidence_basis(alignment) == "plain scores"
    assert "no pair could be judged by validation seeds" in caplog.text
    assert "50 or more seeds over all KGs (now 12)" in caplog.text


def test_seeds_that_are_wrong_give_a_low_f1_and_a_warning_that_says_what_helps(
    small: Task, caplog: pytest.LogCaptureFixture
) -> None:
    rng = np.random.default_rng(0)
    members = np.column_stack([rng.permutation(column) for column in small.seeds.complete.members.T])
    with caplog.at_level(logging.WARNING, logger="multiea"):
        alignment = multiea.align(Task(small.kgs, Groups(small.kg_names, members)))
    assert validation_scores(alignment)["pair_f1"] < 0.5
    assert "pair F1 on validation seeds is low" in caplog.text
    assert "What helps: more seeds, names of the entities, multiea inspect" in caplog.text


def test_what_helps_depends_on_the_evidence(aligned: Alignment) -> None:
    low = Calibration(examples=100, validation_f1=0.2)
    bad = replace(aligned, calibration=low)
    assert "names of the entities, multiea inspect" in doubts(bad)[0]
    restricted = replace(bad, settings=AlignSettings.default(evidence="structure"))
    assert "names of the entities, with --evidence auto" in doubts(restricted)[0]
    named = replace(bad, history=dict(bad.history) | {"evidence": ["structure", "names"]})
    assert "names of the entities" not in doubts(named)[0]


def test_a_good_score_on_enough_pairs_is_not_doubted(aligned: Alignment) -> None:
    assert not doubts(replace(aligned, calibration=Calibration(examples=20, validation_f1=0.5)))
    assert len(doubts(replace(aligned, calibration=Calibration(examples=19, validation_f1=0.49)))) == 2


@pytest.mark.parametrize(
    ("f1", "groups", "low", "high"), [(0.71, 8, 0.37, 0.91), (1.0, 10, 0.72, 1.0), (0.0, 9, 0.0, 0.3)]
)
def test_few_validation_groups_give_a_wide_interval(f1: float, groups: int, low: float, high: float) -> None:
    calibration = Calibration(examples=30, validation_f1=f1, validation_groups=groups)
    assert f1_interval(calibration) == pytest.approx((low, high), abs=0.01)


def test_a_wide_interval_is_doubted_and_fifty_groups_never_give_one(aligned: Alignment) -> None:
    few = Calibration(examples=30, validation_f1=0.71, validation_groups=8)
    (doubt,) = doubts(replace(aligned, calibration=few))
    assert "pair F1 may be anything from 0.37 to 0.91, judged by 8 groups only" in doubt
    assert "250 or more seeds over all KGs (now 135)" in doubt
    for f1 in (0.5, 0.8, 1.0):
        assert not doubts(replace(aligned, calibration=replace(few, validation_f1=f1, validation_groups=50)))


def test_a_run_of_an_earlier_version_has_no_interval() -> None:
    assert f1_interval(Calibration(examples=30, validation_f1=0.71)) is None


def test_an_encoder_trained_without_validation_seeds_is_not_doubted(small: Task) -> None:
    training = Training(dimensions=16, epochs=1, validation_ratio=0.0)
    alignment = multiea.align(small, engine="gcn-align", training=training)
    assert evidence_used(alignment) == ["structure"]
    assert not doubts(alignment)


def test_the_command_prints_evidence_and_f1_and_warns(small: Task, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_task(small, tmp_path / "data")
    arguments = ["align", str(tmp_path / "data"), "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "\nevidence: structure\n" in result.stdout
    f1 = multiea.open(tmp_path / "run").calibration.validation_f1
    validation = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))["validation"]
    interval = f"95% interval {validation['low']:.2f} to {validation['high']:.2f} ({validation['groups']} groups)"
    assert f"\npair F1 on validation seeds: {f1:.2f}, {interval}\n" in result.stdout
    few = CliRunner().invoke(app, [*arguments, "--force", "--train-ratio", "0.05"])
    assert "warning: no pair could be judged by validation seeds" in few.stderr
    assert "pair F1 on validation seeds:" not in few.stdout
