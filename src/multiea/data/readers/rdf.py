"""RDF: N-Triples, N-Quads, Turtle and RDF/XML, parsed by pyoxigraph; literals are kept apart from entity triples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast
from xml.parsers import expat

import polars as pl
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from multiea.data.files import opened
from multiea.data.interning import KnowledgeGraphBuilder
from multiea.foundation.errors import InputError

BATCH = 1 << 17
MADE_UP = re.compile(r"[0-9a-f]{20,32}")  # the random label the parser gives to a node without one
BASE = "http://example.org/"  # relative IRIs in a file without a base are resolved against this


def add_rdf(path: Path, builder: KnowledgeGraphBuilder, rdf_format: RdfFormat, *, scope: str = "") -> None:
    """Adds a file's facts; objects that are IRIs or blank nodes make triples, all others are literals.

    Blank nodes become '_:label'; scope tells those of several files of one KG apart.
    """
    blank = _BlankNames(scope, all_labelled=rdf_format in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS))
    triples: tuple[list[str], list[str], list[str]] = ([], [], [])
    literals: tuple[list[str], list[str], list[str], list[str]] = ([], [], [], [])
    heads, relations, tails = triples
    subjects, properties, values, types = literals
    for quad in quads(path, rdf_format):
        subject, value = quad.subject, quad.object
        head = subject.value if type(subject) is NamedNode else blank.name(subject)
        if type(value) is NamedNode or type(value) is BlankNode:
            heads.append(head)
            relations.append(quad.predicate.value)
            tails.append(value.value if type(value) is NamedNode else blank.name(value))
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
    """The statements of a file; what is no valid RDF is named by its line."""
    with opened(path) as stream:
        watched = _CheckedStream(stream, check_xml=rdf_format == RdfFormat.RDF_XML)
        try:
            yield from parse(cast(IO[bytes], watched), format=rdf_format, base_iri=BASE)
            watched.finish()
        except Exception as error:
            failure = watched.failure or error
            if not isinstance(failure, SyntaxError | expat.ExpatError | LookupError | ValueError):
                raise failure from None  # the stream broke, not the RDF
            said = failure.msg if isinstance(failure, SyntaxError) else str(failure)
            line = getattr(failure, "lineno", None)
            hint = "Correct the line, or leave it out"
            raise InputError(f"broken {rdf_format.name}: {said}", path=path, line=line, hint=hint) from None


class _CheckedStream:
    """Hands a stream to the parser and keeps what went wrong while reading, which the parser would reword.

    RDF/XML is also checked to be XML: the parser takes a file that ends too early for a whole one.
    """

    def __init__(self, stream: BinaryIO, *, check_xml: bool) -> None:
        self._stream = stream
        self._checker = expat.ParserCreate() if check_xml else None
        self.failure: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        try:
            data = self._stream.read(size)
            if self._checker is not None and data:
                self._checker.Parse(data, False)
        except Exception as failure:
            self.failure = failure
            raise
        return data

    def finish(self) -> None:
        """Raises where the XML has not come to its end."""
        if self._checker is not None:
            self._checker.Parse(b"", True)


class _BlankNames:
    """Names for blank nodes: their label, or a number by first appearance where the parser made the label up."""

    def __init__(self, scope: str, *, all_labelled: bool) -> None:
        self._scope, self._all_labelled = scope, all_labelled
        self._numbers: dict[str, int] = {}

    def name(self, node: Any) -> str:
        if type(node) is not BlankNode:
            return str(node)  # a quoted triple
        label: str = node.value
        if not self._all_labelled and MADE_UP.fullmatch(label):
            label = f"[{self._numbers.setdefault(label, len(self._numbers) + 1)}]"  # no label of a file has brackets
        return f"_:{self._scope}{label}"


def _literal(value: Any) -> tuple[str, str]:
    """A value's text and type: its datatype, or its language as '@en'."""
    if type(value) is not Literal:
        return str(value), "http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement"  # a quoted triple
    return value.value, f"@{value.language}" if value.language else value.datatype.value


def _flushed(columns: tuple[list[str], ...]) -> Iterator[pl.Series]:
    """The collected columns as series; the lists are emptied."""
    for column in columns:
        yield pl.Series(column, dtype=pl.String)
        column.clear()
