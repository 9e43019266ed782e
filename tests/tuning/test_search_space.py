"""What is searched: the default space of each engine, search files, and what is refused in them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from multiea import AlignSettings, Groups, SettingError, Task
from multiea.foundation.errors import InputError
from multiea.settings.engines import engine_names
from multiea.tuning.default_search import default_search
from multiea.tuning.search_space import Choices, Range, read_search_file, search_file, search_space, with_values
from support.places import PROJECT
from support.tasks import tiny_task, two_tables

DEFAULT = AlignSettings.default()


@pytest.mark.parametrize("engine", engine_names())
def test_the_default_space_contains_the_defaults_and_can_be_written_and_read(engine: str) -> None:
    settings = AlignSettings.default(engine)
    space = default_search(settings, tiny_task())
    tables = {name.split(".")[0] for name in space}
    assert ("training" in tables) == (settings.encoder is not None)
    assert ("propagation" in tables) == settings.uses_propagation
    assert all(domain.contains(value) for name, domain in space.items() for value in [_value(settings, name)])
    assert search_space(tomllib.loads(search_file(space)), settings) == space


def test_settings_without_effect_are_not_searched() -> None:
    three, tables = tiny_task(), two_tables(20)
    two = Task(three.kgs[:2], Groups.empty(three.kg_names[:2]))
    assert "enhancement.weights" in default_search(DEFAULT, three)
    assert "enhancement.weights" not in default_search(DEFAULT, two)
    assert "propagation.hops" in default_search(DEFAULT, two)
    assert "propagation.hops" not in default_search(DEFAULT, tables)
    without = default_search(DEFAULT.changed(bootstrap="none", enhancement="none"), three)
    assert not {name for name in without if name.startswith(("bootstrap.", "enhancement.t", "enhancement.w"))}


def test_a_setting_to_keep_is_not_searched() -> None:
    kept = default_search(DEFAULT, tiny_task(), keep=["propagation.hops"])
    assert set(default_search(DEFAULT, tiny_task())) - set(kept) == {"propagation.hops"}


def test_a_value_of_ones_own_is_among_the_choices() -> None:
    own = with_values(DEFAULT, {"propagation.view_weights": (1.0, 2.0, 3.0, 4.0)})
    assert default_search(own, tiny_task())["propagation.view_weights"].contains((1.0, 2.0, 3.0, 4.0))


def test_keys_may_be_written_as_tables_and_numbers_as_whole_ones() -> None:
    text = "propagation.hops = {low = 1, high = 3}\n[enhancement]\ntemperature = {low = 0.01, high = 1, log = true}\n"
    text += 'weights = {choices = [[1.0, 0.0], [1, 1]]}\ncandidates = {choices = [10, "none"]}\n'
    assert search_space(tomllib.loads(text), DEFAULT) == {
        "propagation.hops": Range(1, 3),
        "enhancement.temperature": Range(0.01, 1.0, log=True),
        "enhancement.weights": Choices(((1.0, 0.0), (1.0, 1.0))),
        "enhancement.candidates": Choices((10, None)),
    }


def test_the_example_in_the_documentation_is_valid() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", (PROJECT / "docs" / "tuning.md").read_text("utf-8"), flags=re.DOTALL)
    assert len(search_space(tomllib.loads(text), DEFAULT)) == 4


@pytest.mark.parametrize(
    ("name", "entry", "words"),
    [
        ("propagation.hop", {"low": 1, "high": 2}, "unknown setting to search 'propagation.hop'; choose one of: evi"),
        ("propagation.hop", {"low": 1, "high": 2}, "Did you mean 'propagation.hops'?"),
        ("hops", {"low": 1, "high": 2}, "unknown setting to search 'hops'; choose one of: evidence,"),
        ("data.train_ratio", {"low": 0.1, "high": 0.2}, "cannot be searched; choose from: evidence,"),
        ("random_state", {"low": 1, "high": 2}, "cannot be searched"),
        ("training.epochs", {"low": 1, "high": 2}, "no effect with engine propagation; remove it, or use"),
        ("propagation.hops", {"low": 3, "high": 1}, "low must be below high, got low = 3 and high = 1"),
        ("propagation.hops", {"low": 2, "high": 2}, "low must be below high"),
        ("propagation.hops", {"low": 0, "high": 2}, "propagation.hops must be a whole number of at least 1, got 0"),
        ("propagation.hops", {"low": 1.5, "high": 2}, "expected a whole number, got 1.5"),
        ("propagation.hops", {"low": "a", "high": 2}, "low must be a number, got 'a'"),
        ("propagation.hops", {"low": True, "high": 2}, "low must be a number, got True"),
        ("propagation.hops", {"low": 1}, "expected {low = .., high = ..}"),
        ("propagation.hops", {"low": 1, "high": 2, "step": 1}, "expected {low = .., high = ..}"),
        ("propagation.hops", {"low": 1, "choices": [1, 2]}, "expected {low = .., high = ..}"),
        ("propagation.hops", {"low": 1, "high": 2, "log": 1}, "log must be true or false, got 1"),
        ("propagation.hops", 3, "expected {low = .., high = ..}"),
        ("propagation.relation_discount", {"low": 0, "high": 1, "log": True}, "low must be above 0, got 0.0"),
        ("propagation.relation_discount", {"low": 0, "high": 2}, "must be between 0 and 1, got 2.0"),
        ("propagation.own_weight", {"low": 0, "high": float("inf")}, "high must be a number, got inf"),
        ("propagation.view_weights", {"low": 1, "high": 2}, "not a number, so it has no low and high"),
        ("propagation.view_weights", {"choices": [[1.0], [2.0]]}, "must be four numbers"),
        ("bootstrap.pool", {"choices": ["all", "every"]}, "unknown bootstrap 'every'; choose one of: all,"),
        ("enhancement.mode", {"choices": ["none"]}, "choices must be two or more different values"),
        ("enhancement.mode", {"choices": ["none", "none"]}, "choices must be two or more different values"),
        ("enhancement.mode", {"choices": "none"}, "choices must be a list, got 'none'"),
    ],
)
def test_a_wrong_search_says_where_it_is_and_what_is_allowed(name: str, entry: Any, words: str) -> None:
    with pytest.raises(SettingError) as error:
        search_space({name: entry}, DEFAULT, "my.toml: {}".format)
    assert str(error.value).startswith(f"my.toml: {name}: ")
    assert words in str(error.value)


def test_a_search_without_settings_is_refused() -> None:
    with pytest.raises(SettingError, match="no settings to search; name at least one of: evidence"):
        search_space({}, DEFAULT)


@pytest.mark.parametrize(("content", "words"), [(b"a = ", "invalid TOML"), (b"\xff", "invalid"), (None, "cannot be")])
def test_a_search_file_that_cannot_be_read_is_named(content: bytes | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        read_search_file(file)
    assert str(error.value).startswith(str(file))


def _value(settings: AlignSettings, name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value
