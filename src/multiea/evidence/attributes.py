"""Attributes as evidence: words, whole values, dates and numbers, weighted by their rarity.

A word counts wherever it occurs, since sources put the same word into different properties. Numbers count where their
properties correspond.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import attributes_of, names_of
from multiea.evidence.features import Features
from multiea.evidence.names import plain_names
from multiea.evidence.numbers import Quantity, grid_tokens, rounded_tokens
from multiea.evidence.text import joined_codes, plain_text
from multiea.evidence.tokens import tf_idf, token_counts
from multiea.evidence.values import DATE, NUMBER, TEXT, parsed_values, with_telephones_of_others

LARGEST_EXACT = 2**53  # whole numbers above are not exact as floating point numbers
LONGEST_WHOLE_VALUE = 64  # characters of a value that also counts as a whole


def attribute_tables(kgs: Sequence[KnowledgeGraph]) -> list[pl.DataFrame]:
    """The parsed attributes of each KG: entity, property, value, type, number, date, kind, telephone."""
    return with_telephones_of_others([parsed_values(attributes_of(kg)) for kg in kgs])


def numeric_tables(tables: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The numbers among parsed attributes."""
    return [table.filter(pl.col("kind") == NUMBER, pl.col("number").is_finite()) for table in tables]


def has_attributes(kgs: Sequence[KnowledgeGraph], tables: Sequence[pl.DataFrame], *, with_names: bool) -> list[bool]:
    """Which KGs have attributes to compare.

    Where a KG has attributes but no name, names of KGs without attributes serve as well: what one source knows as the
    name may be any column of the other.
    """
    stated = [len(table) > 0 for table in tables]
    if not any(stated):
        return stated
    is_named = [with_names and len(names_of(kg)) > 0 for kg in kgs]
    is_lone = any(one and not named for one, named in zip(stated, is_named, strict=True))
    return [one or (is_lone and named) for one, named in zip(stated, is_named, strict=True)]


def attribute_features(
    kgs: Sequence[KnowledgeGraph], tables: Sequence[pl.DataFrame], found: Sequence[Quantity] | None, *, with_names: bool
) -> list[Features]:
    """For each KG one row per entity with all its values; with_names: words of names count as well.

    found: the numbers that correspond; without them numbers count wherever they are alike, to find anchors.
    """
    numeric = numeric_tables(tables)
    has_any = has_attributes(kgs, tables, with_names=with_names)
    tokens = []
    for number, (kg, table) in enumerate(zip(kgs, tables, strict=True)):
        numbers = rounded_tokens(numeric[number]) if found is None else grid_tokens(numeric[number], number, found)
        own = pl.concat([value_tokens(table), numbers])
        if with_names:
            names = plain_names(kg)
            if len(table) or not has_any[number]:
                names = names.filter(pl.col("entity").cast(pl.Int64).is_in(own["row"].unique().implode()))
            own = pl.concat([own, _split(names["entity"], names["text"])]).unique()
        tokens.append(own)
    matrices = tf_idf(token_counts(tokens, [len(kg.entities) for kg in kgs]))
    return [*map(Features.one_each, matrices)]


def value_tokens(table: pl.DataFrame) -> pl.DataFrame:
    """The words, whole values, dates, whole and telephone numbers of parsed attributes: row (the entity), token."""
    telephone = table.filter(pl.col("telephone").is_not_null())
    keys = telephone.select(row=pl.col("entity").cast(pl.Int64), token="telephone")
    return pl.concat([_words(table), _dates(table), _whole_numbers(table), keys])


def _words(table: pl.DataFrame) -> pl.DataFrame:
    """The words of texts, and short texts as a whole; also of values that are not of the kind of their property."""
    unread = pl.coalesce("date", pl.col("number").cast(pl.String), "telephone").is_null()
    texts = table.filter((pl.col("kind") == TEXT) | unread)
    plain = plain_text(texts["value"])
    whole = pl.DataFrame({"row": texts["entity"].cast(pl.Int64), "token": "=" + plain})
    short = whole.filter((plain.str.len_chars() <= LONGEST_WHOLE_VALUE) & plain.str.contains(" ", literal=True))
    return pl.concat([_split(texts["entity"], plain), _codes(texts["entity"], texts["value"], plain), short])


def _codes(entity: pl.Series, texts: pl.Series, plain: pl.Series) -> pl.DataFrame:
    """Codes that texts write with a hyphen or a space inside, as one word."""
    joined = joined_codes(texts)
    has_code = joined != texts
    entity, before = entity.filter(has_code), plain.filter(has_code)
    words = _split(entity, plain_text(joined.filter(has_code)))
    return words.join(_split(entity, before), on=["row", "token"], how="anti").unique()


def _split(entity: pl.Series, text: pl.Series) -> pl.DataFrame:
    table = pl.DataFrame({"row": entity.cast(pl.Int64), "token": text.str.split(" ")})
    return table.explode("token").filter(pl.col("token").is_not_null())


def _dates(table: pl.DataFrame) -> pl.DataFrame:
    """A date as a whole, its month and its year."""
    dates = table.filter(pl.col("kind") == DATE, pl.col("date").is_not_null())
    row = dates["entity"].cast(pl.Int64)
    parts = ["@" + dates["date"], "@" + dates["date"].str.slice(0, 6), dates["date"].str.slice(0, 4)]
    return pl.concat([pl.DataFrame({"row": row, "token": part}) for part in parts])


def _whole_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers as words, such as years, which other sources write inside texts."""
    whole = table.filter(
        pl.col("kind") != TEXT,
        pl.col("date").is_null(),
        pl.col("number").is_finite(),
        pl.col("number") == pl.col("number").round(),
    )
    is_exact = whole["number"].abs() < LARGEST_EXACT
    digits = whole["value"].str.replace_all(r"\D", "")  # of long identifiers
    rounded = whole["number"].clip(-LARGEST_EXACT, LARGEST_EXACT).cast(pl.Int64).cast(pl.String)
    token = pl.select(pl.when(is_exact).then(rounded).otherwise(digits)).to_series()
    return pl.DataFrame({"row": whole["entity"].cast(pl.Int64), "token": token})
