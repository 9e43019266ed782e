"""Invalid settings in files and options: the message says where, what is wrong and what is allowed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import multiea
from multiea import AlignSettings, SettingError, Task
from support.command_line import invoke, refused, refused_config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training]\nepocs = 3\n", r"training\.epocs: unknown key 'epocs'; choose one of: .*Did you mean 'epochs'\?"),
        ("engin = 3\n", r"engin: unknown key 'engin'; choose one of: .*Did you mean 'engine'\?"),
        ("[trainin]\nepochs = 3\n", r"trainin: unknown key 'trainin'; .*Did you mean 'training'\?"),
        ("epochs = 3\n", r"epochs: unknown key 'epochs'\. Did you mean training\.epochs\?"),
        ("training = 3\n", r"training: expected a table of settings, got 3"),
        ("random_state = '3'\n", r'random_state: expected a whole number, got "3"'),
        ("random_state = true\n", r"random_state: expected a whole number, got true"),
        ("random_state = 3.0\n", r"random_state: expected a whole number, got 3\.0"),
        (f"random_state = {2**63}\n", r"random_state: expected a whole number, got 9223372036854775808"),
        (
            f"random_state = 0x{'f' * 5000}\n",
            r"random_state: expected a whole .*, got a number with too many digits",
        ),
        ("random_state = -1\n", r"random_state: random_state must be"),
        ("pairwise = 1\n", r"pairwise: expected true or false, got 1"),
        ("duplicates = [1]\n", r"duplicates: expected a list, each part text, got \[1\]"),
        ("device = 'gpu'\n", r"device: unknown device 'gpu'; choose one of: auto, cpu, cuda"),
        ("engine = 'kgec'\n", r"engine: unknown engine 'kgec'; .*Did you mean 'kecg'\?"),
        (
            "engine = 'multiea+kecg'\n",
            r"engine: engine 'multiea\+kecg' is not a valid combination; use one encoder, or one fused as",
        ),
        ("[data]\ntrain_ratio = 1.5\n", r"data\.train_ratio: train_ratio must be between 0 and 1, got 1\.5"),
        ("[data]\ntrain_ratio = nan\n", r"data\.train_ratio: train_ratio must be between"),
        ("[data]\nlenient = 'yes'\n", r'data\.lenient: expected true or false, got "yes"'),
        ("[data]\nsource = 3\n", r"data\.source: expected a list, each part text, got 3"),
        ("[enhancement]\nmode = 'sharpend'\n", r"enhancement\.mode: unknown enhancement 'sharpend'; .*'sharpened'\?"),
        ("[enhancement]\nmode = 'profile'\ncandidates = 9\n", r"enhancement\.candidates: enhancement 'profile' needs"),
        (
            "[enhancement]\ncandidates = 'all'\n",
            r'enhancement\.candidates: expected a whole number or "none", got "all"',
        ),
        ("[enhancement]\nsweeps = 9\ntemperature = 0\nmode = 'none'\n", r"enhancement\.temperature: temperature must"),
        ("[enhancement]\nsweeps = 0\ntemperature = 0\n", r"enhancement\.sweeps: sweeps must be at least 1"),
        ("[propagation]\nview_weights = [1, 2]\n", r"propagation\.view_weights: .*must be four numbers"),
        (f"[propagation]\nown_weight = 1{'0' * 400}\n", r"propagation\.own_weight: expected a number, got 1000"),
        ("[propagation]\nhops = 1979-05-27\n", r"propagation\.hops: expected a whole number, got 1979-05-27"),
        ("[propagation]\nhops = {a = 1}\n", r"propagation\.hops: expected a whole number, got a table"),
        ("[bootstrap]\nrounds = 0\n", r"bootstrap\.rounds: .*must be at least 1"),
        (
            "engine = 'multiea'\n[training]\nanchor = 'a'\nepochs = 3\n",
            r"training\.anchor: an anchor KG has no effect with strategy 'mean'; use strategy 'anchor'",
        ),
        (
            "engine = 'multiea'\n[training]\nlearning_rate = inf\n",
            r"training\.learning_rate: .* must be above 0, got inf",
        ),
        ("engine = \n", r"invalid TOML: .*line 1"),
        ("engine = 'psr'\nengine = 'kecg'\n", r"invalid TOML: .*line 2"),
        (f"random_state = {'1' * 5000}\n", "invalid TOML"),
        (f"duplicates = {'[' * 5000}\n", "invalid TOML"),
        (b"engine = '\xff'\n", r"not UTF-8; expected TOML"),
    ],
    ids=lambda part: part[:40] if isinstance(part, str) else "bytes",
)
def test_an_error_in_a_file_names_the_file_and_the_key(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert re.match(message, refused_config(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training]\nepochs = 3\n", "training.epochs has no effect with --engine propagation; remove it, or use"),
        (
            "fusion_weight = 0.5\n",
            "fusion_weight has no effect with --engine propagation; remove it, or use propag",
        ),
        (
            "engine = 'multiea'\n[bootstrap]\npool = 'none'\n",
            "bootstrap.pool has no effect with --engine multiea; remove",
        ),
        (
            "engine = 'psr'\n[propagation]\nhops = 1\n",
            "propagation.hops has no effect with --engine psr; remove it",
        ),
        ("pairwise = true\n", "pairwise has no effect with --engine propagation; remove it, or use a single encoder"),
    ],
)
def test_settings_that_the_engine_does_not_use_are_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refused_config(tmp_path, text).startswith(message)
    assert "has no effect with --engine kecg" in refused_config(tmp_path, "[propagation]\nhops=1\n", "--engine", "kecg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("training.epocs=3", "unknown key 'epocs'; choose one of: strategy, anchor"),
        ("epochs=3", "unknown key 'epochs'. Did you mean training.epochs?"),
        ("propagtion.hops=3", "unknown key 'propagtion.hops'. Did you mean propagation.hops?"),
        ("propagtion.steps=3", "unknown table 'propagtion'; choose one of: data, enhancement, propagation"),
        ("random_state=many", 'expected a whole number, got "many"'),
        ("random_state=3\nengine='psr'", "expected a whole number, got"),
        ("enhancement.weights=[1, 2", 'expected a list, each part a number, got "[1, 2"'),
        ("random_state", "expected a key and a value, such as training.epochs=50"),
        ("random_state=", "expected a key and a value"),
        ("=3", "expected a key and a value"),
        ("data.name=mine", "data.name is recorded by a run and cannot be set; remove it"),
        ("data={name='mine'}", "data.name is recorded by a run and cannot be set; remove it"),
        ("bootstrap.pool=some", "unknown bootstrap 'some'; choose one of: all, test, none"),
    ],
)
def test_an_error_in_a_set_value_names_the_option(tmp_path: Path, words: str, message: str) -> None:
    error = refused("align", "world", "--out", tmp_path / "run", "--set", words)
    assert error.startswith(f"--set {' '.join(words.split())}: {message}")
    assert not (tmp_path / "run").exists()


def test_a_set_value_the_engine_does_not_use_is_refused(tmp_path: Path) -> None:
    error = refused("align", "world", "--out", tmp_path / "run", "--set", "training.epochs=3")
    assert error == (
        "--set training.epochs=3 has no effect with --engine propagation; remove it, or use propagation+multiea"
    )


@pytest.mark.parametrize(
    ("engine", "key"), [("multiea", "training.dimensions"), ("propagation", "propagation.columns")]
)
def test_a_number_too_large_for_any_memory_is_refused_like_other_values(
    engine: str, key: str, three_kgs: Path, tmp_path: Path
) -> None:
    error = refused("align", three_kgs, "--engine", engine, "--set", f"{key}={10**18}", "--out", tmp_path / "run")
    assert error.startswith("out of memory; lower training.dimensions")
    assert not list(tmp_path.iterdir())


def test_errors_about_settings_are_json_where_json_is_asked_for(tmp_path: Path) -> None:
    for words in (["align", "--config", "nowhere.toml", "--out", tmp_path / "run"], ["config", "show", "nowhere"]):
        outcome = invoke(*words, "--json")
        assert outcome.code == 2
        assert list(json.loads(outcome.stdout)) == ["error"]
        assert "cannot be read: No such file" in outcome.stderr
        assert "multiea config init" in outcome.stderr


def test_align_needs_a_data_set(tmp_path: Path) -> None:
    assert "no data set is named; give one as DATASET" in refused("align", "--out", tmp_path / "run")


def test_multiea_align_takes_only_settings_of_the_right_type(small: Task) -> None:
    with pytest.raises(SettingError, match="settings must be an AlignSettings, got 'propagation'"):
        multiea.align(small, "propagation")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"unknown setting 'bootstrapp'; .*Did you mean 'bootstrap'"):
        multiea.align(small, bootstrapp="none")
    with pytest.raises(SettingError, match=r"for engine 'propagation'; .*AlignSettings.default\('kecg'\)"):
        multiea.align(small, AlignSettings.default(), engine="kecg")


def test_the_old_name_of_the_settings_leads_to_the_new_one() -> None:
    with pytest.raises(AttributeError, match=r"multiea.Settings is now multiea.AlignSettings.*multiea.read_settings"):
        multiea.Settings  # noqa: B018
    with pytest.raises(AttributeError, match="module 'multiea' has no attribute 'Setings'"):
        multiea.Setings  # noqa: B018
