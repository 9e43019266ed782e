"""Choices: the options of exports; Written: what an export wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Choices:
    """The options of exports; FORMATS says which format uses which.

    closure: link all pairs of members instead of a star. predicate: owl:sameAs or skos:exactMatch. prefer: KGs whose
    members represent their groups, the most preferred first. undo: also write the tables that lead back to the original
    KGs.
    """

    closure: bool = False
    predicate: str = "owl:sameAs"
    prefer: Sequence[str] = ()
    undo: bool = True


@dataclass(frozen=True)
class Written:
    """What an export wrote: its files, the number and the kind of its records, and how many ids were not IRIs."""

    files: tuple[Path, ...]
    records: int
    what: str
    encoded: int = 0
