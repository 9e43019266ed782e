"""Doubt: what similarity of names and attributes is as probably wrong as right, and what follows for scores."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from multiea.similarity.doubt import (
    LEAST_MATCH,
    MATCH_QUANTILE,
    RIVAL_QUANTILE,
    SHARES,
    SHARES_WITH_STRUCTURE,
    doubtful_similarity,
    lower_doubtful,
)
from multiea.similarity.search import sparse_scores

TEMPERATURE = 0.05


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


def test_the_poor_candidates_of_an_entity_are_lowered_together() -> None:
    similarity = np.array([[0.9, 0.3, 0], [0.2, 0.8, 0], [0.15, 0.1, 0.25]], dtype=np.float32)
    similarities = sparse_scores(sp.csr_array(similarity), torch.device("cpu"))
    even = similarities.with_values(torch.full_like(similarities.values, 0.5))
    lowered = lower_doubtful(even, similarities, 0.5, TEMPERATURE).rows(slice(None)).numpy()
    assert lowered[0, 0] > 0.45
    assert lowered[1, 1] > 0.4
    assert lowered[2, 2] < 0.05
    assert len(set(lowered[2].tolist())) == 1


def test_lowered_scores_are_the_same_whichever_kg_comes_first() -> None:
    rng = np.random.default_rng(1)
    similarity = sp.csr_array((rng.random((12, 9)) * (rng.random((12, 9)) < 0.5)).astype(np.float32))
    similarities, transposed = (sparse_scores(part, torch.device("cpu")) for part in (similarity, similarity.T.tocsr()))
    one, other = (lower_doubtful(part, part, 0.6, TEMPERATURE).rows(slice(None)) for part in (similarities, transposed))
    torch.testing.assert_close(one, other.t())
