"""Scores of many KGs with very many candidates: each KG is compared with all later ones at once, by kernels.

The steps are those of `direct_scores` and `paths`, for structure alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from multiea.engines.embeddings import Embeddings
from multiea.foundation import progress
from multiea.foundation.offsets import offsets
from multiea.kernels.block_matrices import masses_of_entries
from multiea.kernels.compared_blocks import (
    best_of_columns,
    best_of_rows_in_blocks,
    cosines_of_entries,
    masses_of_columns,
    masses_of_rows,
)
from multiea.kernels.compiling import use_threads
from multiea.kernels.pair_scores import joined_lists
from multiea.kernels.third_kgs import best_steps, paths_of_kgs
from multiea.settings.enhancement import Enhancement
from multiea.similarity.compiled_scores import CompiledScores, Entries, normalised
from multiea.similarity.direct_scores import Comparison
from multiea.similarity.many_kgs import candidates_per_block, kept_after_paths, sample_per_block
from multiea.similarity.paths import FINAL_SWEEPS, STEPS, candidates_per_step, divisor_of_paths, shares_of_paths
from multiea.similarity.sparse_scores import NEGLIGIBLE
from multiea.similarity.sparse_sinkhorn import LOWEST_SINGLE_TEMPERATURE, SAMPLE

NUMBERS_AT_ONCE = 1 << 23  # products of embeddings, and room for entries with paths


@dataclass(frozen=True)
class _Found:
    """What was found in some blocks: for each row the number of entries, their columns, joint numbers, and cosines.

    rest_of_rows, rest_of_columns: the mass of other candidates, (rows, blocks) and (columns,). highest: of each block.
    """

    counts: np.ndarray
    column: np.ndarray
    cosines: np.ndarray
    rest_of_rows: np.ndarray
    rest_of_columns: np.ndarray
    highest: np.ndarray


def many_similarities(comparison: Comparison, enhancement: Enhancement, direct_share: float | None) -> CompiledScores:
    """The scores of all pairs of KGs with paths through third KGs."""
    use_threads()
    entries, values, rest = _direct(comparison, enhancement)
    values = normalised(entries, values, enhancement.sweeps, rest)
    del rest
    entries, values, cut = _with_paths(entries, values, enhancement, direct_share)
    return CompiledScores(entries, normalised(entries, values, FINAL_SWEEPS, cut))


def _direct(comparison: Comparison, enhancement: Enhancement) -> tuple[Entries, np.ndarray, np.ndarray]:
    """The best candidates of all pairs, their masses, and the mass of all others, (candidates, KGs)."""
    sizes = tuple(comparison.sizes)
    kgs, starts = len(sizes), offsets(sizes)
    embeddings = [comparison.embeddings(kg, (kg + 1) % kgs)[0] for kg in range(kgs)]
    together = Embeddings.joined(embeddings)
    rest, highest = np.zeros((starts[-1], kgs)), np.zeros((kgs, kgs))
    found_of: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    with progress.stage("comparing", kgs) as advance:
        for kg in range(kgs):
            own = slice(starts[kg], starts[kg + 1])
            parts = []
            for first, last in _batches(kg, sizes):
                found = _compared(embeddings[kg], together, starts[first : last + 1], enhancement, kgs)
                rest[own, first:last] = found.rest_of_rows
                rest[starts[first] : starts[last], kg] = found.rest_of_columns
                highest[kg, first:last] = found.highest
                parts.append(found)
            found_of.append(_joined(parts, sizes[kg]))
            advance(1)
    entries, cosines = _entries(found_of, sizes)
    is_single = enhancement.temperature >= LOWEST_SINGLE_TEMPERATURE
    masses = np.empty(len(entries.column), np.float32 if is_single else np.float64)
    half = (entries.starts, entries.column, cosines)
    masses_of_entries(half, entries.kg, highest, enhancement.temperature, masses)
    return entries, masses, rest


def _batches(kg: int, sizes: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The later KGs in parts whose products with a KG fit into memory."""
    first, width = kg + 1, 0
    for other in range(kg + 1, len(sizes)):
        width += sizes[other]
        if other + 1 == len(sizes) or sizes[kg] * (width + sizes[other + 1]) > NUMBERS_AT_ONCE:
            yield first, other + 1
            first, width = other + 1, 0


