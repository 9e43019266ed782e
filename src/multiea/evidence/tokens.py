"""Token matrices: how often each token (word, part of a word, value) occurs in each text, weighted by its rarity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import scipy.sparse as sp

from multiea.graph.sparse_rows import scaled, unit_rows

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
SYMBOLS = len(LETTERS) + 1  # and the space
NGRAM = 3


def character_ngrams(texts: pl.Series) -> sp.csr_array:
    """How often each sequence of three characters occurs in each plain text, (texts, symbols ** 3).

    A space at both ends marks the beginning and the end of a text.
    """
    code = np.zeros(128, dtype=np.int32)
    code[[ord(letter) for letter in LETTERS]] = np.arange(1, SYMBOLS)
    characters = np.frombuffer("".join(f" {text} \n" for text in texts).encode("ascii"), dtype=np.uint8)
    is_end = characters == ord("\n")
    row = np.cumsum(is_end) - is_end
    count = max(len(characters) - NGRAM + 1, 0)
    ngram, inside = np.zeros(count, np.int32), np.ones(count, dtype=bool)
    for place in range(NGRAM):
        ngram = ngram * SYMBOLS + code[characters[place : place + count]]
        inside &= ~is_end[place : place + count]
    return counts(row[:count][inside], ngram[inside], (len(texts), SYMBOLS**NGRAM))


def word_counts(texts: Sequence[pl.Series]) -> list[sp.csr_array]:
    """How often each word occurs in each plain text, for several series of texts over one vocabulary."""
    return token_counts(
        [
            pl.DataFrame({"row": pl.int_range(len(part), eager=True), "token": part.str.split(" ")}).explode("token")
            for part in texts
        ],
        [len(part) for part in texts],
    )


def whole_texts(texts: Sequence[pl.Series]) -> list[sp.csr_array]:
    """Each plain text as one token, for several series of texts over one vocabulary: equal texts share theirs."""
    return token_counts(
        [pl.DataFrame({"row": pl.int_range(len(part), eager=True), "token": part}) for part in texts],
        [len(part) for part in texts],
    )


def token_counts(tables: Sequence[pl.DataFrame], rows: Sequence[int]) -> list[sp.csr_array]:
    """Tables of row and token as matrices over one vocabulary; empty tokens do not count. rows: the height of each."""
    kept = [
        table.select("row", "token").filter(pl.col("token").is_not_null(), pl.col("token") != "") for table in tables
    ]
    vocabulary = pl.concat([table.select("token") for table in kept]).unique().sort("token").with_row_index("column")
    matrices = []
    for table, height in zip(kept, rows, strict=True):
        columns = table.join(vocabulary, on="token", how="left", maintain_order="left")["column"].to_numpy()
        matrices.append(counts(table["row"].to_numpy(), columns, (height, max(len(vocabulary), 1))))
    return matrices


def counts(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """How often each pair of row and column occurs."""
    ones = np.ones(len(row), dtype=np.float32)
    matrix = sp.csr_array((ones, (row.astype(np.int64), column.astype(np.int64))), shape=shape)
    matrix.sum_duplicates()
    return matrix


def tf_idf(matrices: Sequence[sp.csr_array]) -> list[sp.csr_array]:
    """Counts weighted by their logarithm and by the rarity of the token in all matrices; rows of unit length."""
    texts = sum(matrix.shape[0] for matrix in matrices)
    used = sum(np.bincount(matrix.indices, minlength=matrix.shape[1]) for matrix in matrices)
    rarity = np.log((texts + 1) / (np.asarray(used) + 1))
    return [unit_rows(scaled(_log_counts(matrix), columns=rarity)) for matrix in matrices]


def side_by_side(parts: Sequence[sp.csr_array], weights: Sequence[float]) -> sp.csr_array:
    """Matrices of unit rows beside each other, so that products of rows are the weighted sums of theirs; unit rows."""
    return unit_rows(
        sp.hstack([part * np.float32(weight**0.5) for part, weight in zip(parts, weights, strict=True)], "csr")
    )


def _log_counts(matrix: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((1 + np.log(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
