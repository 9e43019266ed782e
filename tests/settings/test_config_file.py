"""Settings from config files and `--set`: which value counts, and how it is read."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import multiea
from multiea import AlignSettings, SettingError
from multiea.foundation.errors import MultiEAError
from multiea.settings.config_file import values_in_option
from multiea.settings.data import Data
from multiea.settings.engines import default_training
from multiea.settings.enhancement import Enhancement
from multiea.settings.parsing import GivenValue
from support.command_line import align
from support.datasets import write_files


def test_options_override_set_and_set_overrides_the_file(tmp_path: Path) -> None:
    text = 'engine = "kecg"\nrandom_state = 1\n[training]\nepochs = 1\nmargin = 1\nlayers = 1\n'
    write_files(tmp_path, {"my.toml": text + "[data]\nsource = ['a.tsv', 'b.tsv']\n"})
    write_files(tmp_path, {"a.tsv": "x\tr\ty\ny\tr\tz\n", "b.tsv": "x\tr\ty\ny\tr\tz\n", "s.tsv": "a\tb\nx\tx\ny\ty\n"})
    words = ["--set", "training.margin=2", "--set", "training.epochs=2", "--set", "training.margin=3", "--epochs", "5"]
    seeds = ["--set", f"data.seeds={tmp_path / 's.tsv'}"]
    align("--config", tmp_path / "my.toml", *words, *seeds, "--out", tmp_path / "run")
    settings = tomllib.loads((tmp_path / "run" / "config.toml").read_text(encoding="utf-8"))
    assert (settings["engine"], settings["random_state"]) == ("kecg", 1)
    training = settings["training"]
    assert (training["layers"], training["margin"], training["epochs"]) == (1, 3, 5)
    assert training["evaluate_every"] == default_training("kecg").evaluate_every
    assert settings["data"] == {
        "name": "a + b",
        "source": [str(tmp_path / "a.tsv"), str(tmp_path / "b.tsv")],
        "seeds": str(tmp_path / "s.tsv"),
        "lenient": False,
        "names": [],
        "attributes": [],
        "ignore": [],
    }


def test_defaults_depend_on_engine_and_enhancement_mode(tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": 'engine = "psr"\n[enhancement]\nmode = "profile"\n[training]\nmargin = 2\n'})
    settings = multiea.read_settings(tmp_path / "my.toml")
    assert settings.training.strategy == "own"
    assert isinstance(settings.training.margin, float)
    assert settings.enhancement == Enhancement("profile")
    assert AlignSettings.default().enhancement.candidates == 50


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"my.toml": "[data]\nsource = './world'\nseeds = 's.tsv'\n", "w.toml": "data.source='world'"})
    monkeypatch.chdir(tmp_path)
    settings = multiea.read_settings("my.toml")
    assert settings.data == Data(source=(str(tmp_path / "world"),), seeds=str(tmp_path / "s.tsv"))
    assert multiea.read_settings("w.toml").data.source == ("world",)


def test_settings_of_a_file_align_in_python_too(three_kgs: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": f"[data]\nsource = '{three_kgs}'\ntrain_ratio = 0.5\n[propagation]\nhops = 1\n"})
    settings = multiea.read_settings(tmp_path / "my.toml")
    alignment = multiea.align(multiea.load_task(settings), settings)
    assert alignment.settings.propagation.hops == 1
    assert alignment.task.seeds.members.tolist() == multiea.load(three_kgs, train_ratio=0.5).seeds.members.tolist()


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("random_state = 3", 3),
        ("device=cpu", "cpu"),
        ('device="cpu"', "cpu"),
        ("data.source=a=b.tsv", ("a=b.tsv",)),
        ("data.source=['a', 'b']", ("a", "b")),
        ("data.train_ratio=1", 1.0),
        ("data.train_ratio=none", None),
        ("training.anchor=none", "none"),
        ("enhancement.weights=[1, 0.5]", (1.0, 0.5)),
        ("pairwise=true", True),
        ("training={epochs=3}", 3),
    ],
)
def test_the_value_of_set_is_toml_or_else_text(words: str, value: object) -> None:
    (one,) = values_in_option(words)
    assert (one.value, type(one.value)) == (value, type(value))
    assert one.place == f"--set {words}"


def test_the_key_look_every_of_the_first_release_is_still_read(tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": 'engine = "multiea"\n[training]\nlook_every = 7\n'})
    assert multiea.read_settings(tmp_path / "my.toml").training.evaluate_every == 7
    (one,) = values_in_option("training.look_every=8")
    assert (one.key, one.value) == ("training.evaluate_every", 8)


def test_an_error_about_a_given_value_names_its_place() -> None:
    with pytest.raises(SettingError, match=r"^here: epochs must be at least 1, got 0"):
        AlignSettings.from_given([GivenValue("engine", "kecg", "there"), GivenValue("training.epochs", 0, "here")])
    with pytest.raises(MultiEAError, match="cannot be read"):
        multiea.read_settings("nowhere.toml")
