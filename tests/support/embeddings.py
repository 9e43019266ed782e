"""Embeddings as alignments hold them, from those of all entities in the order of a task."""

from __future__ import annotations

import torch
from torch import Tensor

from multiea import Task
from multiea.engines.embeddings import Embeddings
from multiea.graph.canonical_order import CanonicalOrder


def canonical(task: Task, embeddings: Tensor) -> Embeddings:
    """Embeddings of all entities of a task, (N, d), in canonical order."""
    return Embeddings(embeddings[torch.from_numpy(CanonicalOrder.of(task).given_ids())])
