"""Names from ids: the readable part of an IRI, or the id itself, where the ids of a KG are words and not codes."""

from __future__ import annotations

import polars as pl

from multiea.data.iris import decoded

MIN_SHARE = 0.5
_SCHEME = r"^(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:)"
_CURIE = r"^([A-Za-z][A-Za-z0-9_.-]*:)[^\s/]+$"
# Scripts whose single characters may be words.
_DENSE = r"[\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}]"


def readable_ids(entities: pl.Series) -> pl.DataFrame:
    """The readable part of each id that has one: entity (its position), name. Empty if most ids are codes.

    Ids are judged per namespace: its local names must mostly have several letters outside of words with digits (which
    are codes, such as Q42 or 0abc), and most of them must differ in these letters (EMAPA_31877 and EMAPA_31878 do not).
    """
    table = _parts(entities)
    words = _without_codes(table["name"])
    is_word = _have_letters(words)
    bare = words.str.replace_all(r"[^\p{L}\p{M}]+", " ").str.strip_chars()
    table = table.with_columns(is_word=is_word & table["namespace"].ne("_:"), bare=bare)
    judged = table.group_by("namespace").agg(
        words=pl.col("is_word").mean(),
        distinct=pl.col("bare").filter("is_word").n_unique() / pl.col("is_word").sum().clip(1),
    )
    readable = judged.filter((pl.col("words") > MIN_SHARE) & (pl.col("distinct") > MIN_SHARE))["namespace"]
    named = table.filter(pl.col("namespace").is_in(readable.implode()))
    if named.height <= MIN_SHARE * table.height:
        named = named.clear()
    return named.select("entity", "name")


def has_words(texts: pl.Series) -> pl.Series:
    """Whether each text has several letters outside of words with digits, which are codes."""
    return _have_letters(_without_codes(texts))


def _without_codes(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(r"[\p{L}\p{M}]*\p{N}[\p{L}\p{M}\p{N}]*", " ").str.to_lowercase()


def _have_letters(words: pl.Series) -> pl.Series:
    letters = words.str.extract_all(r"\p{L}")
    return ((letters.list.len() >= 3) & (letters.list.n_unique() >= 2)) | words.str.contains(_DENSE)


def _parts(entities: pl.Series) -> pl.DataFrame:
    """Each id as namespace and name: entity, namespace, name."""
    ids = pl.col("id")
    is_iri = ids.str.contains(_SCHEME)
    table = pl.DataFrame({"id": entities}).with_row_index("entity").with_columns(pl.col("entity").cast(pl.Int32))
    table = table.with_columns(
        namespace=pl.when(is_iri & ids.str.contains(r"[/#][^/#]"))
        .then(ids.str.extract(r"^(.*[/#]).+$"))
        .when(is_iri)
        .then(ids.str.extract(r"^(.*:).+$"))
        .when(ids.str.starts_with("_:"))
        .then(pl.lit("_:"))
        .otherwise(ids.str.extract(_CURIE))
        .fill_null("")
    )
    table = table.with_columns(namespace=_without_titles_with_slashes(table))
    local = pl.col("id").str.slice(pl.col("namespace").str.len_chars())
    named = table.select("entity", "namespace", name=local.str.strip_chars_end("/#"))
    readable = decoded(named["name"]).str.replace_all("_", " ", literal=True).str.strip_chars()
    return named.with_columns(name=readable)


def _without_titles_with_slashes(table: pl.DataFrame) -> pl.Series:
    """Namespaces, with that of most ids also for ids that go on from it, such as .../AC/DC."""
    common = table["namespace"].value_counts(sort=True, name="ids")
    namespace, ids = common.row(0)
    if not namespace or ids <= MIN_SHARE * table.height:
        return table["namespace"]
    goes_on = pl.col("namespace").str.starts_with(namespace)
    return table.select(pl.when(goes_on).then(pl.lit(namespace)).otherwise("namespace")).to_series()
