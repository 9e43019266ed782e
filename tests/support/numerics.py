"""Literal numpy versions of functions that the encoders use."""

from __future__ import annotations

import numpy as np


def elu(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, np.exp(np.minimum(values, 0)) - 1)


def leaky_relu(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 0.2 * values)


def softmax(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(values) / np.exp(values).sum())


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
