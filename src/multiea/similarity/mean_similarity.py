"""Similarities of chosen pairs of entities by all evidence, before any competition between candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import Evidence, EvidenceOfKind
from multiea.graph.sparse_rows import no_entries, values_at
from multiea.similarity.pair_evidence import PairEvidence
from multiea.similarity.weights import DEFAULT_WEIGHTS, Weights


@dataclass
class MeanSimilarity:
    """The weighted mean over the kinds of evidence, for entities of two KGs or of one.

    embeddings: of all entities, KG by KG. evidence: beside structure; None for structure alone. Inside a KG structure
    does not count where there is other evidence, since neighbours of one entity, such as the cities of a country, are
    nearly equal by it; the weights are the means of those between the KG and the others.
    """

    embeddings: Sequence[Embeddings]
    evidence: Evidence | None = None
    weights: Weights = field(default_factory=Weights)
    _of_pair: dict[tuple[int, int], PairEvidence] = field(default_factory=dict, repr=False)

    def at(self, left: int, rows: np.ndarray, right: int, columns: np.ndarray) -> np.ndarray:
        """The similarity of each row, an entity of one KG, to its column, an entity of another KG or of the same."""
        if left > right:
            return self.at(right, columns, left, rows)
        ends = (self.embeddings[kg][_index(some)].float() for kg, some in ((left, rows), (right, columns)))
        one, other = ends
        structure = (one * other).sum(1).double().cpu().numpy()
        if self.evidence is None:
            return np.asarray(structure)
        pair = self._pair(left, right)
        factors = pair.row_factors[rows] * pair.column_factors[columns]
        return np.asarray(values_at(pair.added, rows, columns) + pair.structure_share * factors * structure)

    def beside_structure(self, left: int, right: int) -> sp.csr_array:
        """What all evidence beside embeddings adds to the similarities, (left entities, right entities)."""
        if self.evidence is None:
            return no_entries((len(self.embeddings[left]), len(self.embeddings[right])))
        if left > right:
            return self.beside_structure(right, left).T.tocsr()
        return self._pair(left, right).added

    def _pair(self, left: int, right: int) -> PairEvidence:
        assert self.evidence is not None
        if (left, right) not in self._of_pair:
            if left != right:
                self._of_pair[left, right] = PairEvidence.of(self.evidence, (left, right), self.weights)
            else:
                self._of_pair[left, left] = self._inside(left, self.evidence)
        return self._of_pair[left, right]

    def _inside(self, kg: int, evidence: Evidence) -> PairEvidence:
        size = len(self.embeddings[kg])
        kinds = {
            kind: EvidenceOfKind({(kg, kg): one.inside.get(kg, no_entries((size, size)))}, one.has_any)
            for kind, one in evidence.kinds.items()
        }
        learned = [own for pair, own in self.weights.of_pair.items() if kg in pair]
        mean = {
            kind: float(np.mean([own[kind] for own in learned if kind in own] or [default]))
            for kind, default in DEFAULT_WEIGHTS.items()
        }
        return PairEvidence.of(
            Evidence(kinds, evidence.has_structure).without_structure(), (kg, kg), Weights({(kg, kg): mean})
        )


def _index(entities: np.ndarray) -> Tensor:
    return torch.from_numpy(entities.astype(np.int64))
