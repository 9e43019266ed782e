"""Literal values as numbers, dates and text: what kind of values a property has is decided by most of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from multiea.evidence.telephone import are_telephone_numbers, telephone_key

MOST = 0.8  # a property is of a kind if this share of its values is
_CLOCK = r"^(?:(\d+):)?(\d{1,3}):(\d{2})(?:\.\d+)?$"
_SPOKEN = r"^(?:(\d+) ?h[a-z]* ?)?(?:(\d+) ?m[a-z]* ?)?(?:(\d+) ?s[a-z]*)?$"
FEWEST_TELEPHONES, SHARE_TELEPHONES = 3, 0.02  # values that are telephone numbers of another KG, of a property
# Before a number there may be signs, such as $, or a currency: letters there make a code, such as Q42 or AB12.
_BEFORE = r"^(?:[A-Z]{2,3}\p{Sc} ?|[A-Z]{3} |[^\p{L}\d.,+-]{1,3})?"
_NUMBER = _BEFORE + r"([+-]?\d[\d,' ]*(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?\.\d+)\s*[\p{L}%°²³/\"']{0,8}\.?$"
_DECIMAL_COMMA = r"^([+-]?\d+),(\d{1,2}|\d{4,})$"  # three digits after a comma are thousands
_ISO_DATE = r"^([12]\d{3})-(\d{2})-(\d{2})(?:[T ].*|Z)?$"
_WRITTEN_DATE = r"^(\d{1,2})[./](\d{1,2})[./]([12]\d{3})$"
NUMBER, DATE, TEXT, TELEPHONE = "number", "date", "text", "telephone"


def parsed_values(literals: pl.DataFrame) -> pl.DataFrame:
    """Literals with the kind of their property, and the number, date (as yyyymmdd) or telephone key of each, or null.

    A duration such as 3:52 or 3m 52s is a number of seconds. Telephone numbers are no numbers.
    """
    value = pl.col("value").str.strip_chars()
    table = literals.with_columns(pl.col("property").cast(pl.String), value=value).with_columns(
        number=pl.coalesce(_clock(), _spoken(), _number()), date=_date()
    )
    share_of_dates, share_of_numbers = (pl.col(one).is_not_null().mean().over("property") for one in ("date", "number"))
    dates = pl.when(share_of_dates >= MOST).then(pl.lit(DATE))
    numbers = dates.when(are_telephone_numbers(MOST)).then(pl.lit(TELEPHONE)).when(share_of_numbers >= MOST)
    is_telephone = pl.col("kind") == TELEPHONE
    return table.with_columns(kind=numbers.then(pl.lit(NUMBER)).otherwise(pl.lit(TEXT))).with_columns(
        number=pl.when(~is_telephone).then("number"), telephone=pl.when(is_telephone).then(telephone_key())
    )


def with_telephones_of_others(tables: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """Parsed values of all KGs, where numbers or codes that are telephone numbers of another KG are telephone numbers.

    Some sources write them as mere digits, in a column whose name does not tell.
    """
    keys = [table.filter(pl.col("kind") == TELEPHONE)["telephone"].drop_nulls().unique() for table in tables]
    found = []
    for number, table in enumerate(tables):
        others = [one for other, one in enumerate(keys) if other != number and len(one)]
        found.append(_with_telephones(table, pl.concat(others)) if others else table)
    return found


def _with_telephones(table: pl.DataFrame, known: pl.Series) -> pl.DataFrame:
    own = table.filter(pl.col("kind").is_in([NUMBER, TEXT])).with_columns(key=telephone_key())
    shares = own.group_by("property").agg(
        pl.col("key").is_not_null().mean().alias("like"),
        pl.col("key").is_in(known.implode()).sum().alias("equal"),
        pl.len().alias("values"),
    )
    least = pl.max_horizontal(pl.lit(FEWEST_TELEPHONES), SHARE_TELEPHONES * pl.col("values"))
    chosen = shares.filter(pl.col("like") >= MOST, pl.col("equal") >= least)["property"]
    is_chosen = pl.col("property").is_in(chosen.implode()) & telephone_key().is_not_null()
    return table.with_columns(
        kind=pl.when(pl.col("property").is_in(chosen.implode())).then(pl.lit(TELEPHONE)).otherwise("kind"),
        number=pl.when(~is_chosen).then("number"),
        telephone=pl.when(is_chosen).then(telephone_key()).otherwise("telephone"),
    )


def _clock() -> pl.Expr:
    hours, minutes, seconds = (pl.col("value").str.extract(_CLOCK, part).cast(pl.Float64) for part in (1, 2, 3))
    return hours.fill_null(0) * 3600 + minutes * 60 + seconds


def _spoken() -> pl.Expr:
    lower = pl.col("value").str.to_lowercase()
    hours, minutes, seconds = (lower.str.extract(_SPOKEN, part).cast(pl.Float64) for part in (1, 2, 3))
    is_two = pl.sum_horizontal(part.is_not_null() for part in (hours, minutes, seconds)) >= 2
    total = hours.fill_null(0) * 3600 + minutes.fill_null(0) * 60 + seconds.fill_null(0)
    return pl.when(is_two).then(total)


def _number() -> pl.Expr:
    found = pl.col("value").str.extract(_NUMBER, 1).str.strip_chars().str.replace(_DECIMAL_COMMA, "$1.$2")
    return found.str.replace_all(r"[,' ]", "").cast(pl.Float64, strict=False)


def _date() -> pl.Expr:
    """Written dates begin with the day, except where the second number of some date of the property is above 12."""
    iso = [pl.col("value").str.extract(_ISO_DATE, part) for part in (1, 2, 3)]
    first, second, year = (pl.col("value").str.extract(_WRITTEN_DATE, part).str.zfill(2) for part in (1, 2, 3))
    is_month_first = (second > "12").any().over("property") & ~(first > "12").any().over("property")
    month, day = (pl.when(is_month_first).then(a).otherwise(b) for a, b in ((first, second), (second, first)))
    return pl.coalesce(pl.concat_str(iso), pl.concat_str(year, month, day))
