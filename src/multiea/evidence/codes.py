"""Codes: properties whose values nearly always belong to one entity, such as ISBNs, telephone or customer numbers.

They may be identifiers, or numbers that each source counts for itself. What tells them apart is how many equal values
two sources would have by chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from multiea.evidence.keys import Keys
from multiea.evidence.values import DATE

SHARE_OF_CODES = 0.9  # of the values of a property of codes
SHARE_UNIQUE = 0.8  # of its entities that have a value of their own
MOST_SHARING = 5  # entities of one value; one that more of them share is a default, or says "unknown"
SHARE_STATED = 0.5  # of its entities whose value is none of these
FEWEST_CODES = 3
_HAS_DIGIT = r"\d"
_WORD = r"(?:^|[\s,;])\p{L}{4,}(?:$|[\s,;.])"  # of a text, which has other properties than a code
_ADDRESS = r"^(?:[^\s@]+@[^\s@]+\.[^\s@]+|(?:https?://|www\.)\S+)$"  # of mail, or of a page
_NUMBERED = r"^(.*?)(\d{1,15})$"
MOST_GAPS, LEAST_GAP_SHARE, FEWEST_GAPS = 5, 0.02, 3  # of the differences between numbers that are tried


@dataclass(frozen=True)
class Codes:
    """The codes of one property of a KG. table: entity, key."""

    name: str
    table: pl.DataFrame

    @property
    def distinct(self) -> pl.DataFrame:
        """Each key once, with the number of its entities: key, count."""
        return self.table.group_by("key").agg(pl.len().alias("count"))


def codes_of(table: pl.DataFrame, keys: Keys) -> list[Codes]:
    """The properties of one KG that may identify; table: its parsed attributes, keys: their comparable values."""
    value = pl.col("value")
    is_code = (value.str.contains(_HAS_DIGIT) & ~value.str.contains(_WORD)) | value.str.contains(_ADDRESS)
    of_codes = (
        table.filter(pl.col("kind") != DATE)
        .group_by("property")
        .agg(is_code.mean().alias("share"), pl.len().alias("values"))
        .filter(pl.col("share") >= SHARE_OF_CODES, pl.col("values") >= FEWEST_CODES)
    )
    found = []
    for name, values in of_codes.sort("property").select("property", "values").iter_rows():
        own = keys.of_property(name).select("entity", "key").unique()
        if len(own) < SHARE_OF_CODES * values:  # prices, of which some are whole numbers
            continue
        stated = own.filter(pl.len().over("key") <= MOST_SHARING)
        alone = stated.filter(pl.len().over("key") == 1)
        entities, of_stated, of_alone = (part["entity"].n_unique() for part in (own, stated, alone))
        if of_stated >= max(SHARE_STATED * entities, FEWEST_CODES) and of_alone >= SHARE_UNIQUE * of_stated:
            found.append(Codes(name, stated.sort("entity", "key")))
    return found


def without_codes(
    tables: Sequence[pl.DataFrame], candidates: Mapping[tuple[int, int], Sequence[tuple[Codes, Codes]]]
) -> list[pl.DataFrame]:
    """The attributes of all KGs but those that may identify; candidates: of pairs of KGs."""
    names: list[set[str]] = [set() for _ in tables]
    for pair, some in candidates.items():
        for codes in some:
            for kg, one in zip(pair, codes, strict=True):
                names[kg].add(one.name)
    return [
        table.filter(~pl.col("property").is_in(sorted(left_out))) for table, left_out in zip(tables, names, strict=True)
    ]


def equal_by_chance(left: Codes, right: Codes) -> float:
    """About how many values two KGs would have in common if each assigned its own.

    The higher of two estimates: from the characters at each place, as if these were independent; and, for numbers that
    are counted, from how often the next one is in the other KG.
    """
    one, other = (side.distinct["key"] for side in (left, right))
    return max(_by_characters(one, other), _by_counting(one, other))


def equal_by_repetition(left: Codes, right: Codes) -> float:
    """How many pairs of entities of two KGs would have equal values if these were as often equal as inside the KGs."""
    counts = [side.distinct["count"].to_numpy().astype(float) for side in (left, right)]
    sizes = [count.sum() for count in counts]
    equal = sum((count * (count - 1)).sum() for count in counts)
    return float(sizes[0] * sizes[1] * equal / max(sum(size * (size - 1) for size in sizes), 1.0))


def _by_characters(left: pl.Series, right: pl.Series) -> float:
    """Of all pairs of keys of one length, how many agree in all places."""
    expected = 0.0
    sides = [
        {int(part["size"][0]): part["key"] for part in _with_size(keys).partition_by("size")} for keys in (left, right)
    ]
    for size in sides[0].keys() & sides[1].keys():
        parts = [side[size] for side in sides]
        letters = [np.frombuffer("".join(part).encode("ascii"), np.uint8).reshape(len(part), size) for part in parts]
        shares = [
            np.stack([np.bincount(column, minlength=128) for column in part.T]) / len(part) for part in letters
        ]  # (places, characters)
        equal = (shares[0] * shares[1]).sum(axis=1).prod()
        expected += float(equal) * len(parts[0]) * len(parts[1])
    return expected


def _with_size(keys: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"key": keys, "size": keys.str.len_chars()})


def _by_counting(left: pl.Series, right: pl.Series) -> float:
    """How many numbers of one KG have a neighbour in the other: about as many are there themselves by chance."""
    one, other = (_numbered(side) for side in (left, right))
    gaps = one.sort("prefix", "number").select(gap=pl.col("number").diff().over("prefix")).drop_nulls()
    usual = gaps.filter(pl.col("gap") > 0).group_by("gap").len().sort("len", "gap", descending=[True, False])
    usual = usual.filter(pl.col("len") >= max(FEWEST_GAPS, LEAST_GAP_SHARE * len(one))).head(MOST_GAPS)
    most = 0.0
    for gap in usual["gap"]:
        beside = [one.with_columns(number=pl.col("number") + step) for step in (gap, -gap)]
        most = max(most, sum(len(part.join(other, on=["prefix", "number"], how="semi")) for part in beside) / 2)
    return most


def _numbered(keys: pl.Series) -> pl.DataFrame:
    """The keys that end with a number: prefix, number."""
    parts = pl.DataFrame({"prefix": keys.str.extract(_NUMBERED, 1), "number": keys.str.extract(_NUMBERED, 2)})
    return parts.drop_nulls().with_columns(pl.col("number").cast(pl.Int64))
