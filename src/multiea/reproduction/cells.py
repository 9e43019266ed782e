"""Cells: one experiment per TOML file, with its data, its settings and the published values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from multiea.foundation.errors import InputError, resolve
from multiea.reproduction.contents import DATA, NEEDS, ORDERS, SETTINGS


@dataclass(frozen=True)
class Cell:
    """One experiment.

    name: the path of its file, such as dbp-4/kecg-pairwise. settings: the settings of `multiea align`. enhancements:
    every training is scored with each of them. vary: the setting of a curve and its values. orders: orders of the
    candidates to compare. published: the published values by table.
    """

    name: str
    title: str
    data: str
    settings: Mapping[str, Any]
    enhancements: tuple[str, ...]
    random_states: tuple[int, ...] = (0, 1, 2)
    vary: Mapping[str, Sequence[int | float]] = field(default_factory=dict)
    orders: tuple[str, ...] = ()
    published: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def runs(self) -> Iterator[tuple[int, float | None]]:
        """The random state of each run, with its value of the varied setting, or None."""
        for state in self.random_states:
            yield from ((state, value) for values in self.vary.values() for value in values)
            if not self.vary:
                yield state, None

    def cut(self) -> Cell:
        """The cell in quick mode: one random state, and two points of a curve."""
        vary = {name: values[:2] for name, values in self.vary.items()}
        return replace(self, random_states=self.random_states[:1], vary=vary)

    def setting(self, value: float | None) -> dict[str, Any]:
        """The settings of one run, with its value of the varied setting."""
        return dict(self.settings) | ({} if value is None else dict.fromkeys(self.vary, value))


def read_cells(folder: Path) -> dict[str, Cell]:
    """All cells below a folder, by name."""
    paths = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.toml"))}
    if not paths:
        raise InputError(
            "contains no experiments", path=folder, hint="Give the folder `experiments` of the project's source code"
        )
    return {name: _read_cell(name, path) for name, path in paths.items()}


def _read_cell(name: str, path: Path) -> Cell:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"invalid TOML: {error}", path=path) from None
    allowed = {part.name for part in fields(Cell)} - {"name"}
    for key in content:
        resolve(key, dict.fromkeys(sorted(allowed)), what=f"key in {path}")
    if missing := {"title", "data", "settings", "enhancements"} - set(content):
        raise InputError(f"missing keys: {', '.join(sorted(missing))}", path=path)
    resolve(content["data"], DATA, what=f"data in {path}")
    for key in content["settings"] | content.get("vary", {}):
        resolve(key, dict.fromkeys(SETTINGS), what=f"setting in {path}")
    lists: dict[str, Any] = {
        key: tuple(content[key]) for key in ("enhancements", "random_states", "orders") if key in content
    }
    for order in lists.get("orders", ()):
        resolve(order, dict.fromkeys(ORDERS), what=f"order in {path}")
    try:
        cell = TypeAdapter(Cell).validate_python({"name": name} | content | lists)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", path=path) from None
    _check_published(cell, path)
    return cell


def _check_published(cell: Cell, path: Path) -> None:
    """Raises an error unless the published values have the numbers that their table shows."""
    numbers = {"table-2": 3, "hits": 2, "hits-multiea": 2, "m_hits": 3}  # the others are single numbers
    for table, values in cell.published.items():
        for key, value in values.items():
            count = numbers.get(key, numbers.get(table))
            parts = value if isinstance(value, list) else [value]
            valid = all(isinstance(part, int | float) for part in parts) and isinstance(value, list) == (
                count is not None
            )
            if not valid or (count is not None and len(parts) != count):
                expected = "a number" if count is None else f"{count} numbers"
                raise InputError(f"published.{table}.{key}: {value!r}", path=path, expected=expected)
    efficiency = cell.published.get("efficiency")
    for key in ("parameters", "megabytes", "seconds"):
        if efficiency is not None and key not in efficiency:
            raise InputError(f"missing key: published.efficiency.{key}", path=path)


def needed_cells(names: Sequence[str], cells: Mapping[str, Cell]) -> list[Cell]:
    """The cells behind some tables and figures, each once."""
    found: dict[str, Cell] = {}
    for name in names:
        for cell in NEEDS[name]:
            if cell not in cells:
                raise InputError(f"{name} needs the experiment '{cell}', which does not exist")
            found[cell] = cells[cell]
    return list(found.values())
