"""Doubt: what similarity of names and attributes is as probably wrong as right."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from multiea.similarity.doubt import DOUBTFUL_SHARE, MATCH_QUANTILE, RIVAL_QUANTILE, doubtful_similarity


def two_best(values: np.ndarray) -> np.ndarray:
    """The two highest values of each row, by sorting."""
    return -np.sort(-values, axis=1)[:, :2]


def test_a_doubtful_candidate_lies_between_high_rivals_and_good_matches() -> None:
    rng = np.random.default_rng(0)
    values = np.round(rng.random((40, 30)), 1) * (rng.random((40, 30)) < 0.3)  # with ties, and rows of one entry
    values[3] = 0
    values[5, :4] = -0.2  # conflicts
    best = np.concatenate([two_best(values), two_best(values.T)])
    first, second = (best[:, place][best[:, place] > 0] for place in (0, 1))
    rival, match = np.quantile(second, RIVAL_QUANTILE), np.quantile(first, MATCH_QUANTILE)
    assert doubtful_similarity(sp.csr_array(values)) == pytest.approx(rival + DOUBTFUL_SHARE * (match - rival))


def test_without_evidence_nothing_is_doubtful() -> None:
    assert doubtful_similarity(sp.csr_array((4, 3))) is None
