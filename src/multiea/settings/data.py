"""Settings of the data set: where it is and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from multiea.foundation.errors import SettingError, check_random_state, check_share
from multiea.settings.fields import names_checked, setting
from multiea.settings.parsing import check_types

EMBEDDED_NAMES = ("world",)
DEFAULT_TRAIN_RATIO = 0.3
NOT_IF_ADDED = ("train_ratio", "validation_ratio", "random_state", "previous")  # where a KG is added to a run
ONLY_IF_ADDED = ("kg_name", "held_out")
PATHS = ("seeds", "previous", "grown_from", "held_out")  # settings that are paths, besides the source


@names_checked
@dataclass(frozen=True)
class Data:
    """Which data set, and how it is read."""

    name: str | None = setting(None, "The name of the data set; recorded by a run, never set by hand.")
    source: tuple[str, ...] = setting(
        (), "A folder, a dataset.toml, 'world', or several files, one per KG; paths are relative to this file."
    )
    seeds: str | None = setting(
        None, "A file of known groups to learn from: TSV, CSV, SSSOM or owl:sameAs.", option="--seeds"
    )
    train_ratio: float | None = setting(
        None,
        f"The share of known groups used as seeds; {DEFAULT_TRAIN_RATIO} by default, unless the data set defines the "
        "split.",
        option="--train-ratio",
    )
    validation_ratio: float | None = setting(None, "The share of known groups that become validation groups.")
    random_state: int | None = setting(None, "The random state of the split; by default that of the run.")
    lenient: bool = setting(False, "Drop members of groups that their KG does not have.", option="--lenient")
    names: tuple[str, ...] = setting(
        (), "A property or column that gives names, in all KGs that have it.", option="--names"
    )
    attributes: tuple[str, ...] = setting(
        (), "A property or column that is an attribute and no name, in all KGs that have it.", option="--attributes"
    )
    ignore: tuple[str, ...] = setting(
        (), "A property or column that is not used, in all KGs that have it.", option="--ignore"
    )
    previous: str | None = setting(None, "A run folder whose group ids are carried on.", option="--previous")
    grown_from: str | None = setting(
        None, "A run folder to which a KG is added; `source` then names the files of that KG only."
    )
    kg_name: str | None = setting(None, "The name of the added KG; by default that of its first file.")
    held_out: str | None = setting(None, "A file of known groups for evaluation, where a KG is added.")

    def __post_init__(self) -> None:
        if not isinstance(self.source, tuple):  # a single path would be read as a list of letters
            raise SettingError(f"data.source must be a tuple of paths, got {self.source!r}")
        check_types(self, "data")
        listed = [*self.names, *self.attributes, *self.ignore]
        if twice := sorted({name for name in listed if listed.count(name) > 1}):
            raise SettingError(f"'{twice[0]}' can be in one of data.names, data.attributes and data.ignore, and once")
        for name in ("train_ratio", "validation_ratio"):
            if getattr(self, name) is not None:
                check_share(name, getattr(self, name))
        if self.random_state is not None:
            check_random_state(self.random_state)
        is_added = self.grown_from is not None
        for name in NOT_IF_ADDED if is_added else ONLY_IF_ADDED:
            if getattr(self, name) is not None:
                problem = "cannot be combined" if is_added else "can only be used"
                raise SettingError(f"data.{name} {problem} with data.grown_from (a run to which a KG is added)")

    def with_absolute_paths(self) -> Data:
        """The same with paths that do not depend on the current folder.

        Links are not followed: a KG is named after the file that the user named.
        """
        paths: dict[str, Any] = {name: absolute(path) for name in PATHS if (path := getattr(self, name)) is not None}
        return replace(self, source=tuple(map(absolute, self.source)), **paths)


def absolute(source: str | Path) -> str:
    """The name of an embedded data set, or an absolute path."""
    return str(source) if str(source) in EMBEDDED_NAMES else str(Path(source).absolute())
