"""Rows of results, stored in one JSON file: a row is added as soon as its run ends; and the command they come from."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """The stored rows; none if the file does not exist."""
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return rows


def store_rows(path: Path, stored: list[Row], new: Iterable[Row]) -> Iterator[Row]:
    """Adds each new row to the stored ones and to the file, and passes it on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for row in new:
        stored.append(row)
        path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        yield row


def machine(device: str = "auto") -> dict[str, str]:
    """The device of a run and the version of torch, as stored in a row."""
    on_gpu = device != "cpu" and torch.cuda.is_available()
    name = torch.cuda.get_device_name() if on_gpu else f"{torch.get_num_threads()} cores"
    return {"device": f"{platform.machine()} {name}", "torch": torch.__version__}


def run_command(*arguments: str) -> str:
    """Runs `multiea` in its own process; returns what it prints."""
    return subprocess.run(
        [sys.executable, "-m", "multiea", *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
