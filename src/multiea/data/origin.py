"""Where a task comes from: its data set, the readers' warnings, and how long reading took."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from multiea.settings.data import EMBEDDED_NAMES, Data

EMBEDDED = {name: Path(__file__).parent / name for name in EMBEDDED_NAMES}


@dataclass(frozen=True)
class Origin:
    """data: how to read the data set again; without a source where a task was made in Python."""

    data: Data = field(default_factory=Data)
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
