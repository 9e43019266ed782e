"""Token matrices: what occurs in which text, and how much it counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from multiea.evidence.tokens import NGRAM, character_ngrams, side_by_side, tf_idf, token_counts, word_counts


def test_character_sequences_are_counted_as_by_hand_and_never_across_texts() -> None:
    texts = ["banana", "", "a", "ban an", "42 bananas"]
    matrix = character_ngrams(pl.Series(texts)).toarray()
    by_hand = [Counter(f" {text} "[at : at + NGRAM] for at in range(len(text) + 2 - NGRAM + 1)) for text in texts]
    assert [sorted(row[row > 0].tolist()) for row in matrix] == [sorted(one.values()) for one in by_hand]
    shared = (matrix > 0).astype(int) @ (matrix > 0).astype(int).T
    assert shared.tolist() == [[len(set(one) & set(other)) for other in by_hand] for one in by_hand]


def test_no_texts_give_an_empty_matrix() -> None:
    assert character_ngrams(pl.Series([], dtype=pl.String)).shape[0] == 0
    assert word_counts([pl.Series([], dtype=pl.String)])[0].shape[0] == 0


def test_words_of_several_series_have_one_vocabulary() -> None:
    one, other = (
        part.toarray() for part in word_counts([pl.Series(["new york", "york york"]), pl.Series(["york", ""])])
    )
    assert (one @ other.T).tolist() == [[1, 0], [2, 0]]


def test_empty_tokens_do_not_count() -> None:
    table = pl.DataFrame({"row": [0, 0, 1], "token": ["", None, "x"]})
    (matrix,) = token_counts([table], [3])
    assert matrix.toarray().sum(axis=1).tolist() == [0, 1, 0]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = pl.Series(["city oslo", "city of", *["city of"] * 20, "oslo of"])
    (rows,) = tf_idf(word_counts([texts]))
    similarity = (rows @ rows.T).toarray()
    assert similarity[0, -1] > 5 * similarity[0, 1] > 0
    np.testing.assert_allclose(similarity.diagonal(), 1, rtol=1e-5)


def test_products_of_matrices_side_by_side_are_weighted_sums() -> None:
    one, other = tf_idf(word_counts([pl.Series(["a b", "b c", "c"]), pl.Series(["x y", "x", "y x"])]))
    both = side_by_side([one, other], [0.8, 0.2])
    wanted = 0.8 * (one @ one.T).toarray() + 0.2 * (other @ other.T).toarray()
    np.testing.assert_allclose((both @ both.T).toarray(), wanted, atol=1e-6)
