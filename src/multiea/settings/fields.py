"""A setting: a dataclass field with its default, one line of explanation and, where it has one, its option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, fields
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

from multiea.foundation.errors import SettingError, unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings")
ABOUT, OPTION = "about", "option"
NONE = "none"  # stands for "no value" in TOML, which has no null


def setting(default: Any, about: str, *, option: str | None = None) -> Any:
    """A field with its default and what it is for; option: its name on the command line, such as `--bootstrap`."""
    return field(default=default, metadata={ABOUT: about, OPTION: option})


def names_checked(settings: type[Settings]) -> type[Settings]:
    """A dataclass of settings that refuses unknown, missing and too many arguments as it refuses wrong values."""
    make = settings.__init__
    known = signature(make)

    @wraps(make)
    def checked(self: Settings, *values: Any, **named: Any) -> None:
        names = list(known.parameters)[1:]
        for name in named:
            if name not in names:
                raise SettingError(unknown(name, names, what=f"setting of {settings.__name__}:"))
        try:
            known.bind(self, *values, **named)
        except TypeError as error:
            default = f"; {settings.__name__}.default() has all" if hasattr(settings, "default") else ""
            raise SettingError(f"{settings.__name__}: {error}{default}") from None
        make(self, *values, **named)

    settings.__init__ = checked  # type: ignore[assignment,method-assign]
    return settings


def explanations(settings: DataclassInstance | type[DataclassInstance]) -> dict[str, str]:
    """What each setting of a dataclass is for."""
    return {part.name: part.metadata[ABOUT] for part in fields(settings) if ABOUT in part.metadata}


def options_of(settings: DataclassInstance | type[DataclassInstance]) -> dict[str, str]:
    """The command line option of each setting that has one."""
    return {part.name: part.metadata[OPTION] for part in fields(settings) if part.metadata.get(OPTION)}


def recorded_values(settings: DataclassInstance, default: DataclassInstance) -> dict[str, Any]:
    """All values by name; None is recorded as 'none' where the default is not None."""
    by_default = asdict(default)
    return {
        name: NONE if value is None and by_default[name] is not None else value
        for name, value in asdict(settings).items()
    }


def without_none(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A tree as TOML can express it: without the keys that have no value."""
    return {
        key: without_none(value) if isinstance(value, Mapping) else value
        for key, value in tree.items()
        if value is not None
    }
