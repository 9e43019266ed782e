"""Tuning: what judges a trial, what is recommended, and what is refused."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import multiea
from multiea import AlignSettings, Groups, MultiEAError, SettingError, Task, Tuning
from multiea.tuning.judging import Difference
from multiea.tuning.search_space import with_values
from support.progress import recorded_notes
from support.shuffling import Shuffling
from support.tasks import tiny_task

SEARCH: dict[str, Any] = {
    "propagation.hops": {"low": 1, "high": 3},
    "enhancement.weights": {"choices": [[0.3, 0.7], [0.9, 0.1]]},
}
USELESS = (0.0, 0.0, 0.0, 1.0)  # views: relations alone


@pytest.fixture(scope="module")
def three_trials(little: Task, quick: AlignSettings) -> Tuning:
    return multiea.tune(little, quick, trials=3, search=SEARCH)


def test_trial_0_has_the_given_settings_and_a_trial_is_worth_what_its_settings_are(
    little: Task, quick: AlignSettings, three_trials: Tuning
) -> None:
    result = three_trials
    assert result.trials.columns == ["trial", "value", "seconds", *SEARCH, "error"]
    assert result.trials["trial"].to_list() == [0, 1, 2]
    assert result.trials.row(0)[3:] == (2, "[0.3, 0.7]", None)
    assert result.default.propagation == quick.propagation
    assert 0 < result.default_value <= result.best_value == result.trials["value"].max()
    again = multiea.tune(little, result.best, trials=1, search=SEARCH)
    assert (again.default_value, again.best_trial) == (result.best_value, 0)


def test_held_out_groups_have_no_influence(little: Task, quick: AlignSettings) -> None:
    members = little.held_out.members.copy()
    members[:, 0] = np.roll(members[:, 0], 1)
    others = [None, Groups(little.kg_names, members)]
    tasks = [little, *(Task(little.kgs, little.seeds, held_out) for held_out in others)]
    settings = quick.changed(bootstrap="test")  # the pool of held-out entities is that of the seeds held back
    results = [multiea.tune(task, settings, trials=2, search=SEARCH) for task in tasks]
    values = [one.trials.drop("seconds").rows() for one in results]
    assert values[0] == values[1] == values[2]
    assert results[0].difference == results[1].difference == results[2].difference


def test_the_order_of_entities_kgs_and_groups_has_no_influence(
    little: Task, quick: AlignSettings, three_trials: Tuning
) -> None:
    shuffled = multiea.tune(Shuffling.of(little, 1).task, quick, trials=3, search=SEARCH)
    assert shuffled.trials.drop("seconds").equals(three_trials.trials.drop("seconds"))
    assert shuffled.difference == three_trials.difference


def test_clearly_better_settings_are_recommended(little: Task, quick: AlignSettings) -> None:
    bad = with_values(quick, {"propagation.view_weights": USELESS})
    search = {"propagation.view_weights": {"choices": [list(USELESS), list(quick.propagation.view_weights)]}}
    result = multiea.tune(little, bad, trials=4, search=search)
    assert result.difference is not None
    assert result.difference.best_f1 > result.difference.default_f1
    assert result.is_better
    assert result.recommended == result.best
    assert result.best.propagation == quick.propagation
    assert "Recommended: the best trial" in repr(result)


def test_the_defaults_are_recommended_unless_the_best_is_better_by_more_than_the_standard_error() -> None:
    assert not Difference(0.80, 0.81, 0.02, 50).is_better
    assert not Difference(0.80, 0.70, 0.01, 50).is_better
    assert Difference(0.80, 0.82, 0.01, 50).is_better


def test_where_no_trial_is_better_the_defaults_are_the_best(little: Task, quick: AlignSettings) -> None:
    result = multiea.tune(little, quick, trials=1, search=SEARCH)
    assert result.difference is None
    assert result.recommended == result.best == result.default
    assert result.changes() == {}
    assert "No trial is better than the defaults" in repr(result)


def test_the_standard_error_is_that_of_the_share_of_seeds_that_are_found() -> None:
    found = np.arange(100) < 50  # the second finds these, the first none
    first, second = (np.column_stack([right, np.ones((100, 2))]).astype(np.float64) for right in (np.zeros(100), found))
    difference = Difference.between(first, second, 0)
    assert (difference.default_f1, difference.best_f1) == (0.0, 0.5)
    assert difference.standard_error == pytest.approx(0.05, abs=0.01)  # sqrt(0.5 * 0.5 / 100)


def test_values_that_do_not_fit_together_make_a_failed_trial(little: Task, quick: AlignSettings) -> None:
    start = with_values(quick, {"propagation.dimensions": 128, "propagation.columns": 16})
    search = {"propagation.dimensions": {"choices": [64, 128]}, "propagation.columns": {"choices": [16, 32]}}
    result = multiea.tune(little, start, trials=8, search=search)
    errors = result.trials.filter(result.trials["error"].is_not_null())
    assert 0 < errors.height < result.trials.height
    assert set(errors["error"]) == {"propagation.dimensions must be a multiple of 4 x columns (128)"}
    assert errors["value"].null_count() == errors.height


def test_an_encoder_is_tuned_by_its_training(little: Task) -> None:
    settings = AlignSettings.default("gcn-align", training=multiea.Training("each", dimensions=16, epochs=3))
    result = multiea.tune(little, settings, trials=2, keep=["training.dimensions", "training.epochs"])
    assert {"training.learning_rate", "training.margin", "training.negatives"} <= set(result.trials.columns)
    assert result.best.training.dimensions == 16


def test_a_warning_about_the_defaults_is_given_once_and_not_by_every_trial(
    little: Task, quick: AlignSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "multiea"):
        multiea.tune(
            little, quick.changed(enhancement="product"), trials=2, search={"propagation.hops": {"low": 1, "high": 3}}
        )
    messages = [record.getMessage() for record in caplog.records]
    assert len([one for one in messages if "hubs ruin its groups" in one]) == 1
    assert all(one.startswith("with the settings of trial 0: ") for one in messages)


def test_progress_names_the_trial_and_the_scores_so_far(little: Task, quick: AlignSettings) -> None:
    notes = recorded_notes("tuning", lambda: multiea.tune(little, quick, trials=2, search=SEARCH))
    assert notes[0] == "trial 1 of 2"
    assert notes[-1].startswith("trial 2 of 2, best ")
    assert len(notes) == 6


def test_too_few_seeds_are_refused_with_what_to_do(little: Task) -> None:
    for count in (0, 19):
        few = Task(little.kgs, little.seeds.take(np.arange(count)), name="few")
        with pytest.raises(MultiEAError, match=rf"'few' has {count} seeds; expected at least 20 seeds .* Add known"):
            multiea.tune(few)
    just_enough = Task(little.kgs, little.seeds.take(np.arange(20)))
    assert multiea.tune(just_enough, trials=1, bootstrap="none", evidence="structure").trials.height == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"trials": 0}, "trials must be a whole number of at least 1, got 0"),
        ({"trials": True}, "trials must be a whole number"),
        ({"search": {}}, "no settings to search"),
        ({"search": 3}, "search must be a path, got 3"),
        ({"search": {"propagation.hops": {"low": 5, "high": 1}}}, "search: propagation.hops: low must be below high"),
        ({"keep": ["hops"]}, "unknown setting to keep 'hops'"),
        ({"search": SEARCH, "keep": ["propagation.hops"]}, "propagation.hops is given and also searched"),
        ({"settings": 3}, "settings must be an AlignSettings, got 3"),
        ({"engine": "kgec"}, "unknown engine 'kgec'"),
        ({"epocs": 3}, "unknown setting 'epocs'"),
        ({"out": 3}, "a study folder must be a path, got 3"),
    ],
)
def test_wrong_arguments_are_refused(little: Task, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError) as error:
        multiea.tune(little, **arguments)
    assert words in str(error.value)


def test_something_else_than_a_task_is_refused() -> None:
    with pytest.raises(SettingError, match="task must be a Task, got 'world'"):
        multiea.tune("world")  # type: ignore[arg-type]


def test_without_optuna_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("multiea.tuning.trials.find_spec", lambda name: None)
    with pytest.raises(MultiEAError, match=r"pip install 'multiea\[tune\]'"):
        multiea.tune(tiny_task(), out=tmp_path / "study")
    assert not list(tmp_path.iterdir())
