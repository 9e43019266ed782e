"""The native folder: one file per KG and a file of known groups; dataset.toml describes other layouts."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from multiea.data.files import BYTE_ORDER_MARK
from multiea.data.raw_dataset import ROLES, RawDataset
from multiea.data.readers import EXTENSIONS, HINTS, JSON_HINT, KG_READERS, read_given_groups, read_kg, stem_and_format
from multiea.data.readers.dataset_toml import DatasetToml, GroupFile, KgFiles, parsed_toml, refuse_unknown_formats
from multiea.data.readers.tables import TSV, text_rows
from multiea.foundation.errors import InputError

log = logging.getLogger("multiea")
IGNORED_EXTENSIONS = (".md", ".toml", ".json", ".html")
ENTITY_COLUMNS = ("kg", "entity", "label")


def read_native_folder(folder: Path, *, lenient: bool = False, roles: Mapping[str, str] | None = None) -> RawDataset:
    """Reads a folder in which each file with a known extension is a KG, except those with reserved names."""
    settings = _settings_from_files(folder)
    if len(settings.kgs) < 2:
        seen = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) or "nothing"
        raise InputError(
            f"a data set of {len(settings.kgs) or 'no'} KG{'s' * (len(settings.kgs) != 1)} (files: {seen})",
            path=folder,
            expected=f"at least two files, one per KG, ending in {', '.join(_kg_extensions())} (also .gz, .zip)",
            hint="".join(f"{hint}. " for hint in _hints(path.name for path in folder.iterdir()))
            + "OpenEA and DBP15K folders, and folders with a dataset.toml that names the files, work as well",
        )
    if arrays := [path.name for path in sorted(folder.glob("*.json")) if _is_json_array(path)]:
        log.warning("%s: not read: %s. %s", folder, ", ".join(arrays), JSON_HINT)
    return _read(folder, settings, lenient=lenient, roles=roles)


def _hints(files: Iterable[str]) -> list[str]:
    """What to do about files of known kinds that are not read."""
    extensions = {Path(file).suffix.lower() for file in files}
    return [hint for extension, hint in HINTS.items() if extension in extensions]


def _kg_extensions() -> list[str]:
    return [extension for extension, format_name in EXTENSIONS.items() if format_name in KG_READERS]


def read_dataset_toml(path: Path, *, lenient: bool = False, roles: Mapping[str, str] | None = None) -> RawDataset:
    """Reads a data set described by dataset.toml. What the file does not mention is found by file names."""
    settings = parsed_toml(path)
    named = {entry.file for entry in settings.group_files().values()}
    shown = _settings_from_files(path.parent, except_files=named, with_kgs=not settings.kgs)
    found: dict[str, Any] = {"name": settings.name or shown.name, "kgs": settings.kgs or shown.kgs}
    found["entities"] = settings.entities or shown.entities
    if not settings.group_files():
        found |= shown.group_files()
    settings = settings.model_copy(update=found)
    if len(settings.kgs) < 2:
        raise InputError(f"a data set of {len(settings.kgs)} KG", path=path, expected="at least two [kgs.NAME] tables")
    refuse_unknown_formats(settings, path)
    return _read(path.parent, settings, lenient=lenient, roles=roles)


def _settings_from_files(folder: Path, except_files: Collection[str] = (), *, with_kgs: bool = True) -> DatasetToml:
    """The settings that follow from the file names in a folder."""
    kgs: dict[str, KgFiles] = {}
    groups: dict[str, GroupFile] = {}
    entities: str | None = None
    unread = []
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        known = stem_and_format(path) if path.is_file() else None
        if path.name in except_files or (
            known is None and (path.is_dir() or path.suffix in IGNORED_EXTENSIONS or not path.suffix)
        ):
            continue
        if not with_kgs and (known is None or known[0] not in (*ROLES, "entities")):
            continue
        if known is None:
            unread.append(path.name)
            continue
        stem, format_name = known
        if not stem.isprintable():
            raise InputError(f"a file named {path.name!r}", path=folder, expected="KG names of printable characters")
        _refuse_almost_reserved_name(path, stem, format_name)
        if stem == "entities" and format_name == "tsv":
            entities = path.name
        elif stem in ROLES:
            _refuse_second_file(stem, [groups[stem].file] if stem in groups else [], folder, path, "one file per role")
            groups[stem] = GroupFile(file=path.name)
        elif format_name in KG_READERS:
            seen = kgs[stem].file if stem in kgs else []
            _refuse_second_file(stem, seen, folder, path, "a unique name for each KG")
            kgs[stem] = KgFiles(file=[path.name])
        else:
            raise InputError(
                "mappings, not triples",
                path=path,
                expected=f"a file name that gives their role: {', '.join(ROLES)}",
                hint=f"Rename it, for example to seeds{path.name.removeprefix(stem)}",
            )
    if unread:
        log.warning(
            "%s: not read, because the extensions are unknown: %s",
            folder,
            ". ".join([", ".join(unread), *_hints(unread)]),
        )
    return DatasetToml(name=folder.resolve().name, kgs=kgs, entities=entities, **groups)


def _is_json_array(path: Path) -> bool:
    """Whether a JSON file seems to hold a list, such as one of records; others are settings and metadata."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(100).removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"[")


def _refuse_almost_reserved_name(path: Path, stem: str, format_name: str) -> None:
    """Raises an error for a file name close to a reserved one, which would otherwise be read as a KG."""
    plain = stem.lower().replace("-", "_").split(".")[0]
    meant = {"seed": "seeds", "group": "groups", "heldout": "held_out", "entity": "entities"}.get(plain, plain)
    exact = stem in ROLES or (stem == "entities" and format_name == "tsv")
    if meant in (*ROLES, "entities") and not exact:
        raise InputError(
            "a name that is close to a reserved one",
            path=path,
            expected=f"{meant}.tsv" if meant == "entities" else f"{meant} and an extension such as .tsv or .sssom.tsv",
            hint="Rename it; if it is a KG with this name, list it in dataset.toml",
        )


def _read(folder: Path, settings: DatasetToml, *, lenient: bool, roles: Mapping[str, str] | None) -> RawDataset:
    """Reads the KGs and groups; roles: what the user decided about properties of all KGs."""
    entities = _entity_table(folder / settings.entities, list(settings.kgs)) if settings.entities else None
    kgs = []
    for name, kg in settings.kgs.items():
        own = None if entities is None else entities.filter(pl.col("kg") == name)
        files = [folder / file for file in kg.file]
        kgs.append(
            read_kg(
                name,
                files,
                format_name=kg.format,
                table=kg.table,
                entities=own,
                roles=kg.roles,
                general_roles=roles,
            )
        )
    groups = {
        role: read_given_groups(folder / entry.file, kgs, format_name=entry.format, lenient=lenient)
        for role, entry in settings.group_files().items()
    }
    return RawDataset(settings.name or folder.resolve().name, kgs, groups)


def _entity_table(path: Path, kg_names: Sequence[str]) -> pl.DataFrame:
    """The table entities.tsv: kg, entity and, where known, its name in the column `label`."""
    blocks = list(text_rows(path, TSV, ", ".join(ENTITY_COLUMNS)))
    header = [] if not blocks else [name or "" for name in blocks[0].table.row(0)]
    if tuple(header) != ENTITY_COLUMNS:
        found = f"the header {', '.join(header)}" if header else "the header is missing"
        raise InputError(found, path=path, line=1, expected=", ".join(ENTITY_COLUMNS))
    table = pl.concat([block.table for block in blocks]).slice(1)
    if table.is_empty():
        log.warning("%s: a header and no entities", path)
    table.columns = list(ENTITY_COLUMNS)
    invalid = (~table["kg"].is_in(list(kg_names))).fill_null(True) | table["entity"].is_null()
    if invalid.any():
        row = int(invalid.arg_true()[0])
        kg, entity, _ = table.row(row)
        raise InputError(
            f"the entity {entity!r} of KG {kg!r}",
            path=path,
            line=int(np.concatenate([block.lines for block in blocks])[row + 1]),
            expected=f"a KG from: {', '.join(kg_names)}, and an entity",
        )
    return table


def _refuse_second_file(name: str, seen: Sequence[str], folder: Path, path: Path, expected: str) -> None:
    if seen:
        raise InputError(
            f"two files are named '{name}': {seen[0]} and {path.name}",
            path=folder,
            expected=expected,
            hint="Rename one, remove one, or list several files of one KG in dataset.toml",
        )
