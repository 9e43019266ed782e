"""RDF: N-Triples, N-Quads, Turtle, RDF/XML and JSON-LD, parsed by pyoxigraph. Literals are separate from triples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, cast
from xml.parsers import expat

import polars as pl
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from multiea.data.file_kinds import LOOKED_AT, binary_data, has_controls, refuse_binary
from multiea.data.files import opened
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.readers.kg_file import KgFile, KgReader
from multiea.foundation.errors import InputError, SettingError

BATCH = 1 << 17
GENERATED_LABEL = re.compile(r"[0-9a-f]{20,32}")  # what the parser gives to a blank node without a label
REMOTE_CONTEXT = "Contexts are not downloaded: write the context into the file, or convert it to Turtle or N-Triples"
BASE = "http://example.org/"  # relative IRIs in a file without a base are resolved against this


def rdf_reader(name: str, rdf_format: RdfFormat) -> KgReader:
    """The reader of KGs in an RDF format; name: as dataset.toml names it."""
    return partial(_add_rdf, name, rdf_format)


def _add_rdf(name: str, rdf_format: RdfFormat, file: KgFile, builder: KnowledgeGraphBuilder) -> None:
    """Adds the facts of a file: objects that are IRIs or blank nodes give triples, all others literals.

    Blank nodes become '_:label'. The scope distinguishes blank nodes from different files of one KG.
    """
    for choice in file.table.given:
        verb = "are" if choice.endswith("s") else "is"
        raise SettingError(
            f"KG '{builder.name}': {choice} {verb} for tables (tsv, csv, parquet), not for {name}; remove it from "
            f"[kgs.{builder.name}] in dataset.toml"
        )
    path = file.path
    blank = _BlankNodeIds(file.scope, all_labelled=rdf_format in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS))
    triples: tuple[list[str], list[str], list[str]] = ([], [], [])
    literals: tuple[list[str], list[str], list[str], list[str]] = ([], [], [], [])
    heads, relations, tails = triples
    subjects, properties, values, types = literals
    for quad in quads(path, rdf_format):
        subject, value = quad.subject, quad.object
        head = subject.value if type(subject) is NamedNode else blank.id_of(subject)
        if type(value) is NamedNode or type(value) is BlankNode:
            heads.append(head)
            relations.append(quad.predicate.value)
            tails.append(value.value if type(value) is NamedNode else blank.id_of(value))
            if len(heads) >= BATCH:
                builder.add_triples(*_flushed(triples))
        else:
            subjects.append(head)
            properties.append(quad.predicate.value)
            text, kind = _literal(value)
            values.append(text)
            types.append(kind)
            if len(subjects) >= BATCH:
                builder.add_literals(*_flushed(literals))
    builder.add_triples(*_flushed(triples))
    builder.add_literals(*_flushed(literals))


def quads(path: Path, rdf_format: RdfFormat) -> Iterator[Quad]:
    """The statements of a file. Invalid RDF is an error that names the line."""
    with opened(path) as stream:
        checked = _CheckedStream(path, stream, check_xml=rdf_format == RdfFormat.RDF_XML)
        try:
            yield from parse(cast(IO[bytes], checked), format=rdf_format, base_iri=BASE)
            checked.finish()
        except Exception as error:
            failure = checked.failure or error
            if not isinstance(failure, SyntaxError | expat.ExpatError | LookupError | ValueError):
                raise failure from None  # reading failed, the RDF may be valid
            if has_controls(checked.start):
                raise binary_data(path) from None
            message = failure.msg if isinstance(failure, SyntaxError) else str(failure)
            line = getattr(failure, "lineno", None)
            hint = REMOTE_CONTEXT if "LoadDocumentCallback" in message else "Correct the line, or remove it"
            raise InputError(f"invalid {rdf_format.name}: {message}", path=path, line=line, hint=hint) from None


class _CheckedStream:
    """Passes a stream to the parser and keeps the original error if reading fails, which the parser would reword.

    RDF/XML is also checked to be well-formed XML: the parser accepts a truncated file.
    """

    def __init__(self, path: Path, stream: BinaryIO, *, check_xml: bool) -> None:
        self._path, self._stream = path, stream
        self._checker = expat.ParserCreate() if check_xml else None
        self.failure: Exception | None = None
        self.start = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        try:
            data = self._stream.read(size)
            if not self.start:
                self.start = data[:LOOKED_AT]
                refuse_binary(self._path, data)
            if self._checker is not None and data:
                self._checker.Parse(data, False)
        except Exception as failure:
            self.failure = failure
            raise
        return data

    def finish(self) -> None:
        """Raises an error if the XML is incomplete."""
        if self._checker is not None:
            self._checker.Parse(b"", True)


class _BlankNodeIds:
    """Ids for blank nodes: their label, or a number by first appearance if the parser generated the label."""

    def __init__(self, scope: str, *, all_labelled: bool) -> None:
        self._scope, self._all_labelled = scope, all_labelled
        self._numbers: dict[str, int] = {}

    def id_of(self, node: Any) -> str:
        if type(node) is not BlankNode:
            return str(node)  # a quoted triple
        label: str = node.value
        if not self._all_labelled and GENERATED_LABEL.fullmatch(label):
            label = f"[{self._numbers.setdefault(label, len(self._numbers) + 1)}]"  # no file can have this label
        return f"_:{self._scope}{label}"


def _literal(value: Any) -> tuple[str, str]:
    """The text of a value and its type: the datatype, or the language such as '@en'."""
    if type(value) is not Literal:
        return str(value), "http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement"  # a quoted triple
    return value.value, f"@{value.language}" if value.language else value.datatype.value


def _flushed(columns: tuple[list[str], ...]) -> Iterator[pl.Series]:
    """The collected columns as series. Empties the lists."""
    for column in columns:
        yield pl.Series(column, dtype=pl.String)
        column.clear()
