"""Values given in a file or on the command line, checked against the types of settings; errors name their place."""

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

Table = TypeVar("Table", bound="DataclassInstance")
TYPE_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
LONGEST_SHOWN = 60
INTEGER_BITS = 63  # of a TOML integer, besides the sign


@dataclass(frozen=True)
class GivenValue:
    """A value that a user set: its dotted key, and the place where it was set, for error messages."""

    key: str
    value: Any
    place: str


@dataclass(frozen=True)
class Schema:
    """What a settings file may contain: its tables (dataclasses), and the type of each value by dotted key."""

    tables: Mapping[str, Any]
    keys: Mapping[str, Any]
    renamed: Mapping[str, str]  # keys of earlier versions, still accepted


def schema_of(settings: type[DataclassInstance], renamed: Mapping[str, str]) -> Schema:
    """The schema of a dataclass whose fields are values, or dataclasses of values."""
    hints = get_type_hints(settings)
    tables = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    keys = {name: hint for name, hint in hints.items() if name not in tables}
    for table, of_table in tables.items():
        keys |= {f"{table}.{name}": hint for name, hint in get_type_hints(of_table).items()}
    return Schema(tables, keys, renamed)


def given_values(
    tree: Mapping[str, Any], schema: Schema, place_of: Callable[[str], str], table: str = ""
) -> Iterator[GivenValue]:
    """Every value of a tree, converted to the type of its key; place_of: where a key was set, for error messages."""
    for name, value in tree.items():
        place = place_of(table + name)
        key = schema.renamed.get(table + name, table + name)
        if key in schema.tables and isinstance(value, dict):
            yield from given_values(value, schema, place_of, f"{key}.")
        elif key in schema.tables:
            raise SettingError(f"{place}: expected a table of settings, got {_shortened(value)}")
        elif key not in schema.keys:
            raise SettingError(f"{place}: {_unknown_key(key, schema)}")
        else:
            try:
                yield GivenValue(key, _converted(value, schema.keys[key]), place)
            except (TypeError, OverflowError):
                expected = _type_name(schema.keys[key])
                raise SettingError(f"{place}: expected {expected}, got {_shortened(value)}") from None


def _unknown_key(key: str, schema: Schema) -> str:
    table, _, name = key.rpartition(".")
    same_name = [known for known in schema.keys if known.endswith(f".{name}")]
    if table not in schema.tables and same_name:
        return f"unknown key '{key}'. Did you mean {' or '.join(same_name)}?"
    if table and table not in schema.tables:
        return unknown(table, schema.tables, what="table")
    siblings = [
        known.rpartition(".")[2] for known in (*schema.keys, *schema.tables) if known.rpartition(".")[0] == table
    ]
    return unknown(name, siblings, what="key")


def _converted(value: Any, hint: Any) -> Any:
    """A TOML value as the type of a field; a single value may stand for a list of one."""
    if NoneType in get_args(hint):
        inner = get_args(hint)[0]
        return None if value == NONE and inner is not str else _converted(value, inner)
    if get_origin(hint) is tuple:
        parts = value if isinstance(value, list) else [value]
        return tuple(_converted(part, get_args(hint)[0]) for part in parts)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise TypeError
    if hint is int and value.bit_length() > INTEGER_BITS:
        raise OverflowError
    return value


def check_types(settings: DataclassInstance, table: str) -> None:
    """Refuses a value of a dataclass that has not the type of its field."""
    for name, hint in get_type_hints(type(settings)).items():
        value = getattr(settings, name)
        try:
            if value is not None or NoneType not in get_args(hint):
                _converted(list(value) if isinstance(value, tuple) else value, hint)
        except (TypeError, OverflowError):
            raise SettingError(f"{table}.{name} must be {_type_name(hint)}, got {value!r}") from None


def _type_name(hint: Any) -> str:
    if NoneType in get_args(hint):
        inner = get_args(hint)[0]
        return _type_name(inner) + ("" if inner is str else f' or "{NONE}"')
    if get_origin(hint) is tuple:
        return f"a list, each part {TYPE_NAMES[get_args(hint)[0]]}"
    return TYPE_NAMES[hint]


def toml_value(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return "a table" if isinstance(value, dict) else tomli_w.dumps({"x": value}).removeprefix("x = ").strip()


def _shortened(value: Any) -> str:
    try:
        text = toml_value(value)
    except ValueError:  # Python refuses to print numbers with very many digits
        return "a number with too many digits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} ..."


@contextmanager
def errors_at(given: GivenValue | None) -> Iterator[None]:
    """Adds the place of a given value to an error about it."""
    try:
        yield
    except SettingError as error:
        raise error if given is None else SettingError(f"{given.place}: {error}") from None


def with_given_values(default: Table, given: Mapping[str, GivenValue]) -> Table:
    """The defaults with the given values; an error names the value that causes it."""

    def failure(*names: str) -> SettingError | None:
        try:
            replace(default, **{name: given[name].value for name in names})
        except SettingError as error:
            return error
        return None

    if (error := failure(*given)) is None:
        return replace(default, **{name: one.value for name, one in given.items()})
    for name, one in given.items():
        if failure(*(other for other in given if other != name)) is None:
            raise SettingError(f"{one.place}: {error}")
    for name, one in given.items():  # several values are wrong: name the first
        if (alone := failure(name)) is not None:
            raise SettingError(f"{one.place}: {alone}")
    raise error
