"""One reader per format, chosen by name or by the extension of the file; each also reads gzipped files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from pyoxigraph import RdfFormat

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.readers import triples
from multiea.data.readers.group_files import (
    GroupReader,
    read_group_parquet,
    read_group_table,
    read_same_as,
    read_sssom,
)
from multiea.data.readers.kg_file import KgFile, KgReader
from multiea.data.readers.rdf import rdf_reader
from multiea.data.readers.tables import CSV, TSV
from multiea.foundation.errors import InputError, resolve, unknown

RDF_FORMATS: Mapping[str, RdfFormat] = {
    "n-triples": RdfFormat.N_TRIPLES,
    "n-quads": RdfFormat.N_QUADS,
    "turtle": RdfFormat.TURTLE,
    "rdf-xml": RdfFormat.RDF_XML,
}
KG_READERS: Mapping[str, KgReader] = {
    "tsv": triples.add_tsv,
    "csv": triples.add_csv,
    "parquet": triples.add_parquet,
    **{name: rdf_reader(name, rdf_format) for name, rdf_format in RDF_FORMATS.items()},
}
GROUP_READERS: Mapping[str, GroupReader] = {
    "tsv": read_group_table(TSV),
    "csv": read_group_table(CSV),
    "parquet": read_group_parquet,
    "sssom": read_sssom,
    **{name: read_same_as(rdf_format) for name, rdf_format in RDF_FORMATS.items()},
}
EXTENSIONS = {  # the first that fits counts
    ".sssom.tsv": "sssom",
    ".tsv": "tsv",
    ".csv": "csv",
    ".parquet": "parquet",
    ".nt": "n-triples",
    ".nq": "n-quads",
    ".ttl": "turtle",
    ".rdf": "rdf-xml",
    ".owl": "rdf-xml",
    ".xml": "rdf-xml",
}


def stem_and_format(path: Path) -> tuple[str, str] | None:
    """The file name without its extensions, and the format of the extensions; None if they are unknown."""
    name = path.name.removesuffix(".gz")
    for extension, format_name in EXTENSIONS.items():
        if name.lower().endswith(extension) and len(name) > len(extension):
            return name[: -len(extension)], format_name
    return None


def read_kg(
    name: str,
    files: Sequence[Path],
    *,
    format_name: str | None = None,
    columns: Sequence[str] | None = None,
    entities: pl.DataFrame | None = None,
) -> KnowledgeGraph:
    """One KG from its files. `entities` (columns entity, label) adds entities, which may have no triple, and names."""
    builder = KnowledgeGraphBuilder(name)
    for number, path in enumerate(files):
        read = resolve(format_name or _format_of(path), KG_READERS, what="format")
        read(KgFile(path, columns, scope=f"file{number + 1}." if len(files) > 1 else ""), builder)
    if entities is not None:
        builder.add_entities(entities["entity"], entities["label"])
    return builder.build(files[0])


def read_groups(
    path: Path, kgs: Sequence[KnowledgeGraph], *, format_name: str | None = None, lenient: bool = False
) -> Groups:
    """Known groups over these KGs from one file."""
    chosen = format_name or _format_of(path)
    if chosen not in GROUP_READERS:
        raise InputError(unknown(chosen, GROUP_READERS, what="format of groups"), path=path)
    return GROUP_READERS[chosen](path, kgs, lenient)


def _format_of(path: Path) -> str:
    known = stem_and_format(path)
    if not path.exists():
        raise InputError("no such file", path=path, hint="Check the spelling and the folder")
    if path.is_dir():
        raise InputError("this is a folder", path=path, expected="a file")
    if known is None:
        raise InputError(
            "unknown format",
            path=path,
            expected=f"a name ending in one of {', '.join(EXTENSIONS)} (or that with .gz)",
            hint=f"Or name its format in dataset.toml: {', '.join(KG_READERS)}",
        )
    return known[1]
