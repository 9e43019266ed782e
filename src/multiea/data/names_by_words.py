"""The name property of a KG by the names of the other KGs: the text property that shares their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import names_of, possible_names, shown_names

MIN_SHARE_OF_WORDS = 0.3  # both of the words of the values that names have, and of the words of the names
MAX_MEDIAN_LENGTH = 60  # longer values are descriptions, unless names elsewhere are half as long
MAX_RATIO_OF_LENGTHS = 2.0
_WORD = r"\p{L}[\p{L}\p{M}]{2,}"


def with_names_by_words(kgs: Sequence[KnowledgeGraph]) -> list[KnowledgeGraph]:
    """The KGs; one without names gets the text property that shares the most words with the names of another KG.

    Words are shared where the values mostly use words that the names have, and the names those that the values have: an
    address may have the word of a name, but few of all words. Long texts and codes are never taken, and nothing changes
    where no KG has names. `KnowledgeGraph.name_by_values` has what was taken.
    """
    candidates = [possible_names(kg) for kg in kgs]
    if not any(candidates):
        return list(kgs)
    names = [names_of(kg)["name"] for kg in kgs]
    named = [(values, _words(values)) for values in names if len(values)]
    result = []
    for kg, properties in zip(kgs, candidates, strict=True):
        best = _best(kg, properties, named)
        if best is not None:
            kg = replace(kg, name_by_values=best)
            kg = replace(kg, names=shown_names(kg))
        result.append(kg)
    return result


def _best(kg: KnowledgeGraph, properties: Sequence[str], named: Sequence[tuple[pl.Series, pl.DataFrame]]) -> str | None:
    shares = {}
    for one in properties:
        values = kg.literals.filter(pl.col("property").cast(pl.String) == one)["value"]
        words, length = _words(values), _median_length(values)
        of_length = [
            known
            for names, known in named
            if length <= max(MAX_MEDIAN_LENGTH, MAX_RATIO_OF_LENGTHS * _median_length(names))
        ]
        shares[one] = max((min(_known(words, known), _known(known, words)) for known in of_length), default=0.0)
    best = max(shares, key=shares.__getitem__, default=None)  # of equal ones the first, which is more distinct
    return best if best is not None and shares[best] >= MIN_SHARE_OF_WORDS else None


def _words(values: pl.Series) -> pl.DataFrame:
    """The words of all values, without numbers and codes, and how often each occurs: word, count."""
    words = values.str.to_lowercase().str.extract_all(_WORD).explode().drop_nulls()
    return words.alias("word").value_counts(name="count")


def _known(words: pl.DataFrame, others: pl.DataFrame) -> float:
    """The share of the occurrences of words that others have as well."""
    total = int(words["count"].to_numpy().sum())
    shared = int(words.join(others, on="word", how="semi")["count"].to_numpy().sum())
    return shared / total if total else 0.0


def _median_length(values: pl.Series) -> float:
    median = values.str.len_chars().median()
    return float(median) if isinstance(median, int | float) else 0.0
