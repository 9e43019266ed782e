"""The search space: which settings are searched, and between which values; read from a file and checked."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from multiea.foundation.errors import InputError, SettingError, unknown
from multiea.settings.engines import unused_settings
from multiea.settings.fields import NONE
from multiea.settings.parsing import given_values, toml_value
from multiea.settings.tree import SCHEMA, AlignSettings

# They say what is aligned, where, and from which random numbers; none of them is better or worse.
NEVER_SEARCHED = ("data", "engine", "random_state", "device", "name_model", "duplicates")
EXPECTED = "expected {low = .., high = ..}, optionally with log = true, or {choices = [.., ..]}"


@dataclass(frozen=True)
class Range:
    """All numbers from low to high, both included; log: small ones are tried as often as large ones."""

    low: float
    high: float
    log: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are tried."""
        return isinstance(self.low, int)

    def contains(self, value: object) -> bool:
        """Whether the value may be tried."""
        return isinstance(value, int | float) and self.low <= value <= self.high

    def to_dict(self) -> dict[str, Any]:
        """As a search file has it."""
        return {"low": self.low, "high": self.high} | ({"log": True} if self.log else {})


@dataclass(frozen=True)
class Choices:
    """A few values."""

    values: tuple[Any, ...]

    def contains(self, value: object) -> bool:
        """Whether the value may be tried."""
        return value in self.values

    def to_dict(self) -> dict[str, Any]:
        """As a search file has it."""
        return {"choices": [_as_toml(value) for value in self.values]}


SearchSpace = Mapping[str, Range | Choices]


def read_search_file(path: Path) -> dict[str, Any]:
    """The content of a file of settings to search."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        found = f"cannot be read: {error.strerror or error}"
        raise InputError(found, path=path, expected="a TOML file of settings to search") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"invalid TOML: {error}", path=path) from None


def search_file(space: SearchSpace) -> str:
    """The space as a search file."""
    lines = ["# The settings that are searched; a copy of this file can be changed and given as --search."]
    for name, domain in space.items():
        parts = ", ".join(f"{key} = {toml_value(value)}" for key, value in domain.to_dict().items())
        lines.append(f"{toml_value(name)} = {{{parts}}}")
    return "\n".join(lines) + "\n"


def search_space(
    tree: Mapping[str, Any], settings: AlignSettings, place_of: Callable[[str], str] = "search: {}".format
) -> SearchSpace:
    """The space of a search file, checked: every bound and every choice must be a valid value of its setting.

    place_of: where a setting stands, for error messages.
    """
    space: dict[str, Range | Choices] = {}
    for name, entry in _entries(tree):
        place = place_of(name)
        key = SCHEMA.renamed.get(name, name)
        _check_searchable(key, settings, place)
        domain = _domain(key, entry, place)
        for value in domain.values if isinstance(domain, Choices) else (domain.low, domain.high):
            try:
                with_values(settings, {key: value})
            except SettingError as error:
                raise SettingError(f"{place}: {error}") from None
        space[key] = domain
    if not space:
        raise SettingError(
            f"{place_of('no settings to search')}; name at least one of: {', '.join(searchable(settings))}"
        )
    return space


def searchable(settings: AlignSettings) -> list[str]:
    """The settings that can be searched with this engine."""
    without = {*NEVER_SEARCHED, *unused_settings(settings.engine)}
    return [key for key in SCHEMA.keys if key.split(".")[0] not in without]


def value_of(settings: AlignSettings, key: str) -> Any:
    """The value of a setting by its dotted key."""
    table, _, name = key.rpartition(".")
    return getattr(getattr(settings, table) if table else settings, name)


def with_values(settings: AlignSettings, values: Mapping[str, Any]) -> AlignSettings:
    """The settings with other values, by dotted key."""
    if "enhancement.mode" in values:  # other defaults depend on it
        settings = settings.changed(enhancement=values["enhancement.mode"])
    tables: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, {})[name] = value
    top = tables.pop("", {})
    return replace(
        settings, **top, **{table: replace(getattr(settings, table), **own) for table, own in tables.items()}
    )


def _entries(tree: Mapping[str, Any], table: str = "") -> Iterator[tuple[str, Any]]:
    """All settings with what is said about them; `propagation.hops` may be written as text or as keys."""
    for name, entry in tree.items():
        if table + name in SCHEMA.tables and isinstance(entry, Mapping):
            yield from _entries(entry, f"{table}{name}.")
        else:
            yield table + name, entry


def _check_searchable(key: str, settings: AlignSettings, place: str) -> None:
    allowed = searchable(settings)
    if key in allowed:
        return
    instead = unused_settings(settings.engine)
    for part in (key, key.split(".")[0]):
        if key in SCHEMA.keys and part in instead:
            raise SettingError(f"{place}: no effect with engine {settings.engine}; remove it, or use {instead[part]}")
    if key in SCHEMA.keys:
        raise SettingError(f"{place}: cannot be searched; choose from: {', '.join(allowed)}")
    raise SettingError(f"{place}: {unknown(key, allowed, what='setting to search')}")


def _domain(key: str, entry: Any, place: str) -> Range | Choices:
    if not isinstance(entry, Mapping) or (set(entry) - {"low", "high", "log"} and set(entry) != {"choices"}):
        raise SettingError(f"{place}: {EXPECTED}")
    if "choices" in entry:
        if not isinstance(entry["choices"], list | tuple):
            raise SettingError(f"{place}: choices must be a list, got {entry['choices']!r}")
        values = tuple(_typed(key, value, place) for value in entry["choices"])
        if len(set(values)) < 2 or len(set(values)) < len(values):
            raise SettingError(f"{place}: choices must be two or more different values, got {list(entry['choices'])}")
        return Choices(values)
    return _range(key, entry, place)


def _range(key: str, entry: Mapping[str, Any], place: str) -> Range:
    hint = SCHEMA.keys[key]
    kind = get_args(hint)[0] if NoneType in get_args(hint) else hint
    if kind not in (int, float):
        raise SettingError(f"{place}: not a number, so it has no low and high; expected {{choices = [.., ..]}}")
    if not {"low", "high"} <= set(entry):
        raise SettingError(f"{place}: {EXPECTED}")
    low, high, log = entry["low"], entry["high"], entry.get("log", False)
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
            raise SettingError(f"{place}: {name} must be a number, got {bound!r}")
    low, high = (_typed(key, bound, place) for bound in (low, high))
    if low >= high:
        raise SettingError(f"{place}: low must be below high, got low = {low} and high = {high}")
    if not isinstance(log, bool):
        raise SettingError(f"{place}: log must be true or false, got {log!r}")
    if log and low <= 0:
        raise SettingError(f"{place}: with log = true, low must be above 0, got {low}")
    return Range(low, high, log)


def _typed(key: str, value: Any, place: str) -> Any:
    """A value as the type of its setting."""
    value = list(value) if isinstance(value, tuple) else NONE if value is None else value
    return next(given_values({key: value}, SCHEMA, lambda _: place)).value


def _as_toml(value: Any) -> Any:
    return NONE if value is None else list(value) if isinstance(value, tuple) else value
