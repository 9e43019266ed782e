"""The name property of a KG by its values, where no property is known as a name by its word."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from multiea.data.readable_ids import has_words

MIN_COVERAGE = 0.5  # the share of the entities that have the property
MIN_DISTINCT = 0.5  # distinct values, as a share of the entities
MAX_MEDIAN_LENGTH = 60
MIN_SHARE_OF_NAMES = 0.9
MAX_SHARE_WITH_DIGITS = 0.5  # more have addresses and dates
LONGEST_CODE = 6  # such as NOR, OSL or EUR
FEWEST_WORDS = 3  # beside codes, where most values have one, such as "Drill Acme D570, black"
LONGEST_CANDIDATE = 150  # the median length of values that may be names although nothing says so
MOST_CANDIDATES = 3
_MODEL_NUMBER = (
    r"\b\p{L}{1,6}-?\p{N}[\p{L}\p{N}]*\b"  # such as D570 or X-200; house numbers and dates have no letter before
)
_CODE = r"[\p{L}\p{M}]*-?\p{N}[\p{L}\p{M}\p{N}]*"
_ADDRESS = r"^\s*(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.|mailto:|\S+@\S+\.\S+\s*$)"


def property_like_names(literals: pl.DataFrame, excluded: Collection[str], entities: int) -> str | None:
    """The property whose values look like names, of several the most distinct one; None if there is none.

    The values of such a property are mostly distinct, mostly short, and nearly all have words; codes, numbers, dates,
    web and e-mail addresses do not count as names. Where no property is like that, worded texts with model numbers
    count. excluded: properties that cannot be names. entities: how many the KG has.
    """
    distinct = _distinct_properties(literals, excluded, entities)
    for looks_like in (_look_like_names, _look_like_names_with_model_numbers):
        for name in distinct:
            if looks_like(literals.filter(pl.col("property") == name)["value"]):
                return name
    return None


def name_candidates_by_values(literals: pl.DataFrame, excluded: Collection[str], entities: int) -> list[str]:
    """The properties that may be names although nothing says so: mostly distinct texts, the most distinct first."""
    found = []
    for name in _distinct_properties(literals, excluded, entities):
        values = literals.filter(pl.col("property") == name)["value"]
        has_word = values.str.replace_all(_CODE, " ").str.contains(r"\p{L}{3}").to_numpy().mean()
        is_short = _median_length(values) <= LONGEST_CANDIDATE
        if is_short and min(_share_of_names(values), has_word) >= MIN_SHARE_OF_NAMES:
            found.append(name)
    return found[:MOST_CANDIDATES]


def _distinct_properties(literals: pl.DataFrame, excluded: Collection[str], entities: int) -> list[str]:
    """The properties that most entities have, mostly with a value of their own; the most distinct first."""
    counts = literals.group_by("property").agg(
        entities=pl.col("entity").n_unique(), distinct=pl.col("value").n_unique() / pl.len()
    )
    counts = counts.with_columns(pl.col("property").cast(pl.String), coverage=pl.col("entities") / entities)
    counts = counts.with_columns(distinct=pl.col("distinct") * pl.col("coverage")).filter(
        pl.col("coverage") >= MIN_COVERAGE,
        pl.col("distinct") >= MIN_DISTINCT,
        ~pl.col("property").is_in(list(excluded)),
    )
    return list(counts.sort("distinct", "property", descending=[True, False])["property"])


def _look_like_names(values: pl.Series) -> bool:
    return _are_short_names(values) and _share_with_digits(values) <= MAX_SHARE_WITH_DIGITS


def _look_like_names_with_model_numbers(values: pl.Series) -> bool:
    """Whether values are names of several words and a model number, and mostly differ in their words as well.

    Digits elsewhere are those of addresses, dates and quantities. Texts that differ in codes only are codes.
    """
    if not _are_short_names(values):
        return False
    if _share_with_digits(values.str.replace_all(_MODEL_NUMBER, " ")) > MAX_SHARE_WITH_DIGITS:
        return False
    words = values.str.replace_all(_CODE, " ").str.extract_all(r"\p{L}[\p{L}\p{M}]+")
    number = words.list.len().median()
    is_worded = isinstance(number, int | float) and number >= FEWEST_WORDS
    return is_worded and words.list.join(" ").n_unique() >= MIN_DISTINCT * len(values)


def _are_short_names(values: pl.Series) -> bool:
    return _median_length(values) <= MAX_MEDIAN_LENGTH and _share_of_names(values) >= MIN_SHARE_OF_NAMES


def _share_of_names(values: pl.Series) -> float:
    is_code = (
        (values.str.len_chars() <= LONGEST_CODE)
        & ~values.str.contains(r"\s")
        & (values == values.str.to_uppercase())
        & (values != values.str.to_lowercase())
    )
    return float((has_words(values) & ~is_code & ~values.str.contains(_ADDRESS)).to_numpy().mean())


def _share_with_digits(values: pl.Series) -> float:
    return float(values.str.contains(r"\p{N}").to_numpy().mean())


def _median_length(values: pl.Series) -> float:
    return float(np.median(values.str.len_chars().to_numpy()))
