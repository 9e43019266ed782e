"""Telephone numbers: one key for all ways to write the same number.

+49 30 1234567, 0049 (0)30 / 123 45 67 and 030-1234567 have the key 301234567: the number inside its country, without
the zero before it. Countries are not told apart: sources often leave them out.
"""

from __future__ import annotations

import polars as pl

SHARE_MARKED = 0.5  # of the values of a property that are hardly anything else
FEWEST_DIGITS, MOST_DIGITS = 7, 15
FEWEST_IN_KEY = 6
_NAMES = r"(?i)phone|telef|t\u{e9}l\u{e9}phone|fax|mobil|handy|rufn|(?:^|[^\p{L}])tel(?:[^\p{L}]|$)"
_BESIDE = r"(?i)^tel(?:\.|:|\. ?:)? *|[ ,;]*(?:ext\.?|x) *\d+$"  # what is written before and after a number
_LIKE = r"^\+?[\d\s().\-\u{2013}/]+$"
_DATE_OR_DECIMAL = r"^(?:\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:\d{2}|\d{4})|\+?\d+\.\d+)$"
# Hardly a code or another number: a plus, brackets, an area code after a zero, or written as in North America.
_MARKED = r"^(?:\+ ?[1-9]|\(|00[1-9]\d*[\s(/\-]|0[1-9]\d{0,4}[\s/\-.)]|(?:1[-. ])?\d{3}[-. ]\d{3}[-. ]\d{4}$)"
_WRITTEN_IN_PARTS = r"\d[\s()./\-]+\d|^[+0]"  # enough where the property is called so: "phones sold" has whole numbers
_TRUNK_ZERO = r"\(\s*0\s*\)"
_COUNTRY = r"^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})"
_ELEVEN = r"^[178](\d{10})$"  # North America and Russia put a digit before numbers inside the country


def are_telephone_numbers(least: float) -> pl.Expr:
    """Whether the property of a value has telephone numbers; least: the share of its values that look like one."""
    is_like = telephone_key().is_not_null()
    is_named = pl.col("property").str.contains(_NAMES) & _number().str.contains(_WRITTEN_IN_PARTS)
    is_marked = _number().str.contains(_MARKED)
    is_certain = (is_like & (is_named | is_marked)).mean().over("property") >= SHARE_MARKED
    return (is_like.mean().over("property") >= least) & is_certain


def telephone_key() -> pl.Expr:
    """The key of the values of the column `value`; null where one does not look like a telephone number."""
    number = _number()
    digits = number.str.replace_all(r"\D", "")
    is_like = number.str.contains(_LIKE) & ~number.str.contains(_DATE_OR_DECIMAL)
    is_like &= digits.str.len_chars().is_between(FEWEST_DIGITS, MOST_DIGITS)
    is_international = number.str.contains(r"^(?:\+|00)")
    inside = number.str.replace(_TRUNK_ZERO, "").str.replace_all(r"\D", "").str.strip_chars_start("0")
    inside = pl.when(is_international).then(inside.str.replace(_COUNTRY, "")).otherwise(inside)
    key = inside.str.strip_chars_start("0").str.replace(_ELEVEN, "$1")
    return pl.when(is_like & (key.str.len_chars() >= FEWEST_IN_KEY)).then(key)


def _number() -> pl.Expr:
    return pl.col("value").str.replace_all(_BESIDE, "").str.strip_chars()
