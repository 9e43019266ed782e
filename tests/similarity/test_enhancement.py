"""Similarities and their enhancement through third KGs, against literal versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from multiea import Enhancement, SettingError, Task
from multiea.engines.adjacency import Adjacency
from multiea.engines.propagation import embed
from multiea.settings.engines import default_enhancement
from multiea.settings.enhancement import ENHANCEMENT_MODES
from multiea.similarity.enhancement import similarities
from multiea.similarity.matrices import Cosines, EuclideanSimilarities, Matrix
from multiea.similarity.sinkhorn import sinkhorn
from support.quick import SHORT_EMBEDDINGS


def candidates(sizes: tuple[int, ...], seed: int = 0, dimensions: int = 5) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [normalize(torch.randn(size, dimensions, generator=generator)) for size in sizes]


def whole(matrix: Matrix) -> np.ndarray:
    return matrix.rows(slice(None)).double().numpy()


def test_the_similarity_of_the_paper_is_one_minus_half_the_distance() -> None:
    left, right = candidates((6, 4))
    expected = [[1 - float((a - b).norm()) / 2 for b in right] for a in left]
    np.testing.assert_allclose(whole(EuclideanSimilarities(left, right)), expected, atol=1e-6)


def test_sinkhorn_makes_a_square_matrix_doubly_stochastic() -> None:
    left, right = candidates((30, 30))
    normalised = whole(sinkhorn(Cosines(left, right), 0.1, 200))
    np.testing.assert_allclose(normalised.sum(0), 1, atol=1e-3)
    np.testing.assert_allclose(normalised.sum(1), 1, atol=1e-3)


def test_sinkhorn_from_the_other_kg_is_the_transposed_matrix() -> None:
    left, right = candidates((12, 30))
    one, other = sinkhorn(Cosines(left, right), 0.05, 7), sinkhorn(Cosines(right, left), 0.05, 7)
    np.testing.assert_allclose(whole(one), whole(other).T, rtol=1e-4)


def literal_sinkhorn(scores: np.ndarray, temperature: float, sweeps: int) -> np.ndarray:
    """Each sweep divides an entry by the geometric mean of its row's and its column's sum."""
    kernel = np.exp(scores / temperature)
    rows, columns = np.ones(len(kernel)), np.ones(kernel.shape[1])
    for _ in range(sweeps):
        rows, columns = np.sqrt(rows / (kernel @ columns)), np.sqrt(columns / (kernel.T @ rows))
    return rows[:, None] * kernel * columns


def literal_enhanced(
    parts: list[torch.Tensor], mode: str, weights: tuple[float, ...], pair: tuple[int, int]
) -> np.ndarray:
    def direct(a: int, b: int) -> np.ndarray:
        x, y = parts[a].double().numpy(), parts[b].double().numpy()
        if mode == "sharpened":
            low, high = sorted((a, b))
            normalised = literal_sinkhorn(parts[low].double().numpy() @ parts[high].double().numpy().T, 0.05, 15)
            return normalised if a < b else normalised.T
        return np.asarray(1 - np.sqrt(np.maximum(2 - 2 * x @ y.T, 0)) / 2)

    a, b = pair
    if mode == "none":
        return direct(a, b)
    thirds = [kg for kg in range(len(parts)) if kg not in pair]
    used = weights[: len(thirds) + 1]
    total = used[0] * direct(a, b)
    for length, weight in enumerate(used[1:], 1):
        routes = list(permutations(thirds, length))
        for route in routes:
            stops = [a, *route, b]
            steps = [direct(x, y) for x, y in pairwise(stops)]
            if mode == "profile":
                steps[0] = steps[0] / np.linalg.norm(steps[0], axis=1, keepdims=True)
                steps[-1] = steps[-1] / np.linalg.norm(steps[-1], axis=0, keepdims=True)
            product = steps[0]
            for step in steps[1:]:
                product = product @ step
            total = total + weight / len(routes) * product
    return np.asarray(total / sum(used))


@pytest.mark.parametrize("mode", ENHANCEMENT_MODES)
@pytest.mark.parametrize("sizes", [(5, 7), (5, 7, 6), (5, 7, 6, 4, 5)])
@pytest.mark.parametrize("weights", [(0.2, 0.8), (0.5, 0.3, 0.2), (1.0,)])
def test_enhancement_matches_the_paper_for_any_number_of_kgs_and_weights(
    mode: str, sizes: tuple[int, ...], weights: tuple[float, ...]
) -> None:
    parts = candidates(sizes)
    scores = similarities(parts, Enhancement(mode=mode, weights=weights))
    assert set(scores) == set(permutations(range(len(sizes)), 2))
    for pair, matrix in scores.items():
        np.testing.assert_allclose(whole(matrix), literal_enhanced(parts, mode, weights, pair), rtol=2e-4, atol=1e-6)


def test_for_three_kgs_the_product_mode_is_equation_16() -> None:
    a, b, c = candidates((4, 5, 6))
    s = {
        pair: whole(EuclideanSimilarities(*pair_of))
        for pair, pair_of in {"ab": (a, b), "ac": (a, c), "cb": (c, b)}.items()
    }
    expected = 0.2 * s["ab"] + 0.8 * s["ac"] @ s["cb"]
    scores = similarities([a, b, c], Enhancement(mode="product", weights=(0.2, 0.8)))
    np.testing.assert_allclose(whole(scores[0, 1]), expected, rtol=1e-5)


@pytest.mark.parametrize("mode", ENHANCEMENT_MODES)
def test_the_size_of_blocks_changes_nothing(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = candidates((11, 13, 9))
    expected = {pair: whole(matrix) for pair, matrix in similarities(parts, Enhancement(mode=mode)).items()}
    monkeypatch.setattr("multiea.similarity.matrices.BLOCK_NUMBERS", 20)
    monkeypatch.setattr("multiea.similarity.matrices.DENSE_NUMBERS", 0)
    for pair, matrix in similarities(parts, Enhancement(mode=mode)).items():
        np.testing.assert_allclose(whole(matrix), expected[pair], rtol=1e-4, atol=1e-7)


def test_sparse_and_dense_sinkhorn_agree_on_the_best_candidates(small: Task) -> None:
    parts = [part.float() for part in embed([Adjacency(kg) for kg in small.kgs], small.seeds, SHORT_EMBEDDINGS, 0)]
    settings = replace(default_enhancement("propagation"), candidates=400)
    few = similarities(parts, settings)[0, 1].rows(slice(None))
    all_pairs = similarities(parts, replace(settings, candidates=None))[0, 1].rows(slice(None))
    reached = parts[0].any(1)
    assert (few.argmax(1) == all_pairs.argmax(1))[reached].float().mean() > 0.9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Enhancement(mode="sharpend"), "Did you mean 'sharpened'"),
        (lambda: Enhancement(weights=()), "weights must be"),
        (lambda: Enhancement(weights=(0.0, 1.0)), "weights must be"),
        (lambda: Enhancement(temperature=0.0), "temperature must be at least 0.001, got 0.0"),
        (lambda: Enhancement(sweeps=0), "sweeps must be at least 1"),
        (lambda: Enhancement(candidates=0), "candidates must be at least 1"),
        (lambda: Enhancement("product", candidates=5), "'product' needs all pairs"),
        (lambda: Enhancement(candidates=5, weights=(1, 1, 1)), "give two weights"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        wrong()
