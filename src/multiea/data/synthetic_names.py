"""Names of synthetic KGs: words made of syllables, a few of them frequent, in the spelling of each KG.

What a KG does always is in its vocabulary: its script, and the words for which it has another word (synonyms). What
happens by chance happens to single names: typos, missing names, alternative names. Some entities share a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.synthetic_settings import Synthesis

Ids = NDArray[np.int64]
Words = NDArray[np.int32]

NAME = "http://www.w3.org/2000/01/rdf-schema#label"
ALTERNATIVE_NAME = "http://www.w3.org/2004/02/skos/core#altLabel"
XSD = "http://www.w3.org/2001/XMLSchema#"

LATIN = "abdefghiklmnoprstuz"
# One letter for one letter; a KG in another script uses it for all of its text.
SCRIPTS = (LATIN, LATIN, "αβδεφγχικλμνοπρστυζ", "абдефгхиклмнопрстуз")
ONSETS = (
    "b",
    "d",
    "f",
    "g",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "z",
    "br",
    "dr",
    "gr",
    "kr",
    "pr",
    "st",
    "tr",
)
CODAS = ("", "", "", "l", "m", "n", "r", "s")
SYLLABLES = tuple(sorted({"".join(parts) for parts in product(ONSETS, "aeiou", CODAS)}))
ONE_SYLLABLE, TWO_SYLLABLES = 50, 20_000  # this many of the most frequent words are that short; others have three

ENTITIES_PER_WORD = 2
MIN_WORDS = 500
WORD_SKEW = 0.7  # the n-th most frequent word occurs n ** -WORD_SKEW times as often as the first
NAME_LENGTHS = (0.1, 0.5, 0.3, 0.1)  # shares of the names of one word, two words, ...
SHARED_NAMES = 0.03  # share of the entities that have the name of another entity
SYNONYMS = 0.05  # share of the words for which a KG has another word
ALTERNATIVES = 0.2  # probability that a KG has an alternative name of an entity
SWAPPED = 0.05  # probability that a KG takes the alternative name for the name


@dataclass(frozen=True)
class Property:
    """What a KG says of some entities by one property: values as text, null where it has none, and their datatype."""

    iri: str
    datatype: str
    values: pl.Series


class Vocabulary:
    """The words of the hidden graph, the most frequent first."""

    def __init__(self, entities: int, rng: np.random.Generator) -> None:
        self.size = max(MIN_WORDS, entities // ENTITIES_PER_WORD)
        digits = rng.integers(len(SYLLABLES), size=(self.size, 3))
        rank, syllables = np.arange(self.size), pl.Series(SYLLABLES)
        parts = [
            where(rank >= first, syllables.gather(digits[:, column]))
            for column, first in enumerate((0, ONE_SYLLABLE, TWO_SYLLABLES))
        ]
        self.words = pl.select(pl.concat_str(parts, ignore_nulls=True)).to_series()

    def drawn(self, shape: tuple[int, int], rng: np.random.Generator) -> Words:
        """Random words, given by their numbers, by their frequency."""
        return (self.size * rng.random(shape) ** (1 / (1 - WORD_SKEW))).astype(np.int32)


class Spelling:
    """How the KG of a certain number writes the words of a vocabulary: in its script, some by another word."""

    def __init__(self, vocabulary: Vocabulary, kg_number: int, rng: np.random.Generator) -> None:
        self.vocabulary, self.kg_number = vocabulary, kg_number
        script = SCRIPTS[kg_number % len(SCRIPTS)]
        self.letters = pl.Series(list(script))
        size = vocabulary.size
        word = np.where(rng.random(size) < SYNONYMS, rng.integers(size, size=size), np.arange(size))
        letters = dict(zip(LATIN, script, strict=True))
        self._spelled = vocabulary.words.str.replace_many(letters).str.to_titlecase().gather(word)
        self._spelled.append(pl.Series([None], dtype=pl.String))  # for no word

    def texts(self, words: Words) -> pl.Series:
        """The texts of (n, length) words; the number vocabulary.size stands for no word."""
        columns = [self._spelled.gather(column) for column in words.T]
        return pl.select(pl.concat_str(columns, separator=" ", ignore_nulls=True)).to_series()


class HiddenNames:
    """The name and the alternative name of each entity of the hidden graph, as words."""

    def __init__(self, entities: int, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
        self.first, self.second = (_random_names(entities, vocabulary, rng) for _ in range(2))
        sharing = np.flatnonzero(rng.random(entities) < SHARED_NAMES)
        self.first[sharing] = self.first[rng.integers(entities, size=len(sharing))]


class NamesOfKg:
    """The names that one KG gives to its entities."""

    def __init__(self, hidden: HiddenNames, spelling: Spelling, settings: Synthesis, rng: np.random.Generator) -> None:
        self._hidden, self._spelling, self._settings, self._rng = hidden, spelling, settings, rng

    def of(self, entities: Ids) -> list[Property]:
        """The names and the alternative names of some hidden entities."""
        swapped = self._rng.random((len(entities), 1)) < SWAPPED
        first, second = self._hidden.first[entities], self._hidden.second[entities]
        name, alternative = (
            with_typos(self._spelling.texts(words), self._settings.name_noise, self._spelling.letters, self._rng)
            for words in (np.where(swapped, second, first), np.where(swapped, first, second))
        )
        has_name = self._rng.random(len(entities)) >= self._settings.missing
        has_alternative = has_name & (self._rng.random(len(entities)) < ALTERNATIVES)
        return [
            Property(NAME, f"{XSD}string", where(has_name, name)),
            Property(ALTERNATIVE_NAME, f"{XSD}string", where(has_alternative, alternative)),
        ]


def where(kept: NDArray[np.bool_], values: pl.Series) -> pl.Series:
    """Some of the values, and null in place of the others."""
    return pl.select(pl.when(pl.Series(kept)).then(values)).to_series()


def with_typos(texts: pl.Series, share: float, letters: pl.Series, rng: np.random.Generator) -> pl.Series:
    """The texts, a share of them with one letter replaced, removed, added, or swapped with the next one."""
    rows = np.flatnonzero(rng.random(len(texts)) < share)
    at = (texts.gather(rows).str.len_chars().to_numpy() * rng.random(len(rows))).astype(np.int64)
    table = pl.DataFrame({"text": texts.gather(rows), "at": at, "kind": rng.integers(4, size=len(rows))})
    text, position, kind = (pl.col(name) for name in table.columns)
    letter = letters.gather(rng.integers(len(letters), size=len(rows)))
    before, here, after = text.str.slice(0, position), text.str.slice(position, 1), text.str.slice(position + 1)
    changed = table.select(
        pl.when(kind == 0)
        .then(pl.concat_str(before, letter, after))
        .when(kind == 1)
        .then(pl.concat_str(before, after))
        .when(kind == 2)
        .then(pl.concat_str(before, letter, here, after))
        .otherwise(pl.concat_str(before, after.str.slice(0, 1), here, after.str.slice(1)))
    ).to_series()
    return texts.clone().scatter(rows, changed)


def _random_names(entities: int, vocabulary: Vocabulary, rng: np.random.Generator) -> Words:
    """(entities, 4) words; the number vocabulary.size stands for no word."""
    words = vocabulary.drawn((entities, len(NAME_LENGTHS)), rng)
    length = 1 + np.searchsorted(np.cumsum(NAME_LENGTHS), rng.random((entities, 1)))
    words[np.arange(len(NAME_LENGTHS)) >= length] = vocabulary.size
    return words
