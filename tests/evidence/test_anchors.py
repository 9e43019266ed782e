"""Anchors are pairs that are clearly the same."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from multiea.evidence.anchors import mutual_best


def test_each_others_best_are_pairs_only_by_a_margin_and_similar_enough() -> None:
    similarity = sp.csr_array(
        np.array([[0.9, 0.2, 0, 0], [0.8, 0.6, 0, 0.1], [0, 0, 0.7, 0.69], [0, 0, 0, 0.3], [0, 0, 0, 0]], np.float32)
    )
    row, column = mutual_best(similarity, 0.2, 0.05)
    assert list(zip(row.tolist(), column.tolist(), strict=True)) == [(0, 0)]
    row, column = mutual_best(similarity, 0.95, 0.05)
    assert len(row) == 0
