"""Side: the candidates of one of two large KGs, whose embeddings are read block by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multiea.engines.embeddings import Embeddings, tensor_of
from multiea.tasks.shards import Shards, let_go


@dataclass(frozen=True)
class Side:
    """embedding: the shard of the embeddings; entities: which rows of it the candidates are, rising."""

    shards: Shards
    embedding: str
    entities: np.ndarray

    def __len__(self) -> int:
        return len(self.entities)

    def embeddings(self, places: np.ndarray | slice) -> Embeddings:
        """Those of some candidates, given by their places."""
        own = self.shards.get(self.embedding)
        entities = self.entities[places]
        part = Embeddings(tensor_of(own["numbers"][entities]), tensor_of(own["scales"][entities]))
        let_go(own["numbers"])
        return part
