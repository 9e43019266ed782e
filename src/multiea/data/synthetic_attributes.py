"""Attributes of synthetic KGs: a number, a date, a code, a text, and a number that no other KG knows.

KGs state the same value differently: in another unit, rounded, with errors; as a date or as a year; in other words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.synthetic_names import XSD, Property, Spelling, Vocabulary, where
from multiea.data.synthetic_settings import Synthesis

Ids = NDArray[np.int64]
Words = NDArray[np.int32]

ATTRIBUTES = 5
LOG_MEAN, LOG_SPREAD = 8.0, 2.0  # of the hidden numbers
FIRST_DAY, LAST_DAY = -62_000, 20_000  # of the hidden dates, since 1970: from 1800 to 2024
SMALLEST = 0.01  # no number is rounded to zero
OWN_NUMBERS = 1_000  # the numbers that no other KG knows are below this
CODE_GAP = 31  # one of this many codes is in use
CODE_SHARE = 0.7  # probability that a KG that knows the attributes of an entity has its code
TEXT_WORDS = 10
WORD_KEPT, WORD_WRONG = 0.7, 0.1  # probabilities that a KG has a word of the text, and that it is another one


@dataclass(frozen=True)
class NumberStyle:
    """How a KG states numbers: in which unit, with which relative error, to how many significant digits."""

    unit: float
    error: float
    digits: int


# The KGs take these in turn.
NUMBER_STYLES = (NumberStyle(1.0, 0.0, 9), NumberStyle(1.0, 0.02, 4), NumberStyle(0.3861, 0.0, 3))
DATE_STYLES = (("%Y-%m-%d", f"{XSD}date"), ("%Y", f"{XSD}gYear"), ("%d.%m.%Y", f"{XSD}string"))


class HiddenAttributes:
    """The true values of each entity of the hidden graph."""

    def __init__(self, entities: int, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
        self.numbers = rng.lognormal(LOG_MEAN, LOG_SPREAD, entities)
        self.days = rng.integers(FIRST_DAY, LAST_DAY, size=entities, dtype=np.int32)
        self.codes = rng.permutation(entities) * CODE_GAP + rng.integers(CODE_GAP, size=entities)
        self.texts = vocabulary.drawn((entities, TEXT_WORDS), rng)  # (entities, TEXT_WORDS)


class AttributesOfKg:
    """The attributes that one KG states of its entities. The names of their properties say nothing."""

    def __init__(
        self, hidden: HiddenAttributes, spelling: Spelling, settings: Synthesis, rng: np.random.Generator
    ) -> None:
        self._hidden, self._spelling, self._settings, self._rng = hidden, spelling, settings, rng
        number = spelling.kg_number
        self._number_style = NUMBER_STYLES[number % len(NUMBER_STYLES)]
        self._date_format, self._date_type = DATE_STYLES[number % len(DATE_STYLES)]
        self._iris = [f"{settings.kg_names[number]}:p{place}" for place in rng.permutation(ATTRIBUTES)]

    def of(self, entities: Ids) -> list[Property]:
        """The values of some hidden entities."""
        hidden, share = self._hidden, 1 - self._settings.missing
        values = (
            (f"{XSD}decimal", share, self._stated_numbers(hidden.numbers[entities])),
            (self._date_type, share, pl.Series(hidden.days[entities]).cast(pl.Date).dt.strftime(self._date_format)),
            (f"{XSD}string", share * CODE_SHARE, "ID-" + pl.Series(hidden.codes[entities]).cast(pl.String)),
            (f"{XSD}string", share, self._stated_texts(hidden.texts[entities])),
            (f"{XSD}integer", share, pl.Series(self._rng.integers(OWN_NUMBERS, size=len(entities))).cast(pl.String)),
        )
        return [
            Property(iri, datatype, where(self._rng.random(len(entities)) < probability, texts))
            for iri, (datatype, probability, texts) in zip(self._iris, values, strict=True)
        ]

    def _stated_numbers(self, numbers: NDArray[np.float64]) -> pl.Series:
        style = self._number_style
        stated = numbers * style.unit * (1 + style.error * self._rng.standard_normal(len(numbers)))
        stated = np.maximum(stated, SMALLEST)
        return pl.Series(stated).round_sig_figs(style.digits).round(2).cast(pl.String)

    def _stated_texts(self, words: Words) -> pl.Series:
        vocabulary = self._spelling.vocabulary
        chance = self._rng.random(words.shape)
        stated = np.where(chance < WORD_WRONG, vocabulary.drawn(words.shape, self._rng), words)
        stated[chance >= WORD_WRONG + WORD_KEPT] = vocabulary.size
        stated[:, 0] = np.where(stated[:, 0] == vocabulary.size, words[:, 0], stated[:, 0])  # no text is empty
        return self._spelling.texts(stated)
