"""Search by features finds what comparing all pairs finds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from multiea.evidence import pair_search, vector_search
from multiea.evidence.features import Features
from multiea.evidence.names import name_features
from multiea.evidence.pair_search import CANDIDATES, LEAST_SIMILARITY, similar_pairs, similarities_of
from multiea.evidence.tokens import tf_idf, word_counts
from support.evidence import named_kg, products


def generated_names(count: int, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    syllables = np.array(["ka", "lo", "mi", "ren", "tas", "vor", "zel", "qua", "ost", "ib"])
    return [[" ".join("".join(rng.choice(syllables, 3)) for _ in range(2))] for _ in range(count)]


def with_typos(names: list[list[str]], seed: int = 1) -> list[list[str]]:
    at = np.random.default_rng(seed).integers(0, 6, len(names))
    return [[name[:place] + "x" + name[place + 1 :]] for (name,), place in zip(names, at, strict=True)]


def wanted(whole: np.ndarray) -> np.ndarray:
    """Which pairs are among the best of their row or column, and similar enough."""
    rank_in_row = (-whole).argsort(axis=1).argsort(axis=1)
    rank_in_column = (-whole).argsort(axis=0).argsort(axis=0)
    return ((rank_in_row < CANDIDATES - 1) | (rank_in_column < CANDIDATES - 1)) & (whole > LEAST_SIMILARITY + 1e-4)


def test_search_finds_the_best_pairs_of_all() -> None:
    names = generated_names(80)
    left, right = name_features([named_kg("a", names), named_kg("b", with_typos(names)[:60])])
    whole, found = products(left, right), similar_pairs(left, right).toarray()
    np.testing.assert_allclose(found[found > 0], whole[found > 0], atol=1e-5)
    clear = wanted(whole) & (np.abs(whole - np.sort(whole, axis=1)[:, [-CANDIDATES]]) > 1e-5)
    assert (found[clear] > 0).mean() > 0.99


def test_a_pruned_search_finds_the_best_match_with_its_exact_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    names = generated_names(200)
    left, right = name_features([named_kg("a", names), named_kg("b", with_typos(names))])
    exact = similar_pairs(left, right)
    monkeypatch.setattr(pair_search, "PRODUCTS_PER_ROW", 60)
    monkeypatch.setattr(pair_search, "PAIRS_AT_ONCE", 500)
    pruned = similar_pairs(left, right)
    assert pruned.nnz < exact.nnz
    best = exact.toarray().argmax(axis=1)
    assert (pruned.toarray().argmax(axis=1) == best).mean() > 0.95
    both = (pruned.toarray() > 0) & (exact.toarray() > 0)
    np.testing.assert_allclose(pruned.toarray()[both], exact.toarray()[both], atol=1e-5)


def test_tokens_that_all_rows_have_do_not_decide_what_a_pruned_search_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = pl.Series([f"the song code{number}" for number in range(100)])
    rows = tf_idf(word_counts([texts, texts]))
    left, right = map(Features.one_each, rows)
    monkeypatch.setattr(pair_search, "PRODUCTS_PER_ROW", 2)
    found = similar_pairs(left, right).toarray()
    assert (found.argmax(axis=1) == np.arange(100)).all()
    assert np.count_nonzero(found) == 100


def test_dense_vectors_give_the_same_as_all_pairs_and_the_best_row_of_an_entity_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(size, 8)).astype(np.float32) for size in (50, 40)]
    left, right = (
        Features(
            part / np.linalg.norm(part, axis=1, keepdims=True),
            np.arange(len(part)),
            np.arange(len(part)) // 2,
            len(part) // 2 + 1,
        )
        for part in rows
    )
    monkeypatch.setattr(vector_search, "BLOCK_NUMBERS", 300)  # a few rows at once
    whole, found = products(left, right), similar_pairs(left, right).toarray()
    np.testing.assert_allclose(found[found > 0], whole[found > 0], atol=1e-5)
    assert found.max(axis=1) == pytest.approx(np.where(whole.max(axis=1) < LEAST_SIMILARITY, 0, whole.max(axis=1)))
    assert not found[-1].any()


def test_a_kg_without_names_has_no_similar_pairs() -> None:
    left, right = name_features([named_kg("a", [[], []]), named_kg("b", [["Oslo"]])])
    assert similar_pairs(left, right).shape == (2, 1)
    assert similar_pairs(left, right).nnz == similar_pairs(right, left).nnz == 0


def test_all_who_share_a_name_are_proposed_but_not_if_hundreds_do() -> None:
    few, many = [["Ann Lee"]] * 30, [["Bo Lind"]] * 120
    left, right = name_features([named_kg("a", few + many), named_kg("b", few + many)])
    found = similar_pairs(left, right).toarray()
    assert found[:30, :30] == pytest.approx(1, abs=1e-5)
    assert not found[30:, 30:].any()
    some = np.array([0, 40, 3]), np.array([1, 50, 149])
    assert similarities_of(left, right, *some) == pytest.approx(products(left, right)[some], abs=1e-5)
