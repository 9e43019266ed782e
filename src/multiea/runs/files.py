"""Reading single files of a run folder; errors name the file that is missing or damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from safetensors import SafetensorError

from multiea.data.readers.tables import first_line
from multiea.foundation.errors import InputError
from multiea.grouping.lineage import LINEAGE, Ancestor, no_lineage
from multiea.runs.layout import REQUIRED_FILES
from multiea.settings.config_file import CONFIG_OF_A_RUN, values_in_file
from multiea.settings.parsing import GivenValue
from multiea.settings.tree import AlignSettings


def read_ancestor(folder: str | Path) -> Ancestor:
    """What a run folder passes on to the next run; its embeddings are not read."""
    folder = Path(folder)
    with damage_reported(folder):
        groups = read_table(folder / "groups.parquet", ["group_id", "kg", "entity"])
        kgs = read_table(folder / "entities.parquet", ["kg"])["kg"]
        names = tuple(kgs.unique(maintain_order=True))
        return Ancestor(groups, names, read_lineage(folder)["group_id"], str(folder))


def read_metrics(folder: str | Path) -> dict[str, Any]:
    """The content of metrics.json; empty where a run has none."""
    path = Path(folder) / "metrics.json"
    if not path.is_file():
        return {}
    with errors_in(path):
        metrics = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(metrics, dict):
            raise TypeError("not a JSON object")
        return metrics


def folders_grown_from(folder: str | Path) -> list[Path]:
    """A run folder; if a KG was added in it, then the previous run, and so on."""
    folders = [Path(folder)]
    while True:
        with damage_reported(folders[-1]):
            before = read_run_settings(folders[-1]).data.grown_from
        if before is None:
            return folders
        if Path(before).resolve() in [one.resolve() for one in folders]:
            raise InputError(
                f"grown from {before}, which is grown from it", path=folders[-1], expected="an earlier run"
            )
        folders.append(Path(before))


def read_run_settings(folder: Path) -> AlignSettings:
    """The settings of a run; its engine may be one that is not registered here."""
    path = folder / CONFIG_OF_A_RUN
    given = values_in_file(path)
    if not {"engine", "enhancement.mode"} <= {one.key for one in given}:
        raise InputError("damaged: no engine or no enhancement in it", path=path, expected="the file as written")
    if "enhancement.candidates" not in {one.key for one in given}:  # recorded wherever the default is a number
        given.append(GivenValue("enhancement.candidates", None, str(path)))
    return AlignSettings.from_given(given, engine_may_be_unknown=True)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The content of manifest.json."""
    path = folder / "manifest.json"
    with errors_in(path):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def read_lineage(folder: Path) -> pl.DataFrame:
    """What became of the ids of previous runs; an empty table where there were none."""
    path = folder / "lineage.tsv"
    if not path.is_file():
        return no_lineage()
    with errors_in(path):
        table = pl.read_csv(path, separator="\t", schema=LINEAGE, glob=False)
    return table.with_columns(pl.col("into").fill_null(""))


def read_table(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """A Parquet file of a run."""
    with errors_in(path):
        return pl.read_parquet(path, columns=columns, glob=False)


def is_run(folder: Path) -> bool:
    """Whether a folder has all files of a run."""
    return all((folder / name).is_file() for name in REQUIRED_FILES)


@contextmanager
def damage_reported(folder: Path) -> Iterator[None]:
    """Reports files that a run folder lacks, and errors while reading it."""
    missing = [name for name in REQUIRED_FILES if not (folder / name).is_file()]
    if missing:
        expected = "a run folder, as `multiea align --out` writes it"
        found = f"no {', '.join(missing)}" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
        raise InputError(found, path=folder, expected=expected)
    with errors_in(folder):
        yield


@contextmanager
def errors_in(path: Path) -> Iterator[None]:
    """Errors while reading say which file, or at least which folder, is damaged."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, pl.exceptions.PolarsError, SafetensorError) as error:
        what = "a run folder" if path.is_dir() else "the file"
        raise InputError(
            f"damaged: {first_line(error)}", path=path, expected=f"{what} as written", hint="Align again"
        ) from None
