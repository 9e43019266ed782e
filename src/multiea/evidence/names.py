"""Names as evidence: character sequences, words and wholes of all names of an entity; the best pair of names counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import names_of, names_with_preference
from multiea.evidence.features import Features
from multiea.evidence.name_model import NameModel
from multiea.evidence.text import joined_codes, plain_text, without_brackets
from multiea.evidence.tokens import character_ngrams, side_by_side, tf_idf, whole_texts, word_counts
from multiea.graph.sparse_rows import scaled

WEIGHTS = (0.68, 0.17, 0.15)  # of character sequences, of words, and of the whole name
LENGTH_WITHOUT_BRACKETS = 0.85
LENGTH_OF_OTHER_NAMES = 0.9


def name_features(kgs: Sequence[KnowledgeGraph]) -> list[Features]:
    """For each KG one row per name; a name with a part in brackets has a second row without it.

    The second row is shorter, so that it counts less: what is in brackets may tell two entities apart. So are the rows
    of names that are not the preferred ones. A name with a code such as SX-616 has another row with it as one word.
    Whole names count by themselves, because equal names say more than nearly equal ones: "somite 3" and "somite 4"
    differ in one character.
    """
    tables = [plain_names(kg) for kg in kgs]
    texts = [table["text"] for table in tables]
    ngrams = [character_ngrams(part) for part in texts]
    counts = zip(*map(tf_idf, (ngrams, word_counts(texts), whole_texts(texts))), strict=True)
    features = []
    for kg, table, parts in zip(kgs, tables, counts, strict=True):
        rows = scaled(side_by_side(parts, WEIGHTS), rows=table["length"].to_numpy())
        first, row = _distinct(table.select("text", "length"))
        features.append(Features(rows[first], row, table["entity"].to_numpy(), len(kg.entities)))
    return features


def _distinct(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct row of a table comes first, and for each row the place of its like among these."""
    numbered = table.with_row_index("place")
    first = numbered.group_by(table.columns).agg(pl.col("place").min()).sort("place").with_row_index("number")
    number = numbered.join(first.drop("place"), on=table.columns, how="left", maintain_order="left")["number"]
    return first["place"].to_numpy(), number.to_numpy().astype(np.int64)


def plain_names(kg: KnowledgeGraph) -> pl.DataFrame:
    """All names of a KG as plain text, also without brackets or with codes joined, each once: entity, text, length."""
    length = pl.when("is_preferred").then(1.0).otherwise(LENGTH_OF_OTHER_NAMES)
    names = names_with_preference(kg).select("entity", "name", length=length)
    if names.is_empty():
        return names.select("entity", text="name", length="length")
    shorter = names.with_columns(without_brackets(names["name"]), length=pl.col("length") * LENGTH_WITHOUT_BRACKETS)
    both = pl.concat([names, shorter])
    joined = joined_codes(both["name"])
    both = pl.concat([both, both.with_columns(joined).filter(joined != both["name"])])
    return (
        both.select("entity", "length", text=plain_text(both["name"]))
        .filter(pl.col("text") != "")
        .group_by("entity", "text")
        .agg(pl.col("length").max())
        .sort("entity", "text")
    )


def model_features(kgs: Sequence[KnowledgeGraph], model: NameModel) -> list[Features]:
    """For each KG one row per name: the vector that a language model gives it."""
    features = []
    for kg in kgs:
        table = names_of(kg)
        first, row = _distinct(table.select("name"))
        vectors = model.encode(table["name"].gather(first).to_list())
        features.append(Features(vectors, row, table["entity"].to_numpy(), len(kg.entities)))
    return features
