"""Names as IRIs and back: what is no IRI is written as one of ours, percent-encoded, so that nothing is lost."""

from __future__ import annotations

from urllib.parse import quote, unquote

import polars as pl

ENTITY, RELATION, GROUP, KG = (f"urn:multiea:{kind}:" for kind in ("entity", "relation", "group", "kg"))
# Absolute IRIs by a scheme with '//', or URNs; no other word with a colon is taken for one.
_NEVER = r"\u{2028}\u{2029}\u{E000}-\u{F8FF}\u{FDD0}-\u{FDEF}\u{FFF0}-\u{FFFF}\u{E0000}-\u{10FFFF}"
_PLAIN = rf"[^\x00-\x20<>\"{{}}|^`\\%\[\]\x7f-\x9f{_NEVER}]"
_IRI = rf"^(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:[A-Za-z0-9][A-Za-z0-9-]+:)(?:{_PLAIN}|%[0-9A-Fa-f]{{2}})+$"
# What may stand in ours as it is.
_SAFE = r"^[A-Za-z0-9._~,;=@!$&'()*+/:\u{A1}-\u{2027}\u{202A}-\u{D7FF}\u{F900}-\u{FDCF}-]*$"
_SAFE_ASCII = "._~,;=@!$&'()*+/:-"
_ASCII = "".join(map(chr, range(0x21, 0x7F)))


def entity_iris(names: pl.Series, kg: str) -> pl.Series:
    """The IRI of each entity of a KG: its name where that is one, else one of ours that says the KG."""
    return _iris(names, ENTITY + quote(kg, safe="") + ":")


def relation_iris(names: pl.Series) -> pl.Series:
    """The IRI of each relation: relations of one name are the same in all KGs."""
    return _iris(names, RELATION)


def kg_iri(kg: str) -> str:
    """The IRI of a KG, as the graph its facts stand in."""
    return KG + quote(kg, safe="")


def is_iri(names: pl.Series) -> pl.Series:
    """Whether each name can be written as it is; those that begin like ours cannot, or they would be read as ours."""
    return names.str.contains(_IRI) & ~names.str.starts_with("urn:multiea:")


def names_of(iris: pl.Series) -> pl.Series:
    """The names behind IRIs: ours are decoded, all others stay as they are."""
    ours = iris.str.starts_with(ENTITY) | iris.str.starts_with(RELATION) | iris.str.starts_with(KG)
    distinct = iris.filter(ours.fill_null(False)).unique()
    return _replaced(iris, distinct, [_name_of(iri) for iri in distinct])


def in_ascii(iris: pl.Series) -> pl.Series:
    """IRIs as URIs, for tools that take no other: what is not ASCII is percent-encoded."""
    distinct = iris.filter(iris.str.contains(r"[^\x21-\x7e]")).unique()
    return _replaced(iris, distinct, [quote(iri, safe=_ASCII) for iri in distinct])


def decoded(iris: pl.Series) -> pl.Series:
    """IRIs with nothing percent-encoded."""
    distinct = iris.filter(iris.str.contains("%", literal=True)).unique()
    return _replaced(iris, distinct, [unquote(iri) for iri in distinct])


def _replaced(iris: pl.Series, distinct: pl.Series, others: list[str]) -> pl.Series:
    return iris if distinct.is_empty() else iris.replace(distinct, pl.Series(others, dtype=pl.String))


def kgs_of(iris: pl.Series) -> pl.Series:
    """The KGs that IRIs of ours name; null for all others."""
    encoded = iris.str.strip_prefix(ENTITY).str.split(":").list.first()
    ours = pl.select(pl.when(iris.str.starts_with(ENTITY)).then(encoded)).to_series()
    distinct = ours.drop_nulls().unique()
    decoded = pl.Series([unquote(kg) for kg in distinct], dtype=pl.String)
    return ours.replace_strict(distinct, decoded, default=None, return_dtype=pl.String) if len(distinct) else ours


def _name_of(iri: str) -> str:
    kind = next(kind for kind in (ENTITY, RELATION, KG) if iri.startswith(kind))
    rest = iri.removeprefix(kind)
    return unquote(rest.partition(":")[2] if kind == ENTITY else rest, errors="strict")


def _iris(names: pl.Series, prefix: str) -> pl.Series:
    names = names.cast(pl.String)
    other = names.filter(~is_iri(names)).unique()
    if other.is_empty():
        return names
    easy = other.str.contains(_SAFE)
    hard = other.filter(~easy)
    encoded = pl.Series([quote(name, safe=_SAFE_ASCII) for name in hard], dtype=pl.String)
    written = other.replace_strict(hard, encoded, default=other, return_dtype=pl.String) if len(hard) else other
    return names.replace_strict(other, prefix + written, default=names, return_dtype=pl.String)
