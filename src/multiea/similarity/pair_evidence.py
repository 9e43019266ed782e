"""The evidence of one pair of KGs, weighted: what is added to the similarities of structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import NEIGHBOURS, STRUCTURE, Evidence, Pair
from multiea.graph.sparse_rows import no_entries, scaled, values_at
from multiea.similarity.doubt import (
    CAUTION_ABOVE_CHANCE,
    HALF_CONFIDENCE,
    MANY_NAMESAKES,
    doubtful_similarity,
    similarity_half_by_chance,
)
from multiea.similarity.sparse_scores import SparseScores
from multiea.similarity.weights import DEFAULT_WEIGHTS, Examples, Weights

SHARE_AGAINST_RIVALS = 0.5  # of conflicts: with all of it, candidates with missing values would seem good


@dataclass(frozen=True)
class PairEvidence:
    """What two KGs are compared by. A similarity is the weighted mean over the kinds of evidence.

    kinds: that both KGs have; weights: of these, in log-odds. added: the weighted sum of all kinds but structure, with
    identifiers and less conflicts. parts: the similarities by these kinds, already multiplied by the factors.
    row_factors, column_factors: above one where an entity lacks some kind, so that the others count more: what is
    missing is neutral. conflicts: what conflicting values take away, in log-odds. identifiers: what equal ones add.
    """

    kinds: tuple[str, ...]
    weights: np.ndarray
    added: sp.csr_array
    parts: tuple[sp.csr_array, ...]
    row_factors: np.ndarray
    column_factors: np.ndarray
    conflicts: sp.csr_array
    identifiers: sp.csr_array

    @classmethod
    def of(cls, evidence: Evidence, pair: Pair, weights: Weights, kinds: tuple[str, ...] | None = None) -> PairEvidence:
        """The evidence of a pair of KGs; evidence: of the candidates. kinds: by default all that both have."""
        has_any = {kind: (one.has_any[pair[0]], one.has_any[pair[1]]) for kind, one in evidence.kinds.items()}
        structure = (evidence.has_structure[pair[0]], evidence.has_structure[pair[1]])
        available = {STRUCTURE: structure} | has_any
        if kinds is None:
            is_used = {kind: bool(left.any() and right.any()) for kind, (left, right) in available.items()}
            if NEIGHBOURS in is_used:  # of marks that only others share nothing follows for these two
                is_used[NEIGHBOURS] &= evidence.kinds[NEIGHBOURS].similarity[pair].nnz > 0
            kinds = tuple(kind for kind in DEFAULT_WEIGHTS if is_used.get(kind))
        own = weights.get(pair, kinds)
        total = max(own.sum(), 1e-12)
        factors = []
        for side in (0, 1):
            held = sum(weight * available[kind][side] for kind, weight in zip(kinds, own, strict=True))
            held = np.broadcast_to(np.asarray(held, dtype=float), structure[side].shape)
            factors.append(np.sqrt(total / np.where(held > 0, held, total)))
        shape = (len(structure[0]), len(structure[1]))
        parts = tuple(
            scaled(evidence.kinds[kind].similarity[pair], factors[0], factors[1]) for kind in kinds if kind != STRUCTURE
        )
        added = _weighted_sum(kinds, own, parts, shape)
        conflicts, identifiers = (
            said.get(pair, no_entries(shape)) for said in (evidence.conflicts, evidence.identifiers)
        )
        if conflicts.nnz or identifiers.nnz:
            added = (added + (conflicts + identifiers) * np.float32(1 / total)).tocsr()
        return cls(kinds, own, added, parts, factors[0], factors[1], conflicts, identifiers)

    @property
    def values(self) -> sp.csr_array:
        """What conflicts and identifiers say, in log-odds, whatever the weights are."""
        return sp.csr_array(self.conflicts + self.identifiers)

    def doubtful(self, by_chance: float | None = None) -> float | None:
        """The similarity of a doubtful candidate, if there are any candidates; by_chance: what chance explains."""
        total = max(self.weights.sum(), 1e-12)
        of_structure = [kind in (STRUCTURE, NEIGHBOURS) for kind in self.kinds]
        against = (self.conflicts * (1 - SHARE_AGAINST_RIVALS) + self.identifiers) * np.float32(1 / total)
        most = 1 - float(self.weights[of_structure].sum() / total)
        level = doubtful_similarity((self.added - against).tocsr(), most, with_structure=STRUCTURE in self.kinds)
        if level is None or by_chance is None or STRUCTURE in self.kinds:
            return level
        return max(level, by_chance + CAUTION_ABOVE_CHANCE / float(total))

    def similarity_of_namesakes(
        self, candidates: sp.csr_array, lookalikes: tuple[sp.csr_array, sp.csr_array], namesakes: float
    ) -> float | None:
        """What chance explains in KGs that have counterparts and namesakes; None where the usual doubt is enough.

        namesakes: the share of them among equal names. The more they are, the more of what is doubtful follows from
        lookalikes, and a candidate as similar as these gets a confidence of a half.
        """
        usual = self.doubtful()
        half = similarity_half_by_chance(candidates, lookalikes) if namesakes > 0 else None
        if usual is None or half is None or half <= usual:
            return None
        share = min(namesakes / MANY_NAMESAKES, 1.0)
        of_half = share * HALF_CONFIDENCE - CAUTION_ABOVE_CHANCE  # which `doubtful` adds
        return usual + (half - usual) * share + of_half / float(self.weights.sum())

    @property
    def structure_share(self) -> float:
        """The share of structure in a similarity."""
        if STRUCTURE not in self.kinds:
            return 0.0
        return float(self.weights[self.kinds.index(STRUCTURE)] / self.weights.sum())

    def scaled_embeddings(self, left: Embeddings, right: Embeddings) -> tuple[Embeddings, Embeddings]:
        """Embeddings whose cosines are the part of structure in similarities."""
        share = self.structure_share**0.5
        first, second = (
            torch.from_numpy(part * share).float().to(left.device) for part in (self.row_factors, self.column_factors)
        )
        return left.times(first), right.times(second)

    def features(self, scores: SparseScores) -> np.ndarray:
        """The similarity by each kind of the pairs with a score, (entries, kinds)."""
        row, column = scores.row.cpu().numpy(), scores.column.cpu().numpy()
        columns = [values_at(part, row, column) for part in self.parts]
        if STRUCTURE in self.kinds:
            share = max(self.structure_share, 1e-12)
            structure = (scores.values.double().cpu().numpy() - values_at(self.added, row, column)) / share
            columns.insert(self.kinds.index(STRUCTURE), structure)
        return np.stack(columns, axis=1) if columns else np.zeros((len(row), 0))

    def examples(
        self, scores: SparseScores, known: tuple[np.ndarray, np.ndarray], features: np.ndarray | None = None
    ) -> Examples:
        """The candidates, in both directions, of known pairs, given by rows and columns; features: of the scores."""
        row, column = scores.row.cpu().numpy(), scores.column.cpu().numpy()
        features = self.features(scores) if features is None else features
        queries, rights, chosen = [], [], []
        count = 0
        for ends, others, own, target in ((row, column, *known), (column, row, *known[::-1])):
            wanted = np.full(max(scores.shape), -1)
            wanted[own] = target
            is_candidate = wanted[ends] >= 0
            is_right = is_candidate & (wanted[ends] == others)
            is_candidate &= np.isin(ends, ends[is_right])  # without its counterpart as a candidate it teaches nothing
            entries = np.flatnonzero(is_candidate)
            entries = entries[np.argsort(ends[entries], kind="stable")]
            _, query = np.unique(ends[entries], return_inverse=True)
            queries.append(query + count)
            count += query.max(initial=-1) + 1
            rights.append(is_right[entries])
            chosen.append(entries)
        every = np.concatenate(chosen)
        values = values_at(self.values, row[every], column[every])
        return Examples(self.kinds, features[every], np.concatenate(queries), np.concatenate(rights), values)

    def rescored(self, scores: SparseScores, other: PairEvidence, features: np.ndarray | None = None) -> SparseScores:
        """The same pairs by the same evidence with other weights, and hence other factors; features: of the scores."""
        features = self.features(scores) if features is None else features
        row, column = scores.row.cpu().numpy(), scores.column.cpu().numpy()
        factors = other.row_factors[row] * other.column_factors[column]
        factors /= self.row_factors[row] * self.column_factors[column]
        total = max(other.weights.sum(), 1e-12)
        values = factors * (features @ (other.weights / total))
        values += values_at(other.values, row, column) / total
        return scores.with_values(torch.from_numpy(np.maximum(values, 1e-9)).to(scores.values))


def _weighted_sum(
    kinds: Sequence[str], weights: np.ndarray, parts: Sequence[sp.csr_array], shape: tuple[int, int]
) -> sp.csr_array:
    """The part of all kinds but structure in similarities, before conflicts and identifiers."""
    added = no_entries(shape)
    of_parts = [weight for kind, weight in zip(kinds, weights, strict=True) if kind != STRUCTURE]
    for weight, part in zip(of_parts, parts, strict=True):
        added = added + part * np.float32(weight / max(weights.sum(), 1e-12))
    return added.tocsr()
