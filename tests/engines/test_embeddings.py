"""Embeddings: parts of them, rounded a few rows at a time, and joined again."""

from __future__ import annotations

import pytest
import torch

from multiea.engines import embeddings as embeddings_module
from multiea.engines.embeddings import Embeddings, normalise_rows
from multiea.similarity.sparse_sinkhorn import OtherCandidates

WIDTH = 20


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings_module, "NUMBERS_AT_ONCE", 3 * WIDTH)
    monkeypatch.setattr(embeddings_module, "FIRST_COLUMNS", 4)
    monkeypatch.setattr(embeddings_module, "has_fast_int8_products", lambda: True)


def random_embeddings(count: int, seed: int = 0) -> Embeddings:
    rows = torch.randn(count, WIDTH, generator=torch.Generator().manual_seed(seed))
    rows[1] = 0
    return Embeddings(normalise_rows(rows))


def test_some_rows_in_8_bits_are_those_of_all() -> None:
    whole, rows = random_embeddings(10), torch.tensor([7, 1, 3, 3, 9])
    some, expected = whole.rows_in_8_bits(rows), whole.in_8_bits()[rows]
    assert some.scale is not None
    assert expected.scale is not None
    assert torch.equal(some.numbers, expected.numbers)
    assert torch.equal(some.scale, expected.scale)


def test_only_zero_rows_are_unknown() -> None:
    whole = random_embeddings(10)
    whole.numbers[4, : WIDTH - 1] = 0
    assert whole.are_known().tolist() == [row != 1 for row in range(10)]


def test_parts_of_the_same_memory_are_joined_without_a_copy() -> None:
    whole = random_embeddings(10)
    parts = whole.split([3, 0, 7])
    assert Embeddings.joined(parts).numbers.data_ptr() == whole.numbers.data_ptr()
    assert torch.equal(Embeddings.joined(parts).numbers, whole.numbers)
    assert torch.equal(Embeddings.joined(parts[::-1]).numbers, torch.cat([whole.numbers[3:], whole.numbers[:3]]))


def test_a_first_part_with_one_row_of_a_spaced_view_is_joined_row_after_row() -> None:
    whole = random_embeddings(4).numbers
    first = whole[::2][:1]  # contiguous, although its stride is that of two rows
    assert first.is_contiguous()
    assert first.stride() != whole.stride()
    assert torch.equal(Embeddings.joined([Embeddings(first), Embeddings(whole[1:3])]).numbers, whole[:3])


def test_other_candidates_are_the_same_from_the_products_of_all_pairs() -> None:
    left, right = random_embeddings(10).in_8_bits(), random_embeddings(9, seed=1).in_8_bits()
    alone = OtherCandidates.of(left, right, 4)
    found = OtherCandidates.of_products(left.products(right).float(), left, right, 4)
    assert torch.equal(found.rows, alone.rows)
    assert torch.equal(found.columns, alone.columns)
