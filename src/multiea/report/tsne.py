"""t-SNE projections of embeddings, by openTSNE (extra `report`)."""

from __future__ import annotations

import importlib.util

import numpy as np

from multiea.foundation import progress

ITERATIONS, REPORT_EVERY = 750, 50  # 250 iterations with exaggeration, 500 without
HOW_TO_GET_IT = "pip install 'multiea[report]'"


def has_tsne() -> bool:
    """Whether openTSNE is installed."""
    return importlib.util.find_spec("openTSNE") is not None


def project(vectors: np.ndarray, max_perplexity: float) -> np.ndarray:
    """Projects vectors, (n, d), to two dimensions, (n, 2); deterministic."""
    from openTSNE import TSNE  # type: ignore[import-not-found, import-untyped, unused-ignore]  # deferred: an extra

    with progress.stage("drawing the map", ITERATIONS / REPORT_EVERY) as advance:

        def report(*_: object) -> None:
            advance(1)

        made = TSNE(
            perplexity=max(2.0, min(max_perplexity, (len(vectors) - 1) / 3)),
            initialization="pca",
            neighbors="exact",
            negative_gradient_method="bh",
            n_jobs=1,
            random_state=0,
            callbacks=report,
            callbacks_every_iters=REPORT_EVERY,
        ).fit(vectors)
    return np.asarray(made, dtype=float)
