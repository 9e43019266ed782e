"""The content of dataset.toml, checked."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, field_validator, model_validator

from multiea.data.files import opened
from multiea.data.properties import ATTRIBUTE, IGNORE, NAME
from multiea.data.raw_dataset import ROLES
from multiea.data.readers import GROUP_READERS, KG_READERS
from multiea.data.readers.kg_file import TableChoices
from multiea.foundation.errors import InputError, unknown

TOML_EXPECTED = {
    "columns": "three column names: head, relation, tail",
    "file": "a file name, or a list of file names",
    "kgs": "tables [kgs.NAME], each with a file",
    **dict.fromkeys(("names", "attributes", "ignore", "relations"), "a list of columns or properties"),
    "missing": "a list of texts that mean that a cell is empty",
    **dict.fromkeys(("id", "sheet", "separator", "format"), "text"),
    "delimiter": "one character, such as ';'",
    **dict.fromkeys(("groups", "seeds", "validation", "held_out"), "a file name, or a table with file and format"),
}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class GroupFile(_Strict):
    """A file of groups, and its format if the extension does not determine it."""

    file: str
    format: str | None = None


Several = Annotated[list[str], BeforeValidator(lambda one: [one] if isinstance(one, str) else one)]


class KgFiles(_Strict):
    """The files of one KG, and what is known about their columns and properties."""

    file: Several
    format: str | None = None
    columns: tuple[str, str, str] | None = None
    id: str | None = None
    names: Several = []
    attributes: Several = []
    ignore: Several = []
    relations: Several = []
    separator: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    missing: Several | None = None

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, delimiter: str | None) -> str | None:
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
            raise ValueError("not one character")
        return delimiter

    @field_validator("separator")
    @classmethod
    def _not_empty(cls, separator: str | None) -> str | None:
        if separator == "":
            raise ValueError("empty")
        return separator

    @model_validator(mode="after")
    def _each_property_once(self) -> KgFiles:
        listed = [*self.names, *self.attributes, *self.ignore, *self.relations, *([self.id] if self.id else [])]
        twice = sorted({name for name in listed if listed.count(name) > 1})
        if twice:
            raise ValueError(f"'{twice[0]}' is listed twice; choose one of id, names, attributes, relations, ignore")
        return self

    @property
    def table(self) -> TableChoices:
        """What is known about tables."""
        return TableChoices(
            self.columns,
            self.id,
            tuple(self.relations),
            self.separator,
            self.delimiter,
            self.sheet,
            None if self.missing is None else tuple(self.missing),
        )

    @property
    def roles(self) -> dict[str, str]:
        """The roles of properties."""
        by_role = {NAME: self.names, ATTRIBUTE: self.attributes, IGNORE: self.ignore}
        return {name: role for role, names in by_role.items() for name in names}


OneGroupFile = Annotated[
    GroupFile | None, BeforeValidator(lambda entry: {"file": entry} if isinstance(entry, str) else entry)
]


class DatasetToml(_Strict):
    """The content of dataset.toml. Paths are relative to it."""

    name: str | None = None
    kgs: dict[str, KgFiles] = {}
    entities: str | None = None
    groups: OneGroupFile = None
    seeds: OneGroupFile = None
    validation: OneGroupFile = None
    held_out: OneGroupFile = None

    def group_files(self) -> dict[str, GroupFile]:
        """The group files by role."""
        return {role: entry for role in ROLES if (entry := getattr(self, role)) is not None}


def parsed_toml(path: Path) -> DatasetToml:
    """The content of a dataset.toml; errors name the key."""
    try:
        with opened(path) as file:
            return DatasetToml.model_validate(tomllib.loads(file.read().decode("utf-8")))
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, expected="TOML in UTF-8") from None
    except ValidationError as error:
        raise InputError(_first_validation_error(error), path=path) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"invalid TOML: {error}", path=path) from None


def refuse_unknown_formats(settings: DatasetToml, path: Path) -> None:
    """Raises an error for a KG without files, and for formats that do not exist."""
    for kg_name, kg in settings.kgs.items():
        if not kg.file:
            raise InputError(f"KG '{kg_name}' has no file", path=path, expected='file = "..."')
        if kg.format is not None and kg.format not in KG_READERS:
            raise InputError(f"kgs.{kg_name}: {unknown(kg.format, KG_READERS, what='format')}", path=path)
    for role, entry in settings.group_files().items():
        if entry.format is not None and entry.format not in GROUP_READERS:
            raise InputError(f"{role}: {unknown(entry.format, GROUP_READERS, what='format of groups')}", path=path)


def _first_validation_error(error: ValidationError) -> str:
    """The most useful validation error of dataset.toml as a sentence: misspelt keys first."""
    errors = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    first = errors[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        top = len(first["loc"]) == 1
        owner: type[BaseModel] = DatasetToml if top else KgFiles if first["loc"][0] == "kgs" else GroupFile
        asked = str(first["loc"][-1])
        if top and asked in KgFiles.model_fields:
            return f"unknown key '{asked}' at the top; it belongs to one KG: {asked} = ... below [kgs.NAME]"
        return unknown(asked, owner.model_fields, what=f"key at {place}:")
    key = next((str(part) for part in reversed(first["loc"]) if part in TOML_EXPECTED), None)
    if first["type"] == "value_error" and key == "kgs":  # about several keys of a KG
        return f"{place}: {first['ctx']['error']}"
    found = "nothing" if first["type"] == "missing" else repr(first["input"])[:60]
    return f"{place}: {found}; expected {TOML_EXPECTED[key] if key else first['msg'].lower()}"
