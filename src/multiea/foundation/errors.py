"""What can go wrong for a user: one base error and its few children, each saying what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

Choice = TypeVar("Choice")
ENDS = (".", "?", "!")


class MultiEAError(Exception):
    """Anything a user can mend. The command line prints it without a traceback and exits with code 2."""


class InputError(MultiEAError):
    """A file or data set that cannot be read as it is; says where, what was found, what was expected, what to do."""

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
            message += f"{'' if message.endswith(ENDS) else '.'} {self.hint}"
        return message if message.endswith(ENDS) else message + "."


class SettingError(MultiEAError):
    """An option or argument out of its range."""


class OutputError(MultiEAError):
    """A result that cannot be written where it was asked for."""


def counted(number: int, noun: str) -> str:
    """A number and its noun: '1 group', '2,000 groups', '2 entities'."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def is_text(name: object) -> bool:
    """Whether a name can stand in a file: a string that is not empty and has no half of a surrogate pair."""
    return isinstance(name, str) and name != "" and name.encode("utf-8", "ignore").decode("utf-8") == name


def check_share(name: str, value: float) -> None:
    """Refuses a setting that is no share of something."""
    if not 0 <= value <= 1:
        raise SettingError(f"{name} must be between 0 and 1, got {value}")


def resolve(word: str, choices: Mapping[str, Choice], *, what: str) -> Choice:
    """The choice a user's word names, or an error that lists what there is and the nearest to it."""
    if word in choices:
        return choices[word]
    raise SettingError(unknown(word, choices, what=what))


def unknown(word: str, choices: Iterable[str], *, what: str) -> str:
    """One sentence for a word that names nothing: the choices, and the nearest one first."""
    names = list(choices)
    near = difflib.get_close_matches(word, names, n=1)
    guess = f" Did you mean '{near[0]}'?" if near else ""
    return f"unknown {what} '{word}'; choose one of: {', '.join(names)}.{guess}"
