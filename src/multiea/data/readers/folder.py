"""The native folder: one triples file a KG and a file of known groups; dataset.toml names what does not follow this."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.readers import EXTENSIONS, FORMATS, GROUP_FORMATS, read_groups, read_kg, stem_and_format
from multiea.data.readers.tables import TSV, text_rows
from multiea.errors import InputError, unknown

ROLES = ("groups", "seeds", "validation", "held_out")
ENTITY_COLUMNS = ("kg", "entity", "label")


@dataclass(frozen=True)
class Parts:
    """What a data set holds: its KGs, and its known groups by role; those of role 'groups' are still to be split."""

    name: str
    kgs: Sequence[KnowledgeGraph]
    groups: Mapping[str, Groups] = field(default_factory=dict)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class GroupFile(_Strict):
    """A file of groups and its format, where the extension does not tell."""

    file: str
    format: str | None = None


class KgFiles(_Strict):
    """The files of one KG."""

    file: str | list[str]
    format: str | None = None
    columns: tuple[str, str, str] | None = None


class DatasetToml(_Strict):
    """What dataset.toml may say; paths are relative to it."""

    name: str | None = None
    kgs: dict[str, KgFiles] = {}
    entities: str | None = None
    groups: str | GroupFile | None = None
    seeds: str | GroupFile | None = None
    validation: str | GroupFile | None = None
    held_out: str | GroupFile | None = None


def read_native_folder(folder: Path, *, lenient: bool = False) -> Parts:
    """Every file with a known extension is a KG, except those named groups, seeds, validation, held_out, entities."""
    kgs: dict[str, KgFiles] = {}
    groups: dict[str, GroupFile] = {}
    entities: str | None = None
    for path in sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")):
        known = stem_and_format(path)
        if known is None:
            continue
        stem, format_name = known
        if stem == "entities" and format_name == "tsv":
            entities = path.name
        elif stem in ROLES:
            _refuse_second(stem, groups, folder, path)
            groups[stem] = GroupFile(file=path.name)
        else:
            _refuse_second(stem, kgs, folder, path)
            kgs[stem] = KgFiles(file=path.name)
    if len(kgs) < 2:
        seen = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) or "nothing"
        raise InputError(
            f"a data set of {len(kgs) or 'no'} KG{'s' * (len(kgs) != 1)} (the folder holds: {seen})",
            path=folder,
            expected=f"at least two triples files, one a KG, ending in {', '.join(EXTENSIONS)} (also .gz)",
            hint="Or an OpenEA or DBP15K folder, or a dataset.toml that names the files",
        )
    settings = DatasetToml(name=folder.resolve().name, kgs=kgs, entities=entities, **groups)
    return _read(folder, settings, lenient=lenient)


def read_dataset_toml(path: Path, *, lenient: bool = False) -> Parts:
    """A data set as its dataset.toml describes it; what it does not mention is looked for as in any folder."""
    try:
        settings = DatasetToml.model_validate(tomllib.loads(path.read_bytes().decode("utf-8")))
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, expected="TOML") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"broken TOML: {error}", path=path) from None
    except ValidationError as error:
        raise InputError(_first_complaint(error), path=path) from None
    if not settings.kgs:
        parts = read_native_folder(path.parent, lenient=lenient)
        return Parts(settings.name or parts.name, parts.kgs, parts.groups)
    name = settings.name or path.parent.resolve().name
    return _read(path.parent, settings.model_copy(update={"name": name}), lenient=lenient)


def _read(folder: Path, settings: DatasetToml, *, lenient: bool) -> Parts:
    if len(settings.kgs) < 2:
        raise InputError(
            f"a data set of {len(settings.kgs)} KG", path=folder, expected="at least two [kgs.NAME] tables"
        )
    entities = _entity_table(folder / settings.entities, list(settings.kgs)) if settings.entities else None
    kgs = []
    for name, kg in settings.kgs.items():
        if kg.format is not None and kg.format not in FORMATS:
            raise InputError(unknown(kg.format, FORMATS, what="format"), path=folder / "dataset.toml")
        files = [folder / file for file in ([kg.file] if isinstance(kg.file, str) else kg.file)]
        if not files:
            raise InputError(f"KG '{name}' has no file", path=folder / "dataset.toml", expected='file = "..."')
        own = None if entities is None else entities.filter(pl.col("kg") == name)
        kgs.append(read_kg(name, files, format_name=kg.format, columns=kg.columns, entities=own))
    groups = {}
    for role in ROLES:
        entry: str | GroupFile | None = getattr(settings, role)
        if entry is not None:
            entry = GroupFile(file=entry) if isinstance(entry, str) else entry
            if entry.format is not None and entry.format not in GROUP_FORMATS:
                raise InputError(
                    unknown(entry.format, GROUP_FORMATS, what="format of groups"), path=folder / "dataset.toml"
                )
            groups[role] = read_groups(folder / entry.file, kgs, format_name=entry.format, lenient=lenient)
    return Parts(settings.name or folder.name, kgs, groups)


def _entity_table(path: Path, kg_names: Sequence[str]) -> pl.DataFrame:
    """The side file of entities: kg, entity and, where known, what to call it on a screen."""
    blocks = list(text_rows(path, TSV, ", ".join(ENTITY_COLUMNS)))
    header = [] if not blocks else [name or "" for name in blocks[0].table.row(0)]
    if tuple(header) != ENTITY_COLUMNS:
        raise InputError(
            f"the header {', '.join(header) or 'is missing'}", path=path, line=1, expected=", ".join(ENTITY_COLUMNS)
        )
    table = pl.concat([block.table for block in blocks]).slice(1)
    table.columns = list(ENTITY_COLUMNS)
    strange = table.filter(~pl.col("kg").is_in(list(kg_names)) | pl.col("kg").is_null() | pl.col("entity").is_null())
    if not strange.is_empty():
        kg, entity, _ = strange.row(0)
        raise InputError(
            f"an entity {entity!r} of KG {kg!r}", path=path, expected=f"a KG from: {', '.join(kg_names)}, and an entity"
        )
    return table


def _refuse_second(name: str, seen: Mapping[str, KgFiles | GroupFile], folder: Path, path: Path) -> None:
    if name in seen:
        raise InputError(
            f"two files are named '{name}': {seen[name].file} and {path.name}",
            path=folder,
            expected="a name of its own for each KG",
            hint="Rename one, remove one, or name several files of one KG in dataset.toml",
        )


def _first_complaint(error: ValidationError) -> str:
    """What is wrong with dataset.toml, in our words: the key, and what it may be."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part not in ("str", "GroupFile", "list[str]"))
    if first["type"] == "extra_forbidden":
        owner: type[BaseModel] = (
            DatasetToml if len(first["loc"]) == 1 else KgFiles if first["loc"][0] == "kgs" else GroupFile
        )
        return unknown(str(first["loc"][-1]), owner.model_fields, what=f"key at {place}:")
    return f"{place}: {first['msg'].lower()}"
