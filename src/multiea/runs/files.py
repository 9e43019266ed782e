"""What single files of a run folder say; errors name the file that is missing or damaged."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from safetensors import SafetensorError

from multiea.data.readers.tables import first_line
from multiea.foundation.errors import InputError
from multiea.grouping.lineage import LINEAGE, Ancestor, no_lineage
from multiea.runs.saving import FILES


def read_ancestor(folder: str | Path) -> Ancestor:
    """What a run folder hands down to the next run; its embeddings are not read."""
    folder = Path(folder)
    with damage_named(folder):
        groups = read_table(folder / "groups.parquet", ["group_id", "kg", "entity"])
        kgs = read_table(folder / "entities.parquet", ["kg"])["kg"]
        return Ancestor(groups, tuple(kgs.unique(maintain_order=True)), read_lineage(folder)["group_id"])


def read_metrics(folder: str | Path) -> dict[str, Any]:
    """The scores a run folder holds; none where it has no metrics.json."""
    path = Path(folder) / "metrics.json"
    if not path.is_file():
        return {}
    with blamed_on(path):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def folders_grown_from(folder: str | Path) -> list[Path]:
    """A run folder, and if a KG was added in it the run before, and so on."""
    folders = [Path(folder)]
    while True:
        with damage_named(folders[-1]):
            before = read_settings(folders[-1]).get("data", {}).get("grown_from")
        if before is None:
            return folders
        if Path(before).resolve() in [one.resolve() for one in folders]:
            raise InputError(
                f"grown from {before}, which is grown from it", path=folders[-1], expected="a run that was there before"
            )
        folders.append(Path(before))


def read_settings(folder: Path) -> dict[str, Any]:
    """All settings of a run."""
    path = folder / "config.toml"
    with blamed_on(path):
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    if "engine" not in settings or "enhancement" not in settings:
        raise InputError("damaged: no engine or no enhancement in it", path=path, expected="it as it was written")
    return settings


def sources_of(folder: Path) -> list[str]:
    """The places of the data set a run was made of."""
    return list(read_settings(folder).get("data", {}).get("source") or ())


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a run was made of and with."""
    path = folder / "manifest.json"
    with blamed_on(path):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def read_lineage(folder: Path) -> pl.DataFrame:
    """What became of the ids of the runs before; an empty table where there were none."""
    path = folder / "lineage.tsv"
    if not path.is_file():
        return no_lineage()
    with blamed_on(path):
        table = pl.read_csv(path, separator="\t", schema=LINEAGE, glob=False)
    return table.with_columns(pl.col("into").fill_null(""))


def read_table(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """A Parquet file of a run."""
    with blamed_on(path):
        return pl.read_parquet(path, columns=columns, glob=False)


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """Says what is missing in a run folder, or that it is no longer as it was written."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        expected = "a run folder, as `multiea align --out` makes it"
        found = f"no {', '.join(missing)}" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
        raise InputError(found, path=folder, expected=expected)
    with blamed_on(folder):
        yield


@contextmanager
def blamed_on(path: Path) -> Iterator[None]:
    """Errors while reading say which file, or at least which folder, is not as it was written."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, pl.exceptions.PolarsError, SafetensorError) as error:
        what = "a run folder" if path.is_dir() else "it"
        hint = "Align again"
        raise InputError(
            f"damaged: {first_line(error)}", path=path, expected=f"{what} as it was written", hint=hint
        ) from None
