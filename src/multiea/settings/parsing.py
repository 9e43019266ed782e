"""Values someone gave, in a file or on the command line, for the fields of dataclasses; errors name their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import tomli_w

from multiea.foundation.errors import SettingError, unknown
from multiea.settings.fields import NONE

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Part = TypeVar("Part", bound="DataclassInstance")
KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
LONGEST_SHOWN = 60
INTEGER_BITS = 63  # those of TOML, besides the sign


@dataclass(frozen=True)
class Given:
    """A value someone set: its dotted key, and where that was, as an error puts it."""

    key: str
    value: Any
    where: str


@dataclass(frozen=True)
class Fields:
    """What a file may say: its tables, each a dataclass, and the types of all values by dotted key."""

    tables: Mapping[str, Any]
    keys: Mapping[str, Any]


def tables_and_keys(settings: type[DataclassInstance]) -> Fields:
    """Those of a dataclass whose fields are values, or dataclasses of values."""
    hints = get_type_hints(settings)
    tables = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    keys = {name: hint for name, hint in hints.items() if name not in tables}
    for table, of in tables.items():
        keys |= {f"{table}.{name}": hint for name, hint in get_type_hints(of).items()}
    return Fields(tables, keys)


def values_of(
    tree: Mapping[str, Any], allowed: Fields, where: Callable[[str], str], table: str = ""
) -> Iterator[Given]:
    """Every value of a tree, as the type its key has; where: puts the place of a key into words."""
    for name, value in tree.items():
        key = table + name
        if key in allowed.tables and isinstance(value, dict):
            yield from values_of(value, allowed, where, f"{key}.")
        elif key in allowed.tables:
            raise SettingError(f"{where(key)}: expected a table of settings, got {_cut(value)}")
        elif key not in allowed.keys:
            raise SettingError(f"{where(key)}: {_unknown(key, allowed)}")
        else:
            try:
                yield Given(key, _typed(value, allowed.keys[key]), where(key))
            except (TypeError, OverflowError):
                raise SettingError(f"{where(key)}: expected {_kind(allowed.keys[key])}, got {_cut(value)}") from None


def _unknown(key: str, allowed: Fields) -> str:
    table, _, name = key.rpartition(".")
    alike = [known for known in allowed.keys if known.endswith(f".{name}")]
    if table not in allowed.tables and alike:
        return f"unknown key '{key}'. Did you mean {' or '.join(alike)}?"
    if table and table not in allowed.tables:
        return unknown(table, allowed.tables, what="table")
    beside = [
        known.rpartition(".")[2] for known in (*allowed.keys, *allowed.tables) if known.rpartition(".")[0] == table
    ]
    return unknown(name, beside, what="key")


def _typed(value: Any, hint: Any) -> Any:
    """A value of TOML as the type of a field; one value may stand for a list of one."""
    if NoneType in get_args(hint):
        inner = get_args(hint)[0]
        return None if value == NONE and inner is not str else _typed(value, inner)
    if get_origin(hint) is tuple:
        parts = value if isinstance(value, list) else [value]
        return tuple(_typed(part, get_args(hint)[0]) for part in parts)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise TypeError
    if hint is int and value.bit_length() > INTEGER_BITS:
        raise OverflowError
    return value


def _kind(hint: Any) -> str:
    if NoneType in get_args(hint):
        inner = get_args(hint)[0]
        return _kind(inner) + ("" if inner is str else f' or "{NONE}"')
    if get_origin(hint) is tuple:
        return f"a list, each part {KINDS[get_args(hint)[0]]}"
    return KINDS[hint]


def in_toml(value: Any) -> str:
    """A value as TOML has it, in one line."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(in_toml, value))}]"
    return "a table" if isinstance(value, dict) else tomli_w.dumps({"x": value}).removeprefix("x = ").strip()


def _cut(value: Any) -> str:
    try:
        text = in_toml(value)
    except ValueError:  # Python writes no numbers of very many digits
        return "a number of too many digits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} ..."


@contextmanager
def blamed_on(one: Given | None) -> Iterator[None]:
    """An error inside is one of a value that was given."""
    try:
        yield
    except SettingError as error:
        raise error if one is None else SettingError(f"{one.where}: {error}") from None


def replaced(usual: Part, given: Mapping[str, Given]) -> Part:
    """What is usual with the values given; an error names the one without which there would be none."""

    def failure(*names: str) -> SettingError | None:
        try:
            replace(usual, **{name: given[name].value for name in names})
        except SettingError as error:
            return error
        return None

    if (error := failure(*given)) is None:
        return replace(usual, **{name: one.value for name, one in given.items()})
    for name, one in given.items():
        if failure(*(other for other in given if other != name)) is None:
            raise SettingError(f"{one.where}: {error}")
    for name, one in given.items():  # more than one is wrong: the first of them
        if (alone := failure(name)) is not None:
            raise SettingError(f"{one.where}: {alone}")
    raise error
