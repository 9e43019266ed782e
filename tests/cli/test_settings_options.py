"""The options of `multiea align` are made from the settings: all of them, with their types, help and keys."""

from __future__ import annotations

import inspect
from typing import Any, get_args

import pytest
import typer

from multiea import AlignSettings
from multiea.cli.align import align
from multiea.cli.main import app
from multiea.cli.settings_options import given_options
from multiea.settings.fields import explanations
from multiea.settings.tree import SCHEMA, option_keys
from support.command_line import invoke

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
PLACE_OPTIONS = {"--memory", "--work-folder", "--cluster"}  # they change no result
OWN_OPTIONS = {"--out", "--config", "--set", "--force", "--json", "--progress"} | PLACE_OPTIONS
# For each option: the words that set it, the value of its setting, and the words without which it has no effect.
EXAMPLES: dict[str, tuple[list[str], Any, list[str]]] = {
    "--engine": (["kecg"], "kecg", []),
    "--evidence": (["names", "--evidence", "attributes"], ("names", "attributes"), []),
    "--name-model": (["model"], "model", []),
    "--random-state": (["7"], 7, []),
    "--device": (["cpu"], "cpu", []),
    "--pairwise": ([], True, ["--engine", "multiea"]),
    "--fusion-weight": (["0.5"], 0.5, ["--engine", "propagation+multiea"]),
    "--duplicates": (["en", "--duplicates", "fr"], ("en", "fr"), []),
    "--seeds": (["seeds.tsv"], "seeds.tsv", []),
    "--train-ratio": (["0.5"], 0.5, []),
    "--lenient": ([], True, []),
    "--names": (["title", "--names", "label"], ("title", "label"), []),
    "--attributes": (["code"], ("code",), []),
    "--ignore": (["note"], ("note",), []),
    "--previous": (["run"], "run", []),
    "--enhancement": (["profile"], "profile", []),
    "--bootstrap": (["test"], "test", []),
    "--strategy": (["each"], "each", ["--engine", "multiea"]),
    "--anchor": (["en"], "en", ["--engine", "multiea", "--strategy", "anchor"]),
    "--epochs": (["5"], 5, ["--engine", "multiea"]),
}


def option_of(command: str, option: str) -> Any:
    (parameter,) = (one for one in COMMANDS[command].params if option in one.opts)
    return parameter


def value_at(settings: AlignSettings, key: str) -> Any:
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def settings_of(words: list[str]) -> AlignSettings:
    context = COMMANDS["align"].make_context("align", ["world", "--out", "run", *words])
    return AlignSettings.from_given(given_options(context))


def test_align_has_exactly_the_options_of_the_settings_and_its_own() -> None:
    options = {one.opts[0] for one in COMMANDS["align"].params if one.param_type_name == "option"}
    assert options - {"--help"} == OWN_OPTIONS | set(option_keys())
    assert set(EXAMPLES) == set(option_keys())
    keys = list(option_keys().values())
    assert len(set(keys)) == len(keys)
    assert set(keys) <= set(SCHEMA.keys)


@pytest.mark.parametrize("option", option_keys())
def test_an_option_reaches_its_setting_and_no_other(option: str) -> None:
    words, value, needed = EXAMPLES[option]
    key = option_keys()[option]
    without, settings = settings_of(needed), settings_of([*needed, option, *words])
    assert value_at(settings, key) == value
    assert type(value_at(settings, key)) is type(value)
    assert value_at(without, key) != value
    context = COMMANDS["align"].make_context("align", ["world", "--out", "run", option, *words])
    (given,) = given_options(context)
    assert (given.key, given.value, given.place) == (key, value, option)
    if option not in ("--engine", "--enhancement"):  # these two change the defaults of other settings
        assert settings.flat() | {key: None} == without.flat() | {key: None}


@pytest.mark.parametrize("option", option_keys())
def test_an_option_has_the_type_and_the_help_of_its_setting(option: str) -> None:
    parameter, key = option_of("align", option), option_keys()[option]
    table, _, name = key.rpartition(".")
    about = explanations(SCHEMA.tables[table] if table else AlignSettings)[name]
    assert parameter.help.startswith(about)
    value = EXAMPLES[option][1]
    expected: Any = list[str] | None if isinstance(value, tuple) else bool if value is True else type(value) | None
    annotation = inspect.signature(align).parameters[parameter.name].annotation
    assert get_args(annotation)[0] == expected
    assert parameter.is_flag == (value is True)
    assert parameter.multiple == isinstance(value, tuple)
    assert ("May be given several times." in parameter.help) == parameter.multiple
    assert not parameter.required


@pytest.mark.parametrize(
    "option", [option for option, (_, value, _) in EXAMPLES.items() if type(value) in (int, float)]
)
def test_an_option_that_takes_a_number_refuses_words(option: str) -> None:
    outcome = invoke("align", "world", "--out", "run", option, "many")
    assert outcome.code == 2
    assert f"Invalid value for '{option}'" in outcome.stderr


@pytest.mark.parametrize("option", option_keys())
def test_the_help_names_the_default_of_the_setting(option: str) -> None:
    text, key = option_of("align", option).help, option_keys()[option]
    default = value_at(AlignSettings.default(), key)
    if key.startswith("training.") and default is not None:
        assert text.endswith("By default that of the encoder.")
    elif default is not None and default is not False and default != ():
        shown = ", ".join(default) if isinstance(default, tuple) else default
        assert text.endswith(f"Default: {shown}.")


@pytest.mark.parametrize("option", ["--random-state", "--device", "--lenient"])
def test_add_shares_some_options_with_align(option: str) -> None:
    assert option_of("add", option).help == option_of("align", option).help
    of_add = {name for one in COMMANDS["add"].params for name in one.opts if name in option_keys()}
    assert of_add == {"--random-state", "--device", "--lenient", "--seeds", "--names", "--attributes", "--ignore"}
