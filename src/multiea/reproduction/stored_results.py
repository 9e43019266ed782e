"""Stored results: one JSON file per cell, with one row per run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from multiea.foundation.errors import InputError
from multiea.reproduction.cells import Cell
from multiea.settings.tree import RENAMED_KEYS

Key = tuple[int, float]  # random state, value of the varied setting


def stored_rows(results: Path, cell: Cell) -> list[dict[str, Any]]:
    """The stored rows of a cell, by random state and value."""
    return list(_rows_by_key(results, cell).values())


def stored_row(results: Path, cell: Cell, random_state: int, value: float | None) -> dict[str, Any] | None:
    """The stored row of one run; None if it has not been run."""
    return _rows_by_key(results, cell).get(_key(random_state, value))


def store(results: Path, cell: Cell, row: dict[str, Any]) -> None:
    """Adds a row to the file of a cell, or replaces it; a crash leaves the old file intact."""
    rows = _rows_by_key(results, cell)
    rows[_key(row["random_state"], row["value"])] = row
    path = _path(results, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".partial")
    draft.write_text(json.dumps([rows[key] for key in sorted(rows)], indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def current_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings under the current names: look_every is now evaluate_every."""
    renamed = {old.split(".")[1]: new.split(".")[1] for old, new in RENAMED_KEYS.items()}
    return {renamed.get(key, key): value for key, value in stored.items()}


def _rows_by_key(results: Path, cell: Cell) -> dict[Key, dict[str, Any]]:
    path = _path(results, cell)
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {_key(row["random_state"], row["value"]): row for row in rows if row["settings"]}
    except (ValueError, KeyError, TypeError):
        raise InputError(
            "not a file of results", path=path, hint="Delete it; the experiment is then run again"
        ) from None


def _path(results: Path, cell: Cell) -> Path:
    return results / f"{cell.name}.json"


def _key(random_state: int, value: float | None) -> Key:
    return random_state, float("-inf") if value is None else float(value)
