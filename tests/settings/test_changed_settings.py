"""Changing settings in Python: shortcuts, types, and what stays as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from multiea import AlignSettings, Bootstrapping, Data, Enhancement, SettingError, Training


def test_a_mode_keeps_the_other_values_of_the_enhancement_as_the_command_line_does() -> None:
    settings = AlignSettings.default(enhancement=Enhancement(weights=(0.3, 0.7), temperature=0.1, candidates=20))
    other = settings.changed(enhancement="none").enhancement
    assert other == Enhancement("none", weights=(0.3, 0.7), temperature=0.1, candidates=20)
    assert AlignSettings.default().changed(enhancement="product") == AlignSettings.default(enhancement="product")
    assert AlignSettings.default(enhancement="product").enhancement == Enhancement("product")


def test_a_pool_keeps_the_other_values_of_bootstrapping() -> None:
    settings = AlignSettings.default(bootstrap=Bootstrapping(rounds=2))
    assert settings.changed(bootstrap="none").bootstrap == Bootstrapping(pool="none", rounds=2)


def test_none_means_the_default() -> None:
    nothing = dict.fromkeys(("engine", "enhancement", "propagation", "bootstrap", "training", "duplicates"))
    assert AlignSettings.default(**nothing) == AlignSettings.default()
    assert AlignSettings.default().changed(**nothing) == AlignSettings.default()


def test_numbers_of_numpy_and_any_sequence_of_names_are_converted() -> None:
    settings = AlignSettings.default(
        "propagation+multiea", random_state=np.int64(3), fusion_weight=np.float32(0.5), duplicates=("b", "a", "b")
    )
    assert (settings.random_state, settings.fusion_weight, settings.duplicates) == (3, 0.5, ("b", "a"))
    assert AlignSettings.default(duplicates="en").duplicates == ("en",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"training": {"epochs": 3}}, "training must be a multiea.Training"),
        ({"propagation": "fast"}, "propagation must be a multiea.Propagation"),
        ({"enhancement": 3}, "enhancement must be a multiea.Enhancement"),
        ({"pairwise": "no"}, "pairwise: expected true or false"),
        ({"random_state": True}, "random_state: expected a whole number"),
        ({"device": 3}, "device: expected text"),
        ({"duplicates": [1]}, "duplicates: expected a list, each part text"),
        ({"engin": "multiea"}, "unknown setting 'engin'.*Did you mean 'engine'"),
        ({"engine": "kecg"}, r"for engine 'propagation'; make those of another engine with .*default\('kecg'\)"),
    ],
)
def test_a_wrong_change_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        AlignSettings.default().changed(**change)


def test_the_source_of_a_data_set_is_a_tuple_of_paths() -> None:
    with pytest.raises(SettingError, match="must be a tuple of paths, got 'folder'"):
        Data(source="folder")  # type: ignore[arg-type]


def test_training_of_another_encoder_stays_with_its_engine() -> None:
    settings = AlignSettings.default("kecg", training=Training(epochs=7))
    assert replace(settings, training=Training()).training.epochs == Training().epochs
    assert settings.changed(random_state=1).training.epochs == 7
