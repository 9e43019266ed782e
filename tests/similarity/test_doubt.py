"""Doubt: what similarity of names and attributes is as probably wrong as right, and what follows for scores."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from multiea.similarity.block_scores import BlockScores
from multiea.similarity.doubt import (
    LEAST_MATCH,
    MATCH_QUANTILE,
    RIVAL_QUANTILE,
    SHARES,
    SHARES_WITH_STRUCTURE,
    doubtful_similarity,
    lower_doubtful,
    similarity_by_chance,
    similarity_half_by_chance,
)
from multiea.similarity.search import sparse_scores
from support.scores import blocks_of_random_scores

TEMPERATURE = 0.05
PAIR = (0, 1)


def two_best(values: np.ndarray) -> np.ndarray:
    """The two highest values of each row, by sorting."""
    return -np.sort(-values, axis=1)[:, :2]


@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize("with_structure", [True, False])
def test_a_doubtful_candidate_is_about_as_similar_as_high_rivals(scale: float, with_structure: bool) -> None:
    rng = np.random.default_rng(0)
    values = scale * np.round(rng.random((40, 30)), 1) * (rng.random((40, 30)) < 0.3)  # ties, and rows of one entry
    values[3] = 0
    values[5, :4] = -0.2  # conflicts
    best = np.concatenate([two_best(values), two_best(values.T)])
    first, second = (best[:, place][best[:, place] > 0] for place in (0, 1))
    rival, match = np.quantile(second, RIVAL_QUANTILE), np.quantile(first, MATCH_QUANTILE)
    lack = max(LEAST_MATCH - match, 0)
    assert (lack > 0) == (scale < 1)
    shares = SHARES_WITH_STRUCTURE if with_structure else SHARES
    level = doubtful_similarity(sp.csr_array(values), 1.0, with_structure=with_structure)
    assert level == pytest.approx(shares[0] * rival + shares[1] * (match - rival) + shares[2] * lack)


def test_without_evidence_nothing_is_doubtful() -> None:
    assert doubtful_similarity(sp.csr_array((4, 3)), 1.0, with_structure=False) is None


def blocks_of(similarity: np.ndarray) -> BlockScores:
    scores = sparse_scores(sp.csr_array(similarity.astype(np.float32)), torch.device("cpu"))
    return BlockScores.of({PAIR: scores}, similarity.shape, torch.device("cpu"))


def test_the_poor_candidates_of_an_entity_are_lowered_together() -> None:
    similarities = blocks_of(np.array([[0.9, 0.3, 0], [0.2, 0.8, 0], [0.15, 0.1, 0.25]]))
    even = similarities.with_values(torch.full_like(similarities.score, 0.5))
    lowered = lower_doubtful(even, similarities, {PAIR: 0.5}, {PAIR: TEMPERATURE})[PAIR].rows(slice(None)).numpy()
    assert lowered[0, 0] > 0.45
    assert lowered[1, 1] > 0.4
    assert lowered[2, 2] < 0.05
    assert len(set(lowered[2].tolist())) == 1


def test_pairs_of_kgs_without_a_doubtful_similarity_stay_as_they_are() -> None:
    pairs = blocks_of_random_scores((4, 5, 3))
    scores = BlockScores.of(pairs, (4, 5, 3), torch.device("cpu"))
    lowered = lower_doubtful(scores, scores, {(0, 1): 0.9, (0, 2): None}, {(0, 1): TEMPERATURE, (0, 2): TEMPERATURE})
    for pair, block in pairs.items():
        same = torch.allclose(lowered[pair].rows(slice(None)), block.rows(slice(None)))
        assert same == (pair != (0, 1))


def test_lowered_scores_are_the_same_whichever_kg_comes_first() -> None:
    rng = np.random.default_rng(1)
    similarity = rng.random((12, 9)) * (rng.random((12, 9)) < 0.5)
    one, other = (
        lower_doubtful(part, part, {PAIR: 0.6}, {PAIR: TEMPERATURE})[PAIR].rows(slice(None))
        for part in (blocks_of(similarity), blocks_of(similarity.T))
    )
    torch.testing.assert_close(one, other.t())


def spread(best: np.ndarray) -> sp.csr_array:
    """Similarities whose best ones of rows and columns are these."""
    return sp.csr_array(np.diag(best))


def test_candidates_no_better_than_lookalikes_are_chance() -> None:
    best = np.random.default_rng(2).random(60)
    lookalikes = (spread(0.9 * best), spread(best[::-1]))
    assert similarity_by_chance(spread(best), lookalikes, with_names=False) == pytest.approx(best.max())


def test_candidates_better_than_lookalikes_are_not_chance() -> None:
    best = np.random.default_rng(2).random(60)
    lookalikes = (spread(0.5 * best), spread(0.5 * best))
    assert similarity_by_chance(spread(best), lookalikes, with_names=False) is None


def test_a_few_counterparts_among_many_leftovers_are_not_chance() -> None:
    best = 0.4 * np.random.default_rng(2).random(60)
    lookalikes = (spread(best), spread(best))
    assert similarity_by_chance(spread(np.r_[best[12:], [0.9] * 12]), lookalikes, with_names=False) is None


@pytest.mark.parametrize("size", [4, 10])
def test_in_a_small_table_half_of_the_entities_with_counterparts_are_not_chance(size: int) -> None:
    best = np.linspace(0.1, 0.3, size)
    lookalikes = (spread(best), spread(best))
    assert (
        similarity_by_chance(spread(np.r_[best[: size // 2], [0.5] * (size // 2)]), lookalikes, with_names=True) is None
    )
    assert similarity_by_chance(spread(best), lookalikes, with_names=True) == pytest.approx(0.3)


def test_a_kg_that_repeats_entities_does_not_hide_counterparts() -> None:
    best = np.random.default_rng(2).uniform(0.5, 1, 60)
    repeated, other = spread(best), spread(0.4 * best)
    assert similarity_by_chance(spread(best), (repeated, other), with_names=False) is None
    assert similarity_by_chance(spread(best), (spread(np.maximum(best, 0.85)),) * 2, with_names=True) is None


def test_chance_is_not_known_without_lookalikes() -> None:
    assert (
        similarity_by_chance(spread(np.ones(4)), (sp.csr_array((0, 0)), sp.csr_array((4, 4))), with_names=True) is None
    )


@pytest.mark.parametrize(("alike", "above", "most"), [(60, 0.5, 0.8), (10, 0.2, 0.5)])
def test_candidates_are_half_chance_where_lookalikes_are_as_frequent(alike: int, above: float, most: float) -> None:
    """A fifth of the entities have counterparts, at 0.8; others have namesakes at 0.5, inside a KG as often or not."""
    inside = np.r_[np.full(alike, 0.5), np.full(200 - alike, 0.2)]
    candidates = np.r_[np.full(40, 0.8), np.full(50, 0.5), np.full(110, 0.2)]
    level = similarity_half_by_chance(spread(candidates), (spread(inside), spread(inside)))
    assert level is not None
    assert above < level <= most
