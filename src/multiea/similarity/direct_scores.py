"""Direct scores of all pairs of KGs: candidates by all evidence, weights learned from known pairs, then Sinkhorn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from multiea.similarity.sparse_sinkhorn import OtherCandidates, sinkhorn_sparse
from multiea.similarity.weights import Mixing, Weights, learn_weight_of_structure, learn_weights

KnownPairs = Mapping[Pair, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Comparison:
    """What the candidates of all KGs are compared by.

    sizes: how many candidates each KG has. embeddings: gives those of the candidates of two KGs, (n, d) each, of unit
    length. signatures: of the candidates, for blocking where the KGs are large.
    evidence: of the candidates; None for structure alone. weights: of the evidence. known: rows and columns of known
    pairs, from which weights are learned. anchors: the same for pairs that were found without structure; the weight of
    structure is learned from them.
    """

    sizes: Sequence[int]
    device: torch.device
    embeddings: Callable[[int, int], tuple[Tensor, Tensor]]
    signatures: Sequence[Signatures] | None = None
    evidence: Evidence | None = None
    weights: Weights = field(default_factory=Weights)
    known: KnownPairs | None = None
    anchors: KnownPairs | None = None

    @classmethod
    def of(cls, candidates: Sequence[Tensor]) -> Comparison:
        """By the embeddings of the candidates of each KG alone."""
        return cls([*map(len, candidates)], candidates[0].device, lambda a, b: (candidates[a], candidates[b]))


@dataclass(frozen=True)
class Compared:
    """The candidates of two KGs with their similarities, before Sinkhorn.

    evidence: None for structure alone. sharpness: what similarities are multiplied by to become log-odds: one over the
    temperature of Sinkhorn.
    """

    scores: SparseScores
    others: OtherCandidates
    sharpness: float
    evidence: PairEvidence | None


def compare(comparison: Comparison, enhancement: Enhancement) -> tuple[dict[Pair, Compared], Weights]:
    """The best candidates of all pairs of KGs by all evidence, and the weights of the evidence."""
    pairs = [pair for pair in combinations(range(len(comparison.sizes)), 2) if _has_candidates(comparison, pair)]
    compared: dict[Pair, Compared] = {}
    with progress.stage("comparing", len(pairs)) as advance:
        for pair in pairs:
            compared[pair] = _compared(comparison, enhancement, pair)
            advance(1)
    judges = comparison.anchors if comparison.known is None else comparison.known
    if judges is None or comparison.evidence is None:
        return compared, comparison.weights
    examples = {
        pair: one.evidence.examples(one.scores, judges[pair])
        for pair, one in compared.items()
        if one.evidence is not None
    }
    if comparison.known is not None:
        weights = learn_weights(examples)
    else:
        weights = learn_weight_of_structure(examples, comparison.weights.mixing)
    return {pair: _reweighted(one, comparison.evidence, pair, weights) for pair, one in compared.items()}, weights


def direct_scores(
    compared: Mapping[Pair, Compared], comparison: Comparison, enhancement: Enhancement, mixing: Mixing
) -> dict[Pair, SparseScores]:
    """The scores of all ordered pairs of KGs, normalised by Sinkhorn where the mode asks for it."""
    direct: dict[Pair, SparseScores] = {}
    for pair in combinations(range(len(comparison.sizes)), 2):
        scores = _normalised(compared[pair], enhancement, mixing) if pair in compared else _no_scores(comparison, pair)
        direct |= {pair: scores, pair[::-1]: scores.transposed()}
    return direct


def _has_candidates(comparison: Comparison, pair: Pair) -> bool:
    return bool(comparison.sizes[pair[0]] and comparison.sizes[pair[1]])


def _reweighted(one: Compared, evidence: Evidence, pair: Pair, weights: Weights) -> Compared:
    """The same candidates with other weights of the evidence."""
    if one.evidence is None:
        return one
    own = PairEvidence.of(evidence, pair, weights)
    scores = one.evidence.rescored(one.scores, own)
    others = replace(one.others, no_counterpart=own.doubtful)
    return Compared(scores, others, float(own.weights.sum()), own)


def _compared(comparison: Comparison, enhancement: Enhancement, pair: Pair) -> Compared:
    a, b = pair
    count, signatures, evidence = enhancement.candidates or 1, comparison.signatures, comparison.evidence
    of_pair = None if signatures is None else (signatures[a], signatures[b])
    if evidence is None:
        left, right = (Int8Embeddings(part) for part in comparison.embeddings(a, b))
        scores = search(left, right, count, of_pair)
        return Compared(scores, OtherCandidates.of(left, right), 1 / enhancement.temperature, None)
    own = PairEvidence.of(evidence, pair, comparison.weights)
    if STRUCTURE in own.kinds:
        left, right = (Int8Embeddings(part) for part in own.scaled_embeddings(*comparison.embeddings(a, b)))
        scores = search(left, right, count, of_pair, own.added)
    else:
        nothing = [torch.zeros(comparison.sizes[kg], 1, device=comparison.device) for kg in pair]
        left, right = map(Int8Embeddings, nothing)
        scores = sparse_scores(own.added, comparison.device)
    others = OtherCandidates.of(left, right)
    others = replace(others, no_counterpart=own.doubtful)
    return Compared(scores, others, float(own.weights.sum()), own)


def _normalised(one: Compared, enhancement: Enhancement, mixing: Mixing) -> SparseScores:
    if enhancement.mode != "sharpened":
        return one.scores
    is_softer = mixing.is_softer and one.evidence is not None and STRUCTURE in one.evidence.kinds
    sharpness = min(one.sharpness, 1 / enhancement.temperature) if is_softer else one.sharpness
    return sinkhorn_sparse(one.scores, one.others, 1 / max(sharpness, 1e-12), enhancement.sweeps)


def _no_scores(comparison: Comparison, pair: Pair) -> SparseScores:
    """An empty matrix, where a KG has no candidates."""
    keys = torch.empty(0, dtype=torch.int64, device=comparison.device)
    shape = (comparison.sizes[pair[0]], comparison.sizes[pair[1]])
    return SparseScores.summed(keys, torch.empty(0, device=comparison.device), shape)
