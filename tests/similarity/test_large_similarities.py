"""Scores of large KGs, one pair at a time: the same as those of all pairs in one matrix."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from multiea.engines.embeddings import Embeddings
from multiea.settings.enhancement import Enhancement
from multiea.similarity.direct_scores import Comparison
from multiea.similarity.enhancement import sparse_similarities
from multiea.similarity.large_candidates import LargeCandidates
from multiea.similarity.large_scores import LargeScores
from multiea.similarity.large_similarities import large_similarities
from multiea.similarity.signatures import Signatures
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.runner import LocalRunner
from multiea.tasks.shards import MemoryShards

SHARPENED = Enhancement("sharpened", weights=(0.3, 0.7), temperature=0.05, candidates=50)


Side = tuple[Embeddings, Signatures]


def sides_of(*sizes: int) -> list[Side]:
    """Candidates that resemble those of the same number elsewhere; all share a mark, so that all are compared."""
    generator = torch.Generator().manual_seed(0)
    common = torch.randn(max(sizes), 96, generator=generator)
    sides = []
    for size in sizes:
        part = Embeddings.empty_in_8_bits(size, 96)
        part.write(0, normalize(common[:size] + 0.7 * torch.randn(size, 96, generator=generator)))
        sides.append((part, Signatures(np.zeros((size, 1), np.int32), np.ones((size, 1), np.float16))))
    return sides


def candidates_of(sides: list[Side], runner: LocalRunner | None = None) -> LargeCandidates:
    parts = [part for part, _ in sides]
    starts = np.cumsum([0, *map(len, parts)])
    rows = [np.arange(*ends) for ends in pairwise(starts)]
    runner = LocalRunner(MemoryShards()) if runner is None else runner
    return LargeCandidates.put(runner, "r", Embeddings.joined(parts), rows, [near for _, near in sides])


def both_ways(sides: list[Side], enhancement: Enhancement) -> tuple[LargeScores, object]:
    parts = [part for part, _ in sides]
    comparison = Comparison([*map(len, parts)], torch.device("cpu"), lambda a, b: (parts[a], parts[b]))
    whole = sparse_similarities(comparison, enhancement)[0]
    large = sparse_similarities(replace(comparison, large=candidates_of(sides)), enhancement)[0]
    assert isinstance(large, LargeScores)
    return large, whole


@pytest.mark.parametrize("kgs", [2, 3, 5])
@pytest.mark.parametrize("enhancement", [SHARPENED, Enhancement("none", candidates=50)])
def test_scores_equal_those_of_one_matrix(kgs: int, enhancement: Enhancement) -> None:
    sides = sides_of(*(50, 40, 45, 30, 48)[:kgs])
    large, whole = both_ways(sides, enhancement)
    assert set(large) == set(permutations(range(kgs), 2))
    for pair, matrix in large.items():
        other = whole[pair]  # type: ignore[index]
        torch.testing.assert_close(matrix.rows(slice(None)), other.rows(slice(None)), atol=2e-4, rtol=2e-2)
        best, score = matrix.best_columns()
        wanted, wanted_score = other.best_columns()
        assert (best == wanted).float().mean() > 0.97
        torch.testing.assert_close(score, wanted_score, atol=1e-3, rtol=1e-2)


def test_both_directions_have_the_same_scores_and_other_numbers_of_kgs_only_rename() -> None:
    large, _ = both_ways(sides_of(50, 40, 45), SHARPENED)
    for a, b in ((0, 1), (1, 2), (0, 2)):
        assert torch.equal(large[a, b].rows(slice(None)), large[b, a].rows(slice(None)).t())
    moved = large.renumbered([2, 0, 1])
    assert torch.equal(moved[0, 1].rows(slice(None)), large[2, 0].rows(slice(None)))


def test_ranks_ties_and_sums_equal_those_of_the_dense_matrix() -> None:
    scores = both_ways(sides_of(50, 40, 45), SHARPENED)[0][0, 1]
    block = scores.rows(slice(None))
    row, column = (part.flatten() for part in torch.meshgrid(torch.arange(50), torch.arange(40), indexing="ij"))
    torch.testing.assert_close(scores.at(row, column), block.flatten())
    better, tied = scores.better_and_tied(row, column)
    assert torch.equal(better, (block[row] > block.flatten()[:, None]).sum(1))
    assert torch.equal(tied, (block[row] == block.flatten()[:, None]).sum(1))
    torch.testing.assert_close(scores.row_sums(), block.sum(1))


def test_a_kg_without_candidates_has_no_scores() -> None:
    large, _ = both_ways(sides_of(30, 20, 1), SHARPENED)
    assert len(large[0, 2].values)
    sides = sides_of(30, 20, 1)
    empty = sides[2][0][:0], sides[2][1][:0]
    scores = large_similarities(candidates_of([*sides[:2], empty]), SHARPENED)
    assert scores[0, 2].shape == (30, 0)
    assert scores[2, 0].shape == (0, 30)
    two = large_similarities(candidates_of(sides[:2]), SHARPENED)
    assert torch.equal(scores[0, 1].rows(slice(None)), two[0, 1].rows(slice(None)))


@pytest.mark.parametrize("kgs", [2, 4])
def test_blocks_little_memory_and_a_folder_change_no_score(
    kgs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = sides_of(*(50, 40, 45, 30)[:kgs])
    whole = large_similarities(candidates_of(sides), SHARPENED)
    monkeypatch.setattr("multiea.similarity.large_similarities.ROWS_AT_ONCE", 7)
    monkeypatch.setattr("multiea.similarity.large_pairs.ROWS_AT_ONCE", 9)
    runner = LocalRunner(FolderShards(tmp_path), memory=1)
    other = large_similarities(candidates_of(sides, runner), SHARPENED)
    for pair, matrix in whole.items():
        for key in ("starts", "column", "values"):
            np.testing.assert_array_equal(getattr(matrix, key), getattr(other[pair], key))


def test_scores_that_are_there_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = candidates_of(sides_of(50, 40, 45))
    one = large_similarities(candidates, SHARPENED)
    monkeypatch.setattr(LocalRunner, "run", lambda *_: pytest.fail("a task was run"))
    assert candidates.are_compared
    other = large_similarities(candidates, SHARPENED)
    assert torch.equal(one[0, 2].rows(slice(None)), other[0, 2].rows(slice(None)))
    left = {name.split("/")[1] for name in candidates.runner.shards._shards}  # type: ignore[attr-defined]
    assert left == {"all", "candidates", "scores"}  # what was needed on the way is dropped


def test_only_entities_that_share_marks_are_compared() -> None:
    sides = sides_of(40, 40)
    own = [(part, marks_of(part)) for part, _ in sides]
    large, _ = both_ways(own, SHARPENED)
    row, column = np.nonzero(large[0, 1].rows(slice(None)).numpy())
    assert (row % 4 == column % 4).all()


def marks_of(part: Embeddings) -> Signatures:
    return Signatures((np.arange(len(part)) % 4).astype(np.int32)[:, None], np.ones((len(part), 1), np.float16))
