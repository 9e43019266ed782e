"""The effect of the candidate order: only the published code depends on it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

import multiea
from multiea import Task
from multiea.reproduction.gold_order import PUBLISHED_CODE, scores_by_order, similarities_of_published_code
from multiea.settings.engines import default_training


def test_only_the_published_code_depends_on_the_order_of_candidates(small: Task) -> None:
    training = replace(default_training("multiea"), epochs=30, dimensions=32, validation_ratio=0.0)
    alignment = multiea.align(small, engine="multiea", training=training)
    scores = scores_by_order(alignment, ("answer", "shuffled"), random_state=0)
    for method, by_order in scores.items():
        if method == PUBLISHED_CODE:
            assert by_order["answer"]["10"] > 1.2 * by_order["shuffled"]["10"]
        else:
            assert by_order["answer"] == pytest.approx(by_order["shuffled"], abs=1e-9), method


def test_the_published_code_compares_with_rows_of_the_third_kg() -> None:
    generator = torch.Generator().manual_seed(0)
    kgs = [normalize(torch.randn(5, 4, generator=generator)) for _ in range(4)]

    def similarity(a: int, b: int) -> np.ndarray:
        return np.asarray(1 - (kgs[a][:, None] - kgs[b][None]).norm(dim=-1).numpy() / 2)

    def similarity_of_rows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        one, other = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other))
        return np.asarray(1 - np.linalg.norm(one[:, None] - other[None], axis=-1) / 2)

    through = sum(similarity_of_rows(similarity(0, third), similarity(third, 1)) for third in (2, 3)) / 2
    expected = 0.2 * similarity(0, 1) + 0.8 * through
    scores = similarities_of_published_code(kgs)
    np.testing.assert_allclose(scores[0, 1].rows(slice(None)).numpy(), expected, atol=1e-5)
