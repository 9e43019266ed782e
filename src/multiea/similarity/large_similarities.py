"""Similarities of all pairs of large KGs, one pair after the other, so that memory is bounded by that of one pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from multiea.foundation import progress
from multiea.settings.enhancement import Enhancement
from multiea.similarity.large_pairs import candidates, sinkhorn, with_paths
from multiea.similarity.large_scores import LargeScores
from multiea.similarity.many_kgs import candidates_per_block, kept_after_paths, sample_per_block
from multiea.similarity.paths import candidates_per_step
from multiea.similarity.row_scores import Lists, RowScores
from multiea.similarity.search import SHARED
from multiea.similarity.sides import Side
from multiea.similarity.sparse_sinkhorn import SAMPLE

Pair = tuple[int, int]


def large_similarities(sides: Sequence[Side], enhancement: Enhancement) -> LargeScores:
    """The scores of the candidates of all KGs; sides: those of each KG."""
    kgs, sizes = range(len(sides)), [*map(len, sides)]
    pairs = [(a, b) for a, b in combinations(kgs, 2) if sizes[a] and sizes[b]]
    thirds = sum(size > 0 for size in sizes) - 2
    weights = tuple(part / sum(enhancement.weights) for part in enhancement.weights)
    has_paths = enhancement.mode == "sharpened" and thirds > 0 and len(weights) > 1 and weights[1] > 0
    scores, steps = dict[Pair, RowScores](), dict[Pair, Lists]()
    with progress.stage("comparing", len(pairs)) as advance:
        for a, b in pairs:
            scores[a, b] = direct = _direct(sides[a], sides[b], enhancement, len(sides))
            if has_paths:
                count = candidates_per_step(thirds, len(sides))
                steps[a, b], steps[b, a] = direct.best(count), direct.transposed().best(count)
            advance(1)
    if not has_paths:
        return LargeScores(scores, sizes)
    kept = kept_after_paths(len(sides), sum(sizes)) or SHARED
    for a, b in pairs:
        between = [kg for kg in kgs if kg not in (a, b) and sizes[kg]]
        first, second = [steps[a, kg] for kg in between], [steps[kg, b] for kg in between]
        scores[a, b] = with_paths(scores[a, b], first, second, (weights[0], weights[1]), kept)
    return LargeScores(scores, sizes)


def _direct(left: Side, right: Side, enhancement: Enhancement, kgs: int) -> RowScores:
    count = min(candidates_per_block(kgs, enhancement.candidates), SHARED)
    similarities = candidates(left, right, count)
    if enhancement.mode != "sharpened":
        return similarities
    return sinkhorn(similarities, left, right, enhancement, sample_per_block(kgs, SAMPLE))
