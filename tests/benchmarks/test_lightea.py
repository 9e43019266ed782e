"""The baseline of `benchmarks/lightea.py`: it finds counterparts, and its Sinkhorn normalises rows and columns."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

import lightea
from lightea_method import Candidates, LightEA, dense_sinkhorn, sparse_sinkhorn

SMALL = LightEA(dimensions=128, relation_numbers=32, candidates=50)


def similar_embeddings(count: int, noise: float = 0.6) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    left = normalize(torch.randn(count, 64, generator=generator))
    return left, normalize(left + noise * normalize(torch.randn(count, 64, generator=generator)))


@pytest.mark.parametrize("pool", ["test", "all"])
def test_counterparts_are_found_in_every_pair_of_three_kgs(three_kgs: Path, pool: str) -> None:
    assert lightea.run_lightea(three_kgs, pool, "LightEA", SMALL) > 0.4  # by chance: about 0.01


def test_the_benchmark_compares_both_methods_in_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "rows.json"
    words = ["lightea.py", "--entities", "200", "--kgs", "2", "--no-dense", "--json", str(out)]
    monkeypatch.setattr("sys.argv", words)
    lightea.main()
    ours, theirs = json.loads(out.read_text())
    assert (ours["method"], theirs["method"]) == ("multiea", "LightEA")
    assert min(ours["hits_at_1"], theirs["hits_at_1"]) > 0.3  # by chance: about 0.01
    assert math.isclose(theirs["seconds_ratio"], theirs["seconds"] / ours["seconds"])
    assert math.isclose(theirs["memory_ratio"], theirs["peak_mb"] / ours["peak_mb"])


def test_rows_and_columns_of_sparse_sinkhorn_sum_to_about_one() -> None:
    left, right = similar_embeddings(300)
    found = sparse_sinkhorn(left, right, LightEA(candidates=100))
    assert torch.allclose(found.scores.sum(1), torch.ones(300), atol=0.1)
    of_columns = torch.zeros(300).index_add_(0, found.columns.flatten(), found.scores.flatten())
    assert torch.allclose(of_columns, torch.ones(300), atol=1e-4)


def test_sparse_and_dense_sinkhorn_agree_where_all_candidates_are_kept() -> None:
    left, right = similar_embeddings(200)
    settings = LightEA(candidates=200)
    sparse, dense = (
        torch.zeros(200, 200).scatter_(1, found.columns.long(), found.scores)
        for found in (method(left, right, settings) for method in (sparse_sinkhorn, dense_sinkhorn))
    )
    assert torch.allclose(sparse, dense, atol=1e-4)


def test_the_search_is_exact() -> None:
    left, right = similar_embeddings(120)
    found = sparse_sinkhorn(left, right, LightEA(candidates=7))
    assert torch.equal(found.columns.sort(1).values.long(), (left @ right.t()).topk(7).indices.sort(1).values)


def test_ranks_count_better_candidates_half_of_the_ties_and_misses() -> None:
    scores = torch.tensor([[0.9, 0.1], [0.5, 0.5], [0.3, 0.2]])
    columns = torch.tensor([[0, 1], [0, 1], [0, 2]], dtype=torch.int32)
    found = Candidates(scores, columns, 4)
    from_left, from_right = found.ranks(torch.tensor([0, 1, 2]), torch.tensor([0, 1, 3]))
    assert from_left.tolist() == [1.0, 1.5, math.inf]
    assert from_right.tolist() == [1.0, 1.0, math.inf]


def test_confident_pairs_are_best_from_both_sides() -> None:
    left, right = similar_embeddings(300, noise=2.0)
    row, column = sparse_sinkhorn(left, right, LightEA(candidates=50)).confident_pairs(0.5)
    assert 0 < len(row) < 300
    assert len(column.unique()) == len(column)
    assert (row == column).double().mean() > 0.8
