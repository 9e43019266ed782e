"""Encoders trained on each pair of KGs separately."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import multiea
from multiea import Groups, SettingError, Task, Training
from multiea.cli.main import app
from multiea.data.groups import ABSENT
from support.quick import few_epochs_of


def test_pairwise_training_gives_each_pair_the_scores_it_has_alone(small: Task) -> None:
    training = replace(few_epochs_of("gcn-align"), validation_ratio=0.0)
    all_pairs = multiea.align(small, engine="gcn-align", pairwise=True, training=training, enhancement="none")
    for a, b in combinations(range(3), 2):
        seeds, held_out = (
            Groups((small.kg_names[a], small.kg_names[b]), members[(members != ABSENT).all(axis=1)])
            for members in (groups.members[:, [a, b]] for groups in (small.seeds, small.held_out))
        )
        alone = multiea.align(
            Task([small.kgs[a], small.kgs[b]], seeds, held_out),
            engine="gcn-align",
            training=training,
            enhancement="none",
        )
        here, pools = all_pairs.similarities("test")
        there, own_pools = alone.similarities("test", held_out)
        rows = [np.isin(pool, own) for pool, own in zip((pools[a], pools[b]), own_pools, strict=True)]
        of_both = here[a, b].rows(slice(None))[rows[0]][:, rows[1]]
        torch.testing.assert_close(of_both, there[0, 1].rows(slice(None)), atol=1e-3, rtol=0)


def test_pairwise_training_has_more_parameters_and_records_them(small: Task) -> None:
    training = few_epochs_of("kecg")
    joint = multiea.align(small, engine="kecg", training=training)
    apart = multiea.align(small, engine="kecg", training=training, pairwise=True)
    assert set(apart.history["pairs"]) == {"kg1-kg2", "kg1-kg3", "kg2-kg3"}
    assert apart.history["parameters"] == sum(part["parameters"] for part in apart.history["pairs"].values())
    assert apart.history["parameters"] > 1.5 * joint.history["parameters"]
    assert apart.settings.pairwise


def test_interrupted_pairwise_training_gives_no_result(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("multiea.engines.training.margin_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        multiea.align(small, engine="kecg", pairwise=True, training=few_epochs_of("kecg"))


def test_a_pair_of_kgs_without_common_seeds_is_reported_and_skipped(
    small: Task, caplog: pytest.LogCaptureFixture
) -> None:
    members = small.seeds.complete.members.copy()
    members[::2, 0], members[1::2, 1] = ABSENT, ABSENT
    task = Task(small.kgs, Groups(small.kg_names, members), small.held_out)
    training = few_epochs_of("gcn-align")
    alignment = multiea.align(task, engine="gcn-align", pairwise=True, training=training)
    assert "too few seeds have members in both kg1 and kg2" in caplog.text
    assert set(alignment.history["pairs"]) == {"kg1-kg3", "kg2-kg3"}


def test_invalid_combinations_of_settings_are_refused(small: Task) -> None:
    with pytest.raises(SettingError, match="pairwise has no effect with engine 'propagation'"):
        multiea.align(small, pairwise=True)
    with pytest.raises(SettingError, match="only psr has its own alignment loss"):
        multiea.align(small, engine="kecg", training=Training(strategy="own"))
    with pytest.raises(SettingError, match="pairwise training needs a single encoder as engine"):
        multiea.align(small, engine="propagation+multiea", pairwise=True)
    with pytest.raises(SettingError, match="an anchor KG has no meaning in pairwise training"):
        multiea.align(small, engine="kecg", pairwise=True, training=Training(strategy="anchor", anchor="kg1"))
    result = CliRunner().invoke(app, ["align", "world", "--out", "nowhere", "--pairwise"])
    assert result.exit_code == 2
    assert "--pairwise has no effect with --engine propagation" in result.output
