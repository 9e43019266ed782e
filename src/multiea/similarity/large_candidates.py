"""LargeCandidates: the candidates of large KGs, in shards that tasks read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from multiea.engines.embeddings import Embeddings
from multiea.similarity.signatures import Signatures
from multiea.tasks.runner import Runner

Pair = tuple[int, int]
EMBEDDINGS_OF_ALL = "final/all"  # the shard of the last embeddings, of all KGs


@dataclass(frozen=True)
class LargeCandidates:
    """The shards `{prefix}/candidates/{kg}` say which rows of their embeddings candidates are, and their signatures.

    sizes: how many candidates each KG has. embeddings: for each KG the shard of its embeddings in 8 bits.
    """

    runner: Runner
    prefix: str
    sizes: Sequence[int]
    embeddings: Sequence[str]

    @classmethod
    def put(
        cls, runner: Runner, prefix: str, embeddings: Embeddings, rows: Sequence[np.ndarray], near: Sequence[Signatures]
    ) -> LargeCandidates:
        """From the embeddings of all entities, of which candidates are some rows; near: the signatures of these."""
        if EMBEDDINGS_OF_ALL not in runner.shards:
            assert embeddings.scale is not None
            arrays = {"numbers": embeddings.numbers.numpy(), "scales": embeddings.scale.numpy()}
            runner.shards.put(EMBEDDINGS_OF_ALL, arrays)
        for kg, (own, of_kg) in enumerate(zip(rows, near, strict=True)):
            arrays = {"entities": own, "marks": of_kg.marks, "weights": of_kg.weights}
            runner.shards.put(f"{prefix}/candidates/{kg}", arrays)
        return cls(runner, prefix, [*map(len, rows)], [EMBEDDINGS_OF_ALL] * len(rows))

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of KGs that have candidates."""
        return [(a, b) for a, b in combinations(range(len(self.sizes)), 2) if self.sizes[a] and self.sizes[b]]

    @property
    def are_compared(self) -> bool:
        """Whether their scores are there, from an earlier run that was interrupted."""
        return all(name in self.runner.shards for name in self.names("scores"))

    def names(self, stage: str) -> list[str]:
        """The shards of a stage that has one for each pair."""
        return [f"{self.prefix}/{stage}/{a}-{b}" for a, b in self.pairs]
