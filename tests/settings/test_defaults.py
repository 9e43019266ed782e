"""Every default exists once, every setting is explained, and names match the registries of the code that uses them."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import multiea
from multiea import AlignSettings, Bootstrapping, Data, Enhancement, Propagation, Training
from multiea.engines.encoders.registry import ENCODERS
from multiea.engines.strategies import STRATEGIES
from multiea.settings.config_file import config_template
from multiea.settings.engines import TRAINING_DEFAULTS, engine_names
from multiea.settings.enhancement import ENHANCEMENT_MODES
from multiea.settings.fields import explanations, without_none
from multiea.settings.training import OWN_STRATEGY, STRATEGY_NAMES
from multiea.settings.tree import SCHEMA
from support.datasets import write_files


def read(folder: Path, text: str) -> AlignSettings:
    return multiea.read_settings(write_files(folder, {"settings.toml": text}) / "settings.toml")


def test_an_empty_config_file_and_no_options_give_the_defaults(tmp_path: Path) -> None:
    assert read(tmp_path, "") == AlignSettings.default()
    assert AlignSettings.from_given([]) == AlignSettings.default()
    assert AlignSettings.default().changed() == AlignSettings.default()


@pytest.mark.parametrize("engine", engine_names())
def test_a_config_file_that_names_only_the_engine_gives_its_defaults(engine: str, tmp_path: Path) -> None:
    assert read(tmp_path, f'engine = "{engine}"\n') == AlignSettings.default(engine)


@pytest.mark.parametrize("engine", engine_names())
def test_the_config_template_reads_back_as_the_defaults(engine: str, tmp_path: Path) -> None:
    assert read(tmp_path, config_template(engine)) == AlignSettings.default(engine)


def changed_settings(engine: str) -> AlignSettings:
    """Settings that differ from the defaults of an engine in every table that it uses."""
    default = AlignSettings.default(engine, random_state=5, device="cpu", duplicates=["b", "a"])
    settings = replace(default, enhancement=replace(default.enhancement, sweeps=3, temperature=0.5, candidates=None))
    settings = replace(settings, data=Data(source=("/data/a.tsv", "/data/b.tsv"), seeds="/data/s.tsv", lenient=True))
    if settings.uses_propagation:
        settings = settings.changed(propagation=Propagation(dimensions=128, hops=3), bootstrap="test")
    else:
        settings = settings.changed(pairwise=True)
    if settings.encoder:
        training = replace(default.training, strategy="anchor", anchor="a", evaluate_every=3, margin=0.5)
        settings = settings.changed(training=training)
    return settings.changed(fusion_weight=0.7) if settings.encoder and settings.uses_propagation else settings


@pytest.mark.parametrize("engine", engine_names())
@pytest.mark.parametrize("make", [AlignSettings.default, changed_settings], ids=["default", "changed"])
def test_recorded_settings_read_back_as_the_same_settings(engine: str, make: Any, tmp_path: Path) -> None:
    settings: AlignSettings = make(engine)
    assert read(tmp_path, tomli_w.dumps(without_none(settings.recorded()))) == settings


@pytest.mark.parametrize("mode", ENHANCEMENT_MODES)
@pytest.mark.parametrize("engine", ["propagation", "multiea", "propagation+kecg"])
def test_each_enhancement_mode_reads_back_with_the_defaults_of_the_engine(
    engine: str, mode: str, tmp_path: Path
) -> None:
    settings = AlignSettings.default(engine, enhancement=mode)
    assert read(tmp_path, tomli_w.dumps(without_none(settings.recorded()))) == settings
    assert read(tmp_path, f"engine = '{engine}'\n[enhancement]\nmode = '{mode}'\n") == settings


def test_every_setting_is_explained_in_one_line() -> None:
    for settings in (AlignSettings, *SCHEMA.tables.values()):
        names = {part.name for part in fields(settings)} - (set(SCHEMA.tables) if settings is AlignSettings else set())
        assert set(explanations(settings)) == names
        for about in explanations(settings).values():
            assert about.endswith(".")
            assert "\n" not in about


def test_align_takes_every_setting_as_a_shortcut() -> None:
    parameters = inspect.signature(multiea.align).parameters
    resources = ["memory", "work_folder", "cluster"]
    assert list(parameters) == ["task", "settings", "previous", "grown_from", *resources, "shortcuts"]
    assert [parameters[name].default for name in ("settings", "previous", "grown_from", *resources)] == [None] * 6
    changes: dict[str, Any] = {
        "engine": "propagation+multiea",
        "evidence": ("structure", "names"),
        "name_model": "model",
        "random_state": 3,
        "device": "cpu",
        "fusion_weight": 0.5,
        "duplicates": ("a",),
        "data": Data(source=("world",)),
        "enhancement": Enhancement("none", candidates=20),
        "propagation": Propagation(hops=1),
        "bootstrap": Bootstrapping(rounds=1),
        "training": Training(epochs=5),
    }
    assert set(changes) | {"pairwise"} == {part.name for part in fields(AlignSettings)}
    settings = AlignSettings.default(**changes)
    assert {name: getattr(settings, name) for name in changes} == changes
    assert AlignSettings.default("multiea", pairwise=True).pairwise
    assert AlignSettings.default("propagation", **dict.fromkeys(set(changes) - {"engine"})) == AlignSettings.default()


def test_every_encoder_has_training_defaults_and_every_strategy_a_name() -> None:
    assert list(TRAINING_DEFAULTS) == list(ENCODERS)
    assert set(STRATEGY_NAMES) == {*STRATEGIES, OWN_STRATEGY}
    assert len(STRATEGY_NAMES) == len(STRATEGIES) + 1


def test_the_help_of_engine_and_strategy_lists_every_name() -> None:
    about_engine = explanations(AlignSettings)["engine"]
    for name in ("propagation", *ENCODERS):
        assert name in about_engine
    for name in STRATEGY_NAMES:
        assert name in explanations(Training)["strategy"]
    for mode in ENHANCEMENT_MODES:
        assert mode in explanations(Enhancement)["mode"]
