"""One reader per format, chosen by name or by the extension of the file; each also reads gzipped and zipped files."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

import polars as pl
from pyoxigraph import RdfFormat

from multiea.data.files import opened
from multiea.data.groups import Groups
from multiea.data.joined_names import parts_of
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.properties import meant_by
from multiea.data.readers import table_files
from multiea.data.readers.group_files import (
    GroupReader,
    read_group_parquet,
    read_group_table,
    read_same_as,
    read_sssom,
)
from multiea.data.readers.kg_file import KgFile, KgReader, TableChoices
from multiea.data.readers.rdf import rdf_reader
from multiea.data.readers.tables import CSV, TSV
from multiea.data.zip_files import members_of
from multiea.foundation.errors import InputError, resolve, unknown

log = logging.getLogger("multiea")

RDF_FORMATS: Mapping[str, RdfFormat] = {
    "n-triples": RdfFormat.N_TRIPLES,
    "n-quads": RdfFormat.N_QUADS,
    "turtle": RdfFormat.TURTLE,
    "rdf-xml": RdfFormat.RDF_XML,
    "json-ld": RdfFormat.JSON_LD,
}
KG_READERS: Mapping[str, KgReader] = {
    "tsv": table_files.add_tsv,
    "csv": table_files.add_csv,
    "parquet": table_files.add_parquet,
    "jsonl": table_files.add_json_lines,
    "excel": table_files.add_excel,
    **{name: rdf_reader(name, rdf_format) for name, rdf_format in RDF_FORMATS.items()},
}
GROUP_READERS: Mapping[str, GroupReader] = {
    "tsv": read_group_table(TSV),
    "csv": read_group_table(CSV),
    "parquet": read_group_parquet,
    "sssom": read_sssom,
    **{name: read_same_as(rdf_format) for name, rdf_format in RDF_FORMATS.items()},
}
JSON_HINT = "Of JSON, JSON Lines is read: files ending in .jsonl, with one object per line; a .json file is not"
HINTS = {  # for files that are known, but not read
    ".json": JSON_HINT,
    ".xls": "Of Excel, .xlsx is read: save the .xls file as .xlsx",
    ".ods": "Save the .ods file as .xlsx or CSV",
}
EXTENSIONS = {  # the first that fits counts
    ".sssom.tsv": "sssom",
    ".tsv": "tsv",
    ".csv": "csv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
    ".nt": "n-triples",
    ".nq": "n-quads",
    ".ttl": "turtle",
    ".rdf": "rdf-xml",
    ".owl": "rdf-xml",
    ".xml": "rdf-xml",
    ".jsonld": "json-ld",
}
PACKED = (".gz", ".zip")
MOST_LISTED = 30


def stem_and_format(path: Path) -> tuple[str, str] | None:
    """The file name without its extensions, and the format of the extensions; None if they are unknown.

    A zip archive such as en.zip has the format of its only file.
    """
    name = path.name.removesuffix(path.suffix) if path.suffix in PACKED else path.name
    for extension, format_name in EXTENSIONS.items():
        if name.lower().endswith(extension) and len(name) > len(extension):
            return name[: -len(extension)], format_name
    if path.suffix == ".zip" and path.is_file():
        members = members_of(path)
        inner = stem_and_format(Path(PurePosixPath(members[0].filename).name)) if len(members) == 1 else None
        return None if inner is None else (name, inner[1])
    return None


def read_kg(
    name: str,
    files: Sequence[Path],
    *,
    format_name: str | None = None,
    table: TableChoices | None = None,
    entities: pl.DataFrame | None = None,
    roles: Mapping[str, str] | None = None,
    general_roles: Mapping[str, str] | None = None,
) -> KnowledgeGraph:
    """One KG from its files. `entities` (columns entity, label) adds entities, which may have no triple, and names.

    roles: what the user decided about properties of this KG, which must have them; general_roles: about those of all
    KGs, which count more.
    """
    builder = KnowledgeGraphBuilder(name, {**(roles or {}), **(general_roles or {})})
    for number, path in enumerate(files):
        read = resolve(format_name or _format_of(path), KG_READERS, what="format")
        scope = f"file{number + 1}." if len(files) > 1 else ""
        read(KgFile(path, TableChoices() if table is None else table, scope), builder)
    if entities is not None:
        builder.add_entities(entities["entity"], entities["label"])
    kg = builder.build(files[0])
    for asked in roles or ():
        if not meant_by(asked, builder.properties):
            raise InputError(unknown_property(asked, builder.properties, f"KG '{name}'"), path=files[0])
    return kg


def unknown_property(asked: str, properties: Collection[str], owner: str) -> str:
    """The message for a property that nothing has; of a joined name for the part that nothing has."""
    asked = next((part for part in parts_of(asked, properties) if not meant_by(part, properties)), asked)
    if not properties:
        return f"{owner} has no property or column '{asked}', and no other"
    listed = sorted(properties)
    similar = [one for one in difflib.get_close_matches(asked, listed, n=3) if one not in listed[:MOST_LISTED]]
    return unknown(asked, [*listed[:MOST_LISTED], *similar], what=f"property or column of {owner}:")


def read_groups(
    path: Path, kgs: Sequence[KnowledgeGraph], *, format_name: str | None = None, lenient: bool = False
) -> Groups:
    """Known groups over these KGs from one file."""
    chosen = format_name or _format_of(path)
    if chosen not in GROUP_READERS:
        raise InputError(unknown(chosen, GROUP_READERS, what="format of groups"), path=path)
    return GROUP_READERS[chosen](path, kgs, lenient)


def read_given_groups(
    path: Path, kgs: Sequence[KnowledgeGraph], *, format_name: str | None = None, lenient: bool = False
) -> Groups:
    """The same for a file that a user gives; warns if it has no group, such as a table with a header only."""
    groups = read_groups(path, kgs, format_name=format_name, lenient=lenient)
    if not len(groups):
        log.warning(
            "%s: no group in it, so nothing is known from it. Add one line per known group, with entities of at least "
            "two KGs, or remove the file (docs/data.md#formats-of-groups)",
            path,
        )
    return groups


def _format_of(path: Path) -> str:
    known = stem_and_format(path)
    if not path.exists():
        raise InputError("no such file", path=path, hint="Check the spelling and the folder")
    if path.is_dir():
        raise InputError("this is a folder", path=path, expected="a file")
    if known is None and path.suffix == ".zip" and len(members_of(path)) != 1:
        with opened(path):  # refuses it, and says why
            pass
    if known is None:
        raise InputError(
            "unknown format",
            path=path,
            expected=f"a name ending in one of {', '.join(EXTENSIONS)} (or that with .gz or .zip)",
            hint="".join(f"{hint}. " for hint in (HINTS.get(path.suffix.lower()),) if hint)
            + f"Or name its format in dataset.toml: {', '.join(KG_READERS)}",
        )
    return known[1]
