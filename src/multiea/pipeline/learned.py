"""LearnedEmbeddings: what an engine hands on to the similarity stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from multiea.data.seed_split import SeedSplit
from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import Evidence
from multiea.grouping.calibration import Calibration
from multiea.similarity.signatures import Signatures
from multiea.similarity.weights import Weights
from multiea.tasks.runner import Runner


@dataclass(frozen=True)
class LearnedEmbeddings:
    """Embeddings of all entities in canonical order, (N, d), and how they were learned.

    split, without_validation: the split of the seeds, and the embeddings made without the validation seeds, where the
    calibration is still to be learned from them. evidence: that of the task, with matched neighbours. runner: of tasks,
    where the KGs are large.
    """

    embeddings: Embeddings
    history: dict[str, Any]
    split: SeedSplit | None = None
    without_validation: Embeddings | None = None
    signatures: Signatures | None = None
    calibration: Calibration | None = None
    weights: Weights = field(default_factory=Weights)
    evidence: Evidence | None = None
    runner: Runner | None = None
