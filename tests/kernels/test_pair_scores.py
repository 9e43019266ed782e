"""Sparse scores of two KGs by kernels, against dense matrices."""

from __future__ import annotations

import numpy as np

from multiea.kernels.pair_scores import (
    above,
    best_of_rows,
    joined_lists,
    paths,
    sorted_rows,
    sums_through,
    transposed,
    values_at,
    weighted_sums,
)

Sparse = tuple[np.ndarray, np.ndarray, np.ndarray]


def random_lists(rows: int, columns: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct columns of each row, fewer in some, with values, largest first."""
    generator = np.random.default_rng(seed)
    found, values = np.full((rows, count), -1, np.int32), np.zeros((rows, count), np.float32)
    for row in range(rows):
        size = generator.integers(0, count + 1)
        found[row, :size] = generator.permutation(columns)[:size]
        values[row, :size] = np.sort(generator.random(size))[::-1]
    return found, values


def dense(lists: tuple[np.ndarray, np.ndarray], columns: int) -> np.ndarray:
    result = np.zeros((len(lists[0]), columns))
    for row, (own, values) in enumerate(zip(*lists, strict=True)):
        result[row, own[own >= 0]] = values[own >= 0]
    return result


def of_rows(scores: Sparse, columns: int) -> np.ndarray:
    starts, column, values = scores
    result = np.zeros((len(starts) - 1, columns))
    for row in range(len(result)):
        own = slice(starts[row], starts[row + 1])
        assert (np.diff(column[own]) > 0).all()  # they rise
        result[row, column[own]] = values[own]
    return result


def test_two_lists_of_candidates_are_joined() -> None:
    forward, backward = random_lists(30, 20, 5, 0)[0], random_lists(20, 30, 4, 1)[0]
    starts, column = joined_lists(forward, backward)
    wanted = np.zeros((30, 20))
    for row, own in enumerate(forward):
        wanted[row, own[own >= 0]] = 1
    for place, own in enumerate(backward):
        wanted[own[own >= 0], place] = 1
    np.testing.assert_array_equal(of_rows((starts, column, np.ones(len(column))), 20), wanted)


def test_scores_are_sorted_turned_cut_and_read() -> None:
    lists = random_lists(30, 20, 6, 2)
    whole = dense(lists, 20)
    scores = sorted_rows(*lists)
    np.testing.assert_allclose(of_rows(scores, 20), whole)
    starts, row_of, place = transposed(scores[0], scores[1], 20)
    np.testing.assert_allclose(of_rows((starts, row_of, scores[2][place]), 30), whole.T)
    np.testing.assert_allclose(of_rows(above(*scores, 0.5), 20), np.where(whole > 0.5, whole, 0))
    best, values = best_of_rows(*scores, 3)
    np.testing.assert_allclose(values, -np.sort(-whole, axis=1)[:, :3], rtol=1e-6)
    np.testing.assert_allclose(np.where(best >= 0, np.take_along_axis(whole, best, axis=1), 0), values)
    factors = np.random.default_rng(0).random(20)
    np.testing.assert_allclose(weighted_sums(*scores, factors), whole @ factors, rtol=1e-6)
    row, column = (part.ravel() for part in np.indices(whole.shape))
    np.testing.assert_allclose(values_at(*scores, row, column), whole.ravel())


def test_paths_are_sums_of_products_and_what_is_not_kept_is_told() -> None:
    thirds, sizes, rows, columns = 2, (25, 15), 30, 20
    direct = sorted_rows(*random_lists(rows, columns, 6, 3))
    first = [random_lists(rows, size, 4, 10 + size) for size in sizes]
    second = [random_lists(size, columns, 4, 20 + size) for size in sizes]
    wanted = 0.3 * of_rows(direct, columns)
    for third in range(thirds):
        wanted += 0.35 * dense(first[third], sizes[third]) @ dense(second[third], columns)
    stacked = tuple(np.stack([part[side] for part in first]) for side in (0, 1))
    joint = tuple(np.concatenate([part[side] for part in second]) for side in (0, 1))
    shares, starts = (np.float32(0.3), np.float32(0.35)), np.cumsum([0, *sizes])
    kept, values, cut = paths(direct, shares, stacked, joint, starts, columns, columns)
    np.testing.assert_allclose(of_rows(sorted_rows(kept, values), columns), wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(cut, 0, atol=1e-6)
    kept, values, cut = paths(direct, shares, stacked, joint, starts, columns, 5)
    best = -np.sort(-wanted, axis=1)[:, :5]
    np.testing.assert_allclose(-np.sort(-values, axis=1), best, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(cut, wanted.sum(1) - best.sum(1), rtol=1e-4, atol=1e-6)
    through = sum(
        sums_through(*other, sums_through(*one, np.ones(rows), size), columns)
        for one, other, size in zip(first, second, sizes, strict=True)
    )
    np.testing.assert_allclose(
        0.35 * np.asarray(through) + 0.3 * of_rows(direct, columns).sum(0), wanted.sum(0), rtol=1e-5
    )
