"""Direct scores of all pairs of KGs: candidates by all evidence, weights learned from known pairs, then Sinkhorn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from multiea.evidence.evidence import STRUCTURE, Evidence, Pair
from multiea.foundation import progress
from multiea.settings.enhancement import Enhancement
from multiea.similarity.int8_embeddings import Int8Embeddings
from multiea.similarity.pair_evidence import PairEvidence
from multiea.similarity.search import search, sparse_scores
from multiea.similarity.signatures import Signatures
from multiea.similarity.sparse_scores import SparseScores
from multiea.similarity.sparse_sinkhorn import sinkhorn_sparse
from multiea.similarity.weights import Weights, learn_weights

LEAST_SHARE = 0.2  # of structure, where the temperature depends on it
KnownPairs = Mapping[Pair, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Comparison:
    """What the candidates of all KGs are compared by.

    sizes: how many candidates each KG has. embeddings: gives those of the candidates of two KGs, (n, d) each, of unit
    length. signatures: of the candidates, for blocking where the KGs are large. evidence: of the candidates; None for
    structure alone. weights: of the evidence. known: rows and columns of known pairs, from which weights are learned.
    """

    sizes: Sequence[int]
    device: torch.device
    embeddings: Callable[[int, int], tuple[Tensor, Tensor]]
    signatures: Sequence[Signatures] | None = None
    evidence: Evidence | None = None
    weights: Weights = field(default_factory=Weights)
    known: KnownPairs | None = None

    @classmethod
    def of(cls, candidates: Sequence[Tensor]) -> Comparison:
        """By the embeddings of the candidates of each KG alone."""
        return cls([*map(len, candidates)], candidates[0].device, lambda a, b: (candidates[a], candidates[b]))


@dataclass(frozen=True)
class _Compared:
    """The candidates of two KGs with their similarities, before Sinkhorn; left, right: embeddings, for its estimate."""

    scores: SparseScores
    left: Int8Embeddings
    right: Int8Embeddings
    temperature: float
    evidence: PairEvidence | None


def direct_scores(comparison: Comparison, enhancement: Enhancement) -> tuple[dict[Pair, SparseScores], Weights]:
    """The best candidates of all pairs of KGs, normalised by Sinkhorn where the mode asks for it; and the weights."""
    pairs = list(combinations(range(len(comparison.sizes)), 2))
    weights, learns = comparison.weights, comparison.known is not None and comparison.evidence is not None
    direct: dict[Pair, SparseScores] = {}
    waiting: dict[Pair, _Compared] = {}
    with progress.stage("comparing", len(pairs)) as advance:
        for pair in pairs:
            if not comparison.sizes[pair[0]] or not comparison.sizes[pair[1]]:
                direct[pair] = _no_scores(comparison, pair)
            elif learns:
                waiting[pair] = _compared(comparison, enhancement, pair)
            else:
                direct[pair] = _normalised(_compared(comparison, enhancement, pair), enhancement)
            advance(1)
    if waiting:
        known = comparison.known or {}
        examples = {
            pair: one.evidence.examples(one.scores, known[pair])
            for pair, one in waiting.items()
            if one.evidence is not None and pair in known
        }
        weights = learn_weights(examples)
        for pair, one in waiting.items():
            assert one.evidence is not None
            own = weights.get(pair, one.evidence.kinds)
            scores = one.evidence.rescored(one.scores, own)
            temperature = _temperature(one.evidence.kinds, own, enhancement)
            direct[pair] = _normalised(_Compared(scores, one.left, one.right, temperature, one.evidence), enhancement)
    return direct | {(b, a): scores.transposed() for (a, b), scores in direct.items()}, weights


def _compared(comparison: Comparison, enhancement: Enhancement, pair: Pair) -> _Compared:
    a, b = pair
    count, signatures, evidence = enhancement.candidates or 1, comparison.signatures, comparison.evidence
    of_pair = None if signatures is None else (signatures[a], signatures[b])
    if evidence is None:
        left, right = (Int8Embeddings(part) for part in comparison.embeddings(a, b))
        return _Compared(search(left, right, count, of_pair), left, right, enhancement.temperature, None)
    own = PairEvidence.of(evidence, pair, comparison.weights)
    if STRUCTURE in own.kinds:
        left, right = (Int8Embeddings(part) for part in own.scaled_embeddings(*comparison.embeddings(a, b)))
        scores = search(left, right, count, of_pair, own.added)
    else:
        nothing = [torch.zeros(comparison.sizes[kg], 1, device=comparison.device) for kg in pair]
        left, right = map(Int8Embeddings, nothing)
        scores = sparse_scores(own.added, comparison.device)
    return _Compared(scores, left, right, _temperature(own.kinds, own.weights, enhancement), own)


def _temperature(kinds: Sequence[str], weights: np.ndarray, enhancement: Enhancement) -> float:
    """The temperature of Sinkhorn: the part of structure in a similarity has that of the settings, as if it were alone.

    Without structure, similarities divided by the temperature are the log-odds that the weights say.
    """
    total = max(float(weights.sum()), 1e-12)
    if STRUCTURE not in kinds:
        return 1 / total
    return enhancement.temperature * max(float(weights[kinds.index(STRUCTURE)]) / total, LEAST_SHARE)


def _normalised(compared: _Compared, enhancement: Enhancement) -> SparseScores:
    if enhancement.mode != "sharpened":
        return compared.scores
    return sinkhorn_sparse(compared.scores, compared.left, compared.right, compared.temperature, enhancement.sweeps)


def _no_scores(comparison: Comparison, pair: Pair) -> SparseScores:
    """An empty matrix, where a KG has no candidates."""
    keys = torch.empty(0, dtype=torch.int64, device=comparison.device)
    shape = (comparison.sizes[pair[0]], comparison.sizes[pair[1]])
    return SparseScores.summed(keys, torch.empty(0, device=comparison.device), shape)
