"""Side: the candidates of one of two large KGs that kernels compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multiea.engines.embeddings import Embeddings
from multiea.similarity.signatures import Signatures


@dataclass(frozen=True)
class Side:
    """The candidates of one KG: the embeddings of its entities in 8 bits, which of them they are, their signatures."""

    embeddings: Embeddings
    entities: np.ndarray
    signatures: Signatures

    def __len__(self) -> int:
        return len(self.entities)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What kernels need: numbers, what products are multiplied by, and the entities."""
        assert self.embeddings.multipliers is not None
        return self.embeddings.numbers.numpy(), self.embeddings.multipliers.numpy(), self.entities
