"""Contributions: what each kind of evidence says about pairs of entities of two KGs, in log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import ATTRIBUTES, CONFLICTS, IDENTIFIERS, MODEL, NAMES, NEIGHBOURS, STRUCTURE, Pair
from multiea.graph.sparse_rows import values_at
from multiea.grouping.alignment import AlignmentResult
from multiea.similarity.pair_evidence import PairEvidence

ORDER = (NAMES, MODEL, ATTRIBUTES, IDENTIFIERS, CONFLICTS, STRUCTURE, NEIGHBOURS)  # as kinds of evidence are shown


@dataclass(frozen=True)
class Contribution:
    """One kind of evidence of some pairs of entities, (pairs,) each.

    similarity: as compared, zero where the pair was no candidate. log_odds: the similarity times the weight, and more
    where an entity lacks other kinds; of conflicts and identifiers, both are what these take away or add. has_left,
    has_right: which entities have such evidence at all.
    """

    kind: str
    weight: float
    similarity: np.ndarray
    log_odds: np.ndarray
    has_left: np.ndarray
    has_right: np.ndarray


class Contributions:
    """The evidence of an alignment, in canonical order."""

    def __init__(self, alignment: AlignmentResult) -> None:
        compared = alignment.compared()
        assert isinstance(compared.embeddings, Embeddings)
        self._evidence, self._weights = compared.evidence, compared.weights
        entities = int(alignment.task.entity_offsets[-1])
        self._temperature = alignment.enhancement.for_entities(entities).temperature
        sizes = [len(kg.entities) for kg in alignment.order.canonical.kgs]
        self._embeddings = compared.embeddings.split(sizes)
        self._of_pair = cache(self._pair_evidence)

    def of(self, pair: Pair, left: np.ndarray, right: np.ndarray) -> list[Contribution]:
        """What each kind says about some pairs of entities of two KGs (a < b), given by their positions."""
        cosine, has_structure = self._structure(pair, left, right)
        if self._evidence is None:
            weight = 1 / self._temperature
            return [Contribution(STRUCTURE, weight, cosine, weight * cosine, *has_structure)]
        own = self._of_pair(pair)
        factors = own.row_factors[left] * own.column_factors[right]
        found = []
        for kind, weight in zip(own.kinds, own.weights, strict=True):
            if kind == STRUCTURE:
                similarity, has = cosine, has_structure
            else:
                evidence = self._evidence.kinds[kind]
                similarity = values_at(evidence.similarity[pair], left, right)
                has = (evidence.has_any[pair[0]][left], evidence.has_any[pair[1]][right])
            found.append(Contribution(kind, float(weight), similarity, weight * factors * similarity, *has))
        always = np.ones(len(left), dtype=bool)
        for kind, matrix in ((IDENTIFIERS, own.identifiers), (CONFLICTS, own.conflicts)):
            said = values_at(matrix, left, right)
            if said.any():
                found.append(Contribution(kind, 1.0, said, said, always, always))
        return sorted(found, key=lambda one: ORDER.index(one.kind))

    def _pair_evidence(self, pair: Pair) -> PairEvidence:
        assert self._evidence is not None
        return PairEvidence.of(self._evidence, pair, self._weights)

    def _structure(
        self, pair: Pair, left: np.ndarray, right: np.ndarray
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """The cosines of the embeddings, and which entities have one."""
        one, other = (
            self._embeddings[kg][torch.from_numpy(ends)].float().cpu()
            for kg, ends in zip(pair, (left, right), strict=True)
        )
        cosine = (one.double() * other.double()).sum(dim=1).numpy()
        return cosine, (one.any(dim=1).numpy(), other.any(dim=1).numpy())