def _compared(own: Embeddings, together: Embeddings, starts: np.ndarray, enhancement: Enhancement, kgs: int) -> _Found:
    """One KG with some that follow each other; starts: the first candidate of each of these, and the end."""
    others = together[slice(int(starts[0]), int(starts[-1]))]
    products = own.products(others).numpy()
    factors = tuple(_multipliers(side) for side in (own, others))
    bounds, count = starts - starts[0], candidates_per_block(kgs, enhancement.candidates or 1)
    forward = best_of_rows_in_blocks(products, factors[1], bounds, count)
    backward = best_of_columns(products, factors[0], count)
    rows, column = joined_lists(forward, backward)
    cosines = cosines_of_entries(products, factors, rows, column)
    highest = np.zeros(len(bounds) - 1, np.float32)
    np.maximum.at(highest, np.searchsorted(bounds, column, side="right") - 1, cosines)
    cold = np.float32(1 / enhancement.temperature)
    scaled = (rows, column, cosines * cold)
    sample = sample_per_block(kgs, SAMPLE)
    at = (products, (factors[0] * cold, factors[1]), scaled, bounds, sample, highest * cold)
    return _Found(
        np.diff(rows), column + np.int32(starts[0]), cosines, masses_of_rows(*at), masses_of_columns(*at), highest
    )


def _multipliers(embeddings: Embeddings) -> np.ndarray:
    factors = embeddings.multipliers
    return np.ones(len(embeddings), np.float32) if factors is None else factors.float().numpy()


def _joined(parts: list[_Found], rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries of some parts, row after row: the number of those of each row, their columns and cosines."""
    if not parts:
        return np.zeros(rows, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
    counts = np.stack([part.counts for part in parts])  # (parts, rows)
    first = np.concatenate([[0], counts.T.ravel().cumsum()[:-1]]).reshape(rows, len(parts)) if rows else counts.T
    column, cosines = np.empty(counts.sum(), np.int32), np.empty(counts.sum(), np.float32)
    for number, part in enumerate(parts):
        before = np.cumsum(part.counts) - part.counts
        place = np.repeat(first[:, number] - before, part.counts) + np.arange(len(part.column))
        column[place], cosines[place] = part.column, part.cosines
    return counts.sum(axis=0), column, cosines


def _with_paths(
    direct: Entries, values: np.ndarray, enhancement: Enhancement, direct_share: float | None
) -> tuple[Entries, np.ndarray, np.ndarray]:
    """The best sums of direct scores and paths, and the mass of the others, (candidates, KGs)."""
    sizes, kg, kgs = direct.sizes, direct.kg, len(direct.sizes)
    thirds = sum(size > 0 for size in sizes) - 2
    upper, lower = direct.halves(values)
    limits = (candidates_per_step(thirds, kgs), STEPS)
    steps = best_steps(upper, lower, kg, kgs, limits, NEGLIGIBLE)
    del lower
    divisor = divisor_of_paths(thirds, min(thirds, STEPS))
    shares = tuple(map(np.float32, shares_of_paths(enhancement.weights, direct_share, divisor)))
    kept = kept_after_paths(kgs, len(kg))
    assert kept is not None
    cut = np.zeros((len(kg), kgs))
    at_once = max(2, NUMBERS_AT_ONCE // ((max(sizes) * kgs + len(kg)) * kept))
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for first in range(0, kgs, at_once):
        some = (first, min(first + at_once, kgs))
        ends, column, summed = paths_of_kgs(
            some, direct.offsets, kg, upper, shares, steps, (kept, np.float32(NEGLIGIBLE)), cut
        )
        for number, size in enumerate(sizes[slice(*some)]):
            end = ends[number, size]
            counts = np.diff(ends[number, : size + 1])
            found.append((counts, column[number, :end].copy(), summed[number, :end].copy()))
    return *_entries(found, sizes), np.maximum(cut, 0, out=cut)


def _entries(
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], sizes: tuple[int, ...]
) -> tuple[Entries, np.ndarray]:
    """From the number of entries of each row, columns and values of each KG, which are taken out of the list."""
    starts = np.concatenate([[0], np.concatenate([counts for counts, _, _ in parts]).cumsum()]).astype(np.int64)
    column, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    end = len(column)
    while parts:
        _, *last = parts.pop()
        start = end - len(last[0])
        column[start:end], values[start:end] = last
        end = start
    return Entries(starts, column, sizes), values
