"""Errors that a user can correct, and helpers that word them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import TypeVar

Choice = TypeVar("Choice")
LONGEST_SHOWN = 60
SENTENCE_ENDS = (".", "?", "!")


class MultiEAError(Exception):
    """Base class of all errors a user can correct. The command line prints them without a traceback, exit code 2."""


class InputError(MultiEAError):
    """Invalid input. Says where it is, what was found, what was expected, and what to do next."""

    def __init__(
        self,
        found: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.found, self.path, self.line, self.expected, self.hint = found, path, line, expected, hint
        super().__init__(found)

    def __str__(self) -> str:
        place = "" if self.path is None else str(self.path)
        if self.line is not None:
            place += f", line {self.line:,}"
        message = f"{place}: {self.found}" if place else self.found
        if self.expected:
            message += f"; expected {self.expected}"
        if self.hint:
            message += f"{'' if message.endswith(SENTENCE_ENDS) else '.'} {self.hint}"
        return message if message.endswith(SENTENCE_ENDS) else message + "."


class SettingError(MultiEAError):
    """An option or argument with an invalid value."""


class OutputError(MultiEAError):
    """A result that cannot be written to the requested place."""


def counted(number: int, noun: str) -> str:
    """A number with its noun: '1 group', '2,000 groups', '2 entities'."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def is_text(name: object) -> bool:
    """Whether a value is text that can be written to a file: a non-empty string without lone surrogates."""
    return isinstance(name, str) and name != "" and name.encode("utf-8", "ignore").decode("utf-8") == name


def path_of(value: object, what: str) -> Path:
    """A path that was given in Python; what: what it is the path of."""
    if not isinstance(value, str | PathLike):
        raise SettingError(f"{what} must be a path, got {value!r}")
    return Path(value)


def check_kind(value: object, kinds: type | UnionType, what: str, expected: str, hint: str | None = None) -> None:
    """Refuses a value of another kind; what: the argument, expected: what it takes, in words."""
    if not isinstance(value, kinds):
        shown = repr(value)
        shown = shown if len(shown) <= LONGEST_SHOWN else type(value).__name__
        raise SettingError(f"{what} must be {expected}, got {shown}" + (f"; {hint}" if hint else ""))


def check_share(name: str, value: float) -> None:
    """Raises an error unless a setting is between 0 and 1."""
    if not 0 <= value <= 1:
        raise SettingError(f"{name} must be between 0 and 1, got {value}")


def check_random_state(random_state: object) -> None:
    """Refuses a value that cannot seed a random generator."""
    if not isinstance(random_state, int) or not 0 <= random_state < 2**63:
        raise SettingError(f"random_state must be a whole number from 0 to 2^63 - 1, got {random_state!r}")


def resolve(word: str, choices: Mapping[str, Choice], *, what: str) -> Choice:
    """The choice with the given name, or an error that lists all choices and the most similar one."""
    if isinstance(word, str) and word in choices:
        return choices[word]
    raise SettingError(unknown(word, choices, what=what))


def unknown(word: str, choices: Iterable[str], *, what: str) -> str:
    """The message for an unknown name: all choices, and the most similar one as a suggestion."""
    names = list(choices)
    return f"unknown {what} '{word}'; choose one of: {', '.join(names)}.{did_you_mean(word, names)}"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A question that suggests the most similar name, after a space; empty if none is similar."""
    similar = difflib.get_close_matches(str(word), list(names), n=1)
    return f" Did you mean '{similar[0]}'?" if similar else ""
