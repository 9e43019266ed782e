"""Settings in TOML: reading a file or `--set`, and writing a template with all keys explained."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from multiea.foundation.errors import InputError, SettingError, path_of
from multiea.settings.data import EMBEDDED_NAMES, PATHS
from multiea.settings.engines import PROPAGATION, unused_settings
from multiea.settings.fields import explanations
from multiea.settings.parsing import GivenValue, given_values, toml_value
from multiea.settings.tree import SCHEMA, AlignSettings

CONFIG_OF_A_RUN = "config.toml"
RECORDED_ONLY = "data.name"  # recorded by a run, never set by a user


def read_settings(path: str | Path) -> AlignSettings:
    """The settings of a TOML file or of a run folder; what it does not mention has its default."""
    return AlignSettings.from_given(values_in_file(path))


def values_in_file(path: str | Path) -> list[GivenValue]:
    """The values of a TOML file, or of the one in a run folder; paths in it are relative to it."""
    path = path_of(path, "a file of settings")
    path = path / CONFIG_OF_A_RUN if path.is_dir() else path
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        hint = "`multiea config init` writes a file to start from"
        expected = "a TOML file of settings, or a run folder"
        raise InputError(
            f"cannot be read: {error.strerror or error}", path=path, expected=expected, hint=hint
        ) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, expected="TOML") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"invalid TOML: {error}", path=path) from None
    folder = path.parent.absolute()
    values = []
    for one in given_values(tree, SCHEMA, lambda key: f"{path}: {key}"):
        if one.key == "data.source":
            one = replace(
                one, value=tuple(part if part in EMBEDDED_NAMES else str(folder / part) for part in one.value)
            )
        elif one.key in [f"data.{name}" for name in PATHS]:
            one = replace(one, value=str(folder / one.value))
        values.append(one)
    return values


def values_in_option(words: str) -> list[GivenValue]:
    """The value of `--set a.b=c`: c is read as TOML, or as text where it is not TOML."""
    key, equals, text = (part.strip() for part in words.partition("="))
    place = f"--set {' '.join(words.split())}"
    if not key or not equals or not text:
        raise SettingError(f"{place}: expected a key and a value, such as training.epochs=50")
    try:
        tree = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        tree = {}
    value = tree["value"] if len(tree) == 1 else text  # a line break may add further keys
    values = list(given_values({key: value}, SCHEMA, lambda _: place))
    if RECORDED_ONLY in [one.key for one in values]:
        raise SettingError(f"{place}: {RECORDED_ONLY} is recorded by a run and cannot be set; remove it")
    return values


def config_template(engine: str = PROPAGATION) -> str:
    """A TOML file with all keys, their explanations and the defaults of an engine; unused keys are commented out."""
    settings, unused = AlignSettings.default(engine), unused_settings(engine)
    lines = [
        f"# Settings of `multiea align` with engine {engine}; all values are the defaults.",
        "#   multiea align DATASET --config FILE --out RUN",
        "# Lines that start with # are not set. Each engine has its own defaults: multiea config init --engine ENGINE",
    ]
    for name, about in explanations(AlignSettings).items():
        lines += _explained(name, getattr(settings, name), about, is_set=name not in unused)
    for table, kind in SCHEMA.tables.items():
        is_set = table not in unused
        note = "" if is_set else f" Not used by engine {engine}."
        lines += ["", "", f"# {kind.__doc__.splitlines()[0]}{note}", f"[{table}]" if is_set else f"#[{table}]"]
        for name, about in explanations(kind).items():
            if f"{table}.{name}" != RECORDED_ONLY:
                lines += _explained(name, getattr(getattr(settings, table), name), about, is_set=is_set)
    return "\n".join(lines) + "\n"


def _explained(name: str, value: Any, about: str, *, is_set: bool) -> list[str]:
    line = f"{name} = {'...' if value is None else toml_value(value)}"
    return ["", f"# {about}", line if is_set and value is not None else f"#{line}"]
