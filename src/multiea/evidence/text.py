"""Text normalised for comparison: any script in Latin letters, lower case, letters and digits only."""

from __future__ import annotations

import unicodedata

import polars as pl
from anyascii import anyascii

APOSTROPHES = r"(\w)['\u{2019}\u{02BC}](\w)"  # O'Brien and OBrien are the same
BRACKETS = r"[(\[\u{FF08}\u{3010}][^()\[\]\u{FF08}\u{FF09}\u{3010}\u{3011}]*[)\]\u{FF09}\u{3011}]"  # (disambiguation)

# Codes with a hyphen or a space inside, such as SX-616 or SX 616: sources write them in several ways. They are words of
# their own: the hyphen of Etc/GMT-12 is a minus. Letters before a space are in upper case: "in 2019" is no code. Digits
# come last: "012-Auf" is a track and the first word of a song.
CODES = (
    r"(^|[\s(,;])(\p{L}{1,4})[-\u{2010}\u{2011}](\d{2,})",
    r"(^|[\s(,;])(\p{Lu}{1,4}) (\d{2,})\b",
)
OTHER_WORD = r"\p{L}{3}"  # a text that is nothing but a code stays as it is


def plain_text(texts: pl.Series) -> pl.Series:
    """Romanised, in lower case; what is neither letter nor digit becomes one space."""
    joined = texts.str.replace_all(APOSTROPHES, "$1$2").str.replace_all(APOSTROPHES, "$1$2")
    romanised = pl.Series(texts.name, _romanised(joined.to_list()), dtype=pl.String)
    return romanised.str.to_lowercase().str.replace_all(r"[^a-z0-9]+", " ").str.strip_chars()


def without_brackets(texts: pl.Series) -> pl.Series:
    """Without what is in brackets, such as a disambiguation; unchanged where nothing else would be left."""
    shorter = texts.str.replace_all(BRACKETS, " ").str.strip_chars()
    has_text = shorter.str.contains(r"[\p{L}\p{N}]")
    return pl.select(pl.when(has_text).then(shorter).otherwise(texts)).to_series()


def joined_codes(texts: pl.Series) -> pl.Series:
    """Without the hyphen or space inside codes such as model numbers; unchanged without code or other words."""
    joined, rest = texts, texts
    for pattern in CODES:
        joined, rest = joined.str.replace_all(pattern, "$1$2$3"), rest.str.replace_all(pattern, " ")
    has_others = rest.str.contains(OTHER_WORD)
    return pl.select(pl.when(has_others).then(joined).otherwise(texts)).to_series()


def _romanised(texts: list[str]) -> list[str]:
    """All texts at once: each distinct character is looked up once, since none depends on its neighbours."""
    whole = "\n".join(text.replace("\n", " ") for text in texts)
    if whole.isascii():
        return whole.split("\n") if texts else []
    whole = unicodedata.normalize("NFKC", whole)
    table = {ord(character): anyascii(character).replace("\n", " ") for character in set(whole) if ord(character) > 127}
    return whole.translate(table).split("\n")
