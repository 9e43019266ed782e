"""Files of known groups: tables with one column per KG, SSSOM mappings, owl:sameAs triples."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml
from pyoxigraph import NamedNode, RdfFormat

from multiea.data.files import line_blocks
from multiea.data.groups import Groups
from multiea.data.iris import decoded, kgs_of, names_of
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.readers.rdf import quads
from multiea.data.readers.table_source import TableSource
from multiea.data.readers.tables import CSV, Dialect, csv_dialect, first_line, parquet_columns, parquet_rows, text_rows
from multiea.foundation.errors import InputError, counted, is_text

log = logging.getLogger("multiea")

SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
SSSOM_EXACT = ("owl:sameAs", "owl:equivalentClass", "owl:equivalentProperty", "skos:exactMatch")
SSSOM_PREFIXES = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "semapv": "https://w3id.org/semapv/vocab/",
}

GroupReader = Callable[[Path, Sequence[KnowledgeGraph], bool], Groups]


def read_group_table(dialect: Dialect) -> GroupReader:
    """A reader of groups.tsv or groups.csv: one column per KG, one row per group, blank where a KG has no member."""

    def read(path: Path, kgs: Sequence[KnowledgeGraph], lenient: bool) -> Groups:
        used = csv_dialect(path) if dialect == CSV else dialect
        blocks = list(text_rows(path, used, "one entity or nothing per KG"))
        if not blocks:
            raise InputError("the file is empty", path=path, expected="a header with one KG name per column")
        table = pl.concat([block.table for block in blocks])
        header = [name or "" for name in table.row(0)]
        _refuse_repeated_columns(path, header, "one column per KG: a group has at most one entity of each KG")
        table = table.slice(1).rename(dict(zip(table.columns, header, strict=True)))
        lines = np.concatenate([block.lines for block in blocks])[1:]
        return Groups.from_table(kgs, table, path=path, lines=lines, lenient=lenient)

    return read


def read_group_parquet(path: Path, kgs: Sequence[KnowledgeGraph], lenient: bool) -> Groups:
    """Groups from a Parquet file with one column per KG."""
    columns = parquet_columns(path)
    source = TableSource(path, columns, partial(parquet_rows, path))
    texts = [pl.DataFrame(source.text(block, range(len(columns)))) for block in source.blocks()]
    table = pl.concat(texts) if texts else pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    return Groups.from_table(kgs, table, path=path, lenient=lenient)


def read_same_as(rdf_format: RdfFormat) -> GroupReader:
    """A reader of owl:sameAs triples: connected components become groups, other triples are ignored."""

    def read(path: Path, kgs: Sequence[KnowledgeGraph], lenient: bool) -> Groups:
        left, right, others = [], [], 0
        for quad in quads(path, rdf_format):
            if quad.predicate.value == SAME_AS and type(quad.subject) is type(quad.object) is NamedNode:
                left.append(quad.subject.value)
                right.append(quad.object.value)
            else:
                others += 1
        if not left:
            raise InputError(f"{counted(others, 'triple')} and no link", path=path, expected=f"<...> <{SAME_AS}> <...>")
        if others:
            log.warning("%s: ignored %s other than owl:sameAs between IRIs", path, counted(others, "triple"))
        links: dict[str, pl.Series] = {}
        for side, iris in (("left", left), ("right", right)):
            ends = pl.Series(iris, dtype=pl.String)
            links |= {side: names_of(ends), f"{side}_kg": kgs_of(ends)}
        return Groups.from_links(kgs, pl.DataFrame(links), path=path, lenient=lenient)

    return read


def read_sssom(path: Path, kgs: Sequence[KnowledgeGraph], lenient: bool) -> Groups:
    """Groups from SSSOM TSV: connected components of the exact mappings that are not negated."""
    metadata, table = _sssom_table(path)
    for column in ("subject_id", "predicate_id", "object_id"):
        if column not in table.columns:
            raise InputError(f"no column {column}", path=path, expected="subject_id, predicate_id and object_id")
    prefixes = SSSOM_PREFIXES | {str(k): str(v) for k, v in (metadata.get("curie_map") or {}).items()}
    for prefix, expansion in prefixes.items():
        if not is_text(prefix + expansion):
            raise InputError(f"the prefix {prefix!r} for {expansion!r}", path=path, expected="text in the curie_map")
    exact = [_expanded(curie, SSSOM_PREFIXES) for curie in SSSOM_EXACT]
    usable = _expand(table["predicate_id"], prefixes).is_in(exact)
    if "predicate_modifier" in table.columns:
        usable &= table["predicate_modifier"].fill_null("") != "Not"
    if (ignored := int((~usable).sum())) > 0:
        log.warning("%s: ignored %s: not exact, or negated", path, counted(ignored, "mapping"))
    table = table.filter(usable)
    if table.is_empty():
        raise InputError(
            "no exact mapping", path=path, expected=f"rows whose predicate is one of {', '.join(SSSOM_EXACT)}"
        )
    links: dict[str, pl.Series] = {}
    for side, slot in (("left", "subject"), ("right", "object")):
        links[side] = _as_in_kgs(kgs, table[f"{slot}_id"], prefixes)
        if f"{slot}_source" in table.columns:
            links[f"{side}_kg"] = names_of(_expand(table[f"{slot}_source"], prefixes))
        elif f"{slot}_source" in metadata:
            links[f"{side}_kg"] = pl.Series([str(metadata[f"{slot}_source"])] * table.height, dtype=pl.String)
    return Groups.from_links(kgs, pl.DataFrame(links), path=path, lenient=lenient)


def _sssom_table(path: Path) -> tuple[dict[str, Any], pl.DataFrame]:
    """The metadata (YAML in lines that start with '#') and the table of mappings."""
    text = b"".join(block.data for block in line_blocks(path)).decode("utf-8")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    commented = [line[1:] for line in lines if line.startswith("#")]
    try:
        metadata = yaml.load("\n".join(commented), Loader=yaml.BaseLoader) or {}  # keeps every value as text
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        found = f"the metadata after '#' is not valid YAML ({first_line(error)})"
        raise InputError(found, path=path, expected="SSSOM metadata") from None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("curie_map") or {}, dict):
        raise InputError("the metadata after '#' has no keys", path=path, expected="SSSOM metadata as YAML")
    numbered = [(i, line.split("\t")) for i, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not numbered:
        raise InputError("no mappings", path=path, expected="a header line with subject_id, predicate_id, object_id")
    header = numbered[0][1]
    _refuse_repeated_columns(path, header, "each column once", line=numbered[0][0])
    for number, fields in numbered:
        if len(fields) != len(header):
            raise InputError(
                f"{len(fields)} fields", path=path, line=number, expected=f"{len(header)} as in the header"
            )
    columns = list(zip(*(fields for _, fields in numbered[1:]), strict=True)) or [()] * len(header)
    return metadata, pl.DataFrame(dict(zip(header, columns, strict=True)), schema=dict.fromkeys(header, pl.String))


def _as_in_kgs(kgs: Sequence[KnowledgeGraph], ids: pl.Series, prefixes: dict[str, str]) -> pl.Series:
    """Each id in the form that a KG uses: unchanged if possible, else expanded to an IRI, else the decoded IRI."""
    expanded = names_of(_expand(ids, prefixes))
    result = expanded
    for form in (decoded(expanded), expanded, ids):  # the last known form wins
        is_known = pl.Series([False] * len(ids))
        for kg in kgs:
            is_known |= pl.Series(kg.positions(form) >= 0)
        result = pl.select(pl.when(is_known).then(form).otherwise(result)).to_series()
    return result


def _expand(curies: pl.Series, prefixes: dict[str, str]) -> pl.Series:
    distinct = curies.unique().drop_nulls()
    expanded = pl.Series([_expanded(curie, prefixes) for curie in distinct], dtype=pl.String)
    return curies.replace_strict(distinct, expanded, default=None, return_dtype=pl.String)


def _expanded(curie: str, prefixes: dict[str, str]) -> str:
    prefix, colon, local = curie.partition(":")
    return prefixes[prefix] + local if colon and prefix in prefixes else curie


def _refuse_repeated_columns(path: Path, header: Sequence[str], expected: str, line: int = 1) -> None:
    repeated = next((name for name in header if header.count(name) > 1), None)
    if repeated is not None:
        raise InputError(
            f"the header contains '{repeated}' twice",
            path=path,
            line=line,
            expected=expected,
        )
