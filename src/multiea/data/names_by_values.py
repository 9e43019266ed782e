"""The name property of a KG by its values, where no property is known as a name by its word."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from multiea.data.readable_ids import has_words

MIN_COVERAGE = 0.5  # the share of the entities that have the property
MIN_DISTINCT = 0.5  # distinct values, as a share of the entities
MAX_MEDIAN_LENGTH = 60
MIN_SHARE_OF_NAMES = 0.9
MAX_SHARE_WITH_DIGITS = 0.5  # more have addresses and dates
LONGEST_CODE = 6  # such as NOR, OSL or EUR
_ADDRESS = r"^\s*(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.|mailto:|\S+@\S+\.\S+\s*$)"


def property_like_names(literals: pl.DataFrame, excluded: Collection[str], entities: int) -> str | None:
    """The property whose values look like names, of several the most distinct one; None if there is none.

    The values of such a property are mostly distinct, mostly short, and nearly all have words; codes, numbers, dates,
    web and e-mail addresses do not count as names. excluded: properties that cannot be names. entities: how many the
    KG has.
    """
    counts = literals.group_by("property").agg(
        entities=pl.col("entity").n_unique(), distinct=pl.col("value").n_unique() / pl.len()
    )
    counts = counts.with_columns(pl.col("property").cast(pl.String), coverage=pl.col("entities") / entities)
    counts = counts.with_columns(distinct=pl.col("distinct") * pl.col("coverage")).filter(
        pl.col("coverage") >= MIN_COVERAGE,
        pl.col("distinct") >= MIN_DISTINCT,
        ~pl.col("property").is_in(list(excluded)),
    )
    for name in counts.sort("distinct", "property", descending=[True, False])["property"]:
        if _look_like_names(literals.filter(pl.col("property") == name)["value"]):
            return str(name)
    return None


def _look_like_names(values: pl.Series) -> bool:
    is_code = (
        (values.str.len_chars() <= LONGEST_CODE)
        & ~values.str.contains(r"\s")
        & (values == values.str.to_uppercase())
        & (values != values.str.to_lowercase())
    )
    is_name = has_words(values) & ~is_code & ~values.str.contains(_ADDRESS)
    shares = pl.DataFrame(
        {"length": values.str.len_chars(), "name": is_name, "digits": values.str.contains(r"\p{N}")}
    ).select(pl.col("length").median(), pl.col("name", "digits").mean())
    length, names, digits = shares.row(0)
    return bool(length <= MAX_MEDIAN_LENGTH and names >= MIN_SHARE_OF_NAMES and digits <= MAX_SHARE_WITH_DIGITS)
