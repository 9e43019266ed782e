"""Settings with which small KGs are aligned quickly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import multiea
from multiea import Alignment, Propagation, Task, Training
from multiea.settings.engines import TRAINING_DEFAULTS

SHORT_EMBEDDINGS = Propagation(dimensions=128, relation_numbers=32)
FEW_EPOCHS = Training(epochs=10, evaluate_every=5, dimensions=32)


def align(task: Task, **settings: Any) -> Alignment:
    """Aligns with short embeddings of propagation, which are enough for small KGs."""
    uses_propagation = "propagation" in str(settings.get("engine", "propagation")).split("+")
    return multiea.align(task, propagation=SHORT_EMBEDDINGS if uses_propagation else None, **settings)


def few_epochs_of(encoder: str) -> Training:
    """The default training of an encoder, with very few epochs and dimensions."""
    return replace(TRAINING_DEFAULTS[encoder], epochs=6, evaluate_every=3, dimensions=16)
