"""Search for candidates: exact, with 8-bit integers, and by blocking."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import normalize

from multiea import Task
from multiea.engines import embeddings as embeddings_module
from multiea.engines.adjacency import Adjacency
from multiea.engines.embeddings import Embeddings
from multiea.engines.propagation import embed
from multiea.similarity import search as search_module
from multiea.similarity.search import search, search_block
from multiea.similarity.signatures import signatures
from support.quick import SHORT_EMBEDDINGS
from support.scores import transposed
from support.tasks import edges_of


def random_embeddings(*sizes: int, dimensions: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [normalize(torch.randn(size, dimensions, generator=generator)) for size in sizes]


def test_search_finds_the_best_candidates_of_the_whole_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings_module, "has_fast_int8_products", lambda: False)
    monkeypatch.setattr(search_module, "BLOCK_NUMBERS", 500)  # ten rows per block
    left, right = random_embeddings(70, 50, dimensions=16)
    found, whole = (
        search(Embeddings(left).in_8_bits(), Embeddings(right).in_8_bits(), 5).rows(slice(None)),
        left @ right.t(),
    )
    wanted = torch.zeros_like(whole, dtype=torch.bool)
    wanted.scatter_(1, whole.topk(5, dim=1).indices, True)
    wanted.t().scatter_(1, whole.t().topk(5, dim=1).indices, True)
    wanted &= whole > 0
    torch.testing.assert_close(found[wanted], whole[wanted])
    assert torch.count_nonzero(found) <= wanted.sum() + 5  # rounding may let in a sixth


def test_with_many_rows_a_column_keeps_about_the_number_of_candidates_and_the_best_of_them() -> None:
    left, right = random_embeddings(6000, 200, dimensions=32)
    found, whole = (
        search(Embeddings(left).in_8_bits(), Embeddings(right).in_8_bits(), 50).rows(slice(None)),
        left @ right.t(),
    )
    of_columns = found >= whole.topk(50, dim=0).values[-1] - 1e-3
    assert 40 < of_columns.sum(0).float().mean() < 60
    best = whole.topk(10, dim=0).indices
    assert (found.gather(0, best) > 0).float().mean() > 0.99


def test_int8_cosines_are_accurate_and_equal_for_equal_embeddings() -> None:
    if not embeddings_module.has_fast_int8_products():
        pytest.skip("this processor has no int8 products")
    left, right = random_embeddings(300, 200, dimensions=1024)
    right[7], left[3] = right[11], 0
    cosines = Embeddings(left).in_8_bits().cosines(Embeddings(right).in_8_bits())
    assert (cosines - left @ right.t()).abs().max() < 3e-3
    assert torch.equal(cosines[:, 7], cosines[:, 11])
    assert not cosines[3].any()
    torch.testing.assert_close(Embeddings(left).in_8_bits()[5:9].cosines(Embeddings(right).in_8_bits()), cosines[5:9])


def test_blocking_finds_the_mutual_best_matches_of_an_exact_search(
    small: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With as many marks as bootstrapping reaches, hardly any mutual best match is missed."""
    marks = small.seeds.joined(small.held_out.take(np.arange(len(small.held_out)) % 2 == 0))
    embeddings, near = (
        embed([Adjacency(kg) for kg in small.kgs], marks, SHORT_EMBEDDINGS, 0),
        signatures(edges_of(small.kgs), marks),
    )
    size = len(small.kgs[0].entities)
    one, other = slice(0, size), slice(size, size + len(small.kgs[1].entities))
    pair = embeddings[0], embeddings[1]
    exact = search(*pair, 20)
    monkeypatch.setitem(search_module.EXACT_PAIRS, "cpu", 0.0)
    restricted = search(*pair, 50, (near[one], near[other]))
    there, back = exact.top(1)[0][:, 0], transposed(exact).top(1)[0][:, 0]
    rows = torch.nonzero((there >= 0) & (back[there] == torch.arange(len(there))))[:, 0]
    assert len(rows) > 100
    assert (restricted.at(rows, there[rows]) > 0).float().mean() > 0.98
    assert len(restricted.values) <= 50 * sum(restricted.shape)


def test_with_other_evidence_blocking_keeps_fewer_candidates_and_all_right_ones(
    small: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = signatures(edges_of(small.kgs), small.seeds)
    embeddings = embed([Adjacency(kg) for kg in small.kgs], small.seeds, SHORT_EMBEDDINGS, 0)
    sizes = len(small.kgs[0].entities), len(small.kgs[1].entities)
    one, other = slice(0, sizes[0]), slice(sizes[0], sum(sizes))
    right = small.held_out.members[small.held_out.present[:, :2].all(axis=1), :2]
    added = sp.csr_array((np.full(len(right), 0.5, np.float32), (right[:, 0], right[:, 1])), shape=sizes)
    pair = embeddings[0], embeddings[1]
    monkeypatch.setitem(search_module.EXACT_PAIRS, "cpu", 0.0)
    monkeypatch.setattr(search_module, "SHARED_WITH_EVIDENCE", 5)
    scores = search(*pair, 50, (near[one], near[other]), added)
    assert len(scores.values) <= 5 * sum(sizes)
    assert (scores.at(*torch.from_numpy(right.astype(np.int64)).t()) > 0.49).all()


@pytest.mark.parametrize("shape", [(30, 20), (4, 50)])
def test_the_search_in_a_block_keeps_the_best_of_rows_and_columns_and_what_is_added(shape: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(0)
    block = torch.rand(shape, generator=generator) - 0.4
    added = sp.random_array(shape, density=0.1, rng=np.random.default_rng(0), dtype=np.float32).tocsr()
    found = search_block(block, 5, added).rows(slice(None)).numpy()
    whole = block.numpy() + added.toarray()
    is_best = np.zeros(shape, dtype=bool)
    for axis in (0, 1):
        np.put_along_axis(is_best, np.argsort(-whole, axis=axis).take(range(4), axis=axis), True, axis=axis)
    wanted = (is_best | (added.toarray() > 0)) & (whole > 0)
    np.testing.assert_allclose(found[wanted], whole[wanted], rtol=1e-6)
    assert not found[whole <= 0].any()


@pytest.mark.parametrize("columns", [60, 2000])
def test_the_best_of_rows_are_those_of_topk_also_where_values_are_equal(columns: int) -> None:
    generator = torch.Generator().manual_seed(0)
    block = (torch.randn(40, columns, generator=generator) * 4).round() / 4  # many equal values
    block[:5] = 0
    thresholds = torch.rand(columns, generator=generator) + 2
    found = search_module.best_of_rows_or_above(block, 10, thresholds)
    wanted = (block > thresholds).scatter_(1, block.topk(10, dim=1).indices, True)
    assert torch.equal(found & (block > 0), wanted & (block > 0))
    assert torch.equal(search_module.highest_of_rank(block, 7), block.topk(7, dim=1).values[:, -1])
