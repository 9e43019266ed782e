"""Ids as IRIs and back: an id that is not an IRI becomes a percent-encoded urn:multiea IRI, so that nothing is lost."""

from __future__ import annotations

from urllib.parse import quote, unquote

import polars as pl

ENTITY, RELATION, GROUP, KG = (f"urn:multiea:{kind}:" for kind in ("entity", "relation", "group", "kg"))
# Absolute IRIs have a scheme followed by '//', or are URNs. Any other text with a colon does not count as an IRI.
_FORBIDDEN = r"\u{2028}\u{2029}\u{E000}-\u{F8FF}\u{FDD0}-\u{FDEF}\u{FFF0}-\u{FFFF}\u{E0000}-\u{10FFFF}"
ALLOWED_IN_IRI = rf"[^\x00-\x20<>\"{{}}|^`\\%\[\]\x7f-\x9f{_FORBIDDEN}]"
_IRI = rf"^(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:[A-Za-z0-9][A-Za-z0-9-]+:)(?:{ALLOWED_IN_IRI}|%[0-9A-Fa-f]{{2}})+$"
# Characters that need no percent-encoding in urn:multiea IRIs.
_SAFE = r"^[A-Za-z0-9._~,;=@!$&'()*+/:\u{A1}-\u{2027}\u{202A}-\u{D7FF}\u{F900}-\u{FDCF}-]*$"
_SAFE_ASCII = "._~,;=@!$&'()*+/:-"
_ASCII = "".join(map(chr, range(0x21, 0x7F)))


def entity_iris(entities: pl.Series, kg: str) -> pl.Series:
    """The IRI of each entity of a KG: its id if that is an IRI, else a urn:multiea IRI with the name of the KG."""
    return _iris(entities, ENTITY + quote(kg, safe="") + ":")


def relation_iris(relations: pl.Series) -> pl.Series:
    """The IRI of each relation. Relations with the same id are the same in all KGs."""
    return _iris(relations, RELATION)


def kg_iri(kg: str) -> str:
    """The IRI of a KG, used as the named graph of its facts."""
    return KG + quote(kg, safe="")


def is_iri(ids: pl.Series) -> pl.Series:
    """Whether each id can be written as an IRI unchanged. Ids with our own prefix cannot: readers would decode them."""
    return ids.str.contains(_IRI) & ~ids.str.starts_with("urn:multiea:")


def names_of(iris: pl.Series) -> pl.Series:
    """The ids behind IRIs: urn:multiea IRIs are decoded, all others stay unchanged."""
    ours = iris.str.starts_with(ENTITY) | iris.str.starts_with(RELATION) | iris.str.starts_with(KG)
    distinct = iris.filter(ours.fill_null(False)).unique()
    return _replaced(iris, distinct, [_id_of(iri) for iri in distinct])


def in_ascii(iris: pl.Series) -> pl.Series:
    """IRIs as URIs, for tools that require ASCII: other characters are percent-encoded."""
    distinct = iris.filter(iris.str.contains(r"[^\x21-\x7e]")).unique()
    return _replaced(iris, distinct, [quote(iri, safe=_ASCII) for iri in distinct])


def decoded(iris: pl.Series) -> pl.Series:
    """IRIs without percent-encoding."""
    distinct = iris.filter(iris.str.contains("%", literal=True)).unique()
    return _replaced(iris, distinct, [unquote(iri) for iri in distinct])


def _replaced(iris: pl.Series, distinct: pl.Series, others: list[str]) -> pl.Series:
    return iris if distinct.is_empty() else iris.replace(distinct, pl.Series(others, dtype=pl.String))


def kgs_of(iris: pl.Series) -> pl.Series:
    """The KG names in urn:multiea entity IRIs; null for all other IRIs."""
    encoded = iris.str.strip_prefix(ENTITY).str.split(":").list.first()
    ours = pl.select(pl.when(iris.str.starts_with(ENTITY)).then(encoded)).to_series()
    distinct = ours.drop_nulls().unique()
    decoded = pl.Series([unquote(kg) for kg in distinct], dtype=pl.String)
    return ours.replace_strict(distinct, decoded, default=None, return_dtype=pl.String) if len(distinct) else ours


def _id_of(iri: str) -> str:
    kind = next(kind for kind in (ENTITY, RELATION, KG) if iri.startswith(kind))
    rest = iri.removeprefix(kind)
    return unquote(rest.partition(":")[2] if kind == ENTITY else rest, errors="strict")


def _iris(ids: pl.Series, prefix: str) -> pl.Series:
    ids = ids.cast(pl.String)
    not_iris = ids.filter(~is_iri(ids)).unique()
    if not_iris.is_empty():
        return ids
    unsafe = not_iris.filter(~not_iris.str.contains(_SAFE))
    encoded = pl.Series([quote(one, safe=_SAFE_ASCII) for one in unsafe], dtype=pl.String)
    safe = not_iris
    if len(unsafe):
        safe = not_iris.replace_strict(unsafe, encoded, default=not_iris, return_dtype=pl.String)
    return ids.replace_strict(not_iris, prefix + safe, default=ids, return_dtype=pl.String)
