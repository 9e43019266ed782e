"""N-Triples: the syntax of literals, and KGs as files, from which the same ids and literals are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from multiea.data.iris import ALLOWED_IN_IRI, is_iri, relation_iris
from multiea.data.knowledge_graph import KnowledgeGraph

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
LANGUAGE_TAG = r"^@[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$"
BLOCK_ROWS = 1 << 18

# What the reader takes for an absolute IRI and keeps unchanged: scheme, host, path, and at most one fragment.
_CHARACTER = rf"(?:{ALLOWED_IN_IRI}|%[0-9A-Fa-f]{{2}})"
_PATH = _CHARACTER.replace("[^", "[^#", 1)
_HOST = _CHARACTER.replace("[^", "[^#/?:@", 1)
_NO_SLASH = _CHARACTER.replace("[^", "[^#/", 1)
ABSOLUTE_IRI = (
    r"^[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://{_HOST}*(?::[0-9]{{1,5}})?(?:[/?]{_PATH}*)?|/?(?:{_NO_SLASH}{_PATH}*)?)"
    rf"(?:#{_PATH}*)?$"
)
BLANK_NODE = r"^_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$"


def literal_terms(literals: pl.DataFrame) -> pl.Series:
    """Literals (value, type) in the syntax of N-Triples; a type that is not an IRI is written as a urn:multiea IRI."""
    kind = literals["type"].fill_null(XSD_STRING)
    has_language = kind.str.contains(LANGUAGE_TAG)
    is_plain = (kind == XSD_STRING) | (kind == "")
    datatype = pl.select(pl.when(is_iri(kind)).then(kind).otherwise(relation_iris(kind))).to_series()
    text = '"' + literals["value"].str.replace_many(ESCAPES) + '"'
    typed = text + "^^<" + datatype + ">"
    return pl.select(pl.when(is_plain).then(text).when(has_language).then(text + kind).otherwise(typed)).to_series()


def unwritable_id(kg: KnowledgeGraph) -> str | None:
    """An id of a KG or of its literals that N-Triples cannot hold unchanged, if there is one."""
    properties, types = (kg.literals[column].unique().cast(pl.String) for column in ("property", "type"))
    types = types.filter(~types.str.contains(LANGUAGE_TAG) & (types != ""))
    for ids, pattern in (
        (kg.entities, f"{ABSOLUTE_IRI}|{BLANK_NODE}"),
        (kg.relations, ABSOLUTE_IRI),
        (properties, ABSOLUTE_IRI),
    ):
        bad = ids.filter(~ids.str.contains(pattern))
        if len(bad):
            return str(bad[0])
    bad = types.filter(~(types.str.contains(ABSOLUTE_IRI) & is_iri(types)))
    return str(bad[0]) if len(bad) else None


def write_n_triples(kg: KnowledgeGraph, file: BinaryIO) -> None:
    """Writes the triples and the literals of a KG without unwritable ids."""
    for block in _blocks(kg):
        block.write_csv(file, include_header=False, quote_style="never")


def _blocks(kg: KnowledgeGraph) -> Iterator[pl.DataFrame]:
    terms = pl.select(pl.when(kg.entities.str.starts_with("_:")).then(kg.entities).otherwise("<" + kg.entities + ">"))
    entities = terms.to_series()
    for start in range(0, len(kg.triples), BLOCK_ROWS):
        head, relation, tail = kg.triples[start : start + BLOCK_ROWS].T
        parts = (entities.gather(head), kg.relations.gather(relation), entities.gather(tail))
        yield pl.select(pl.format("{} <{}> {} .", *parts))
    for start in range(0, kg.literals.height, BLOCK_ROWS):
        block = kg.literals.slice(start, BLOCK_ROWS).with_columns(pl.col("property", "type").cast(pl.String))
        yield pl.select(
            pl.format("{} <{}> {} .", entities.gather(block["entity"]), block["property"], literal_terms(block))
        )
