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
from multiea.similarity.doubt import lower_doubtful
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

    sizes: how many candidates each KG has. embeddings: gives those of the candidates of two KGs. signatures: of the
    candidates, for blocking where the KGs are large.
    evidence: of the candidates; None for structure alone. weights: of the evidence. known: rows and columns of known
    pairs, from which weights are learned. anchors: the same for pairs that were found without structure; the weight of
    structure is learned from them. chooses_mixing: whether the known pairs choose it anew, too. all_evidence: of all
    entities, candidates or not, which shows what good candidates are like; by default that of the candidates.
    """

    sizes: Sequence[int]
    device: torch.device
    embeddings: Callable[[int, int], tuple[Int8Embeddings, Int8Embeddings]]
    signatures: Sequence[Signatures] | None = None
    evidence: Evidence | None = None
    weights: Weights = field(default_factory=Weights)
    known: KnownPairs | None = None
    anchors: KnownPairs | None = None
    chooses_mixing: bool = True
    all_evidence: Evidence | None = None

    @classmethod
    def of(cls, candidates: Sequence[Tensor]) -> Comparison:
        """By the embeddings of the candidates of each KG alone."""
        prepared = [*map(Int8Embeddings, candidates)]
        return cls([*map(len, candidates)], candidates[0].device, lambda a, b: (prepared[a], prepared[b]))


@dataclass(frozen=True)
class Compared:
    """The candidates of two KGs with their similarities, before Sinkhorn.

    evidence: None for structure alone. sharpness: what similarities are multiplied by to become log-odds: one over the
    temperature of Sinkhorn. doubtful: the similarity of a doubtful candidate, if there is other evidence.
    """

    scores: SparseScores
    others: OtherCandidates
    sharpness: float
    evidence: PairEvidence | None
    doubtful: float | None = None

    @property
    def has_structure(self) -> bool:
        """Whether embeddings are compared."""
        return self.evidence is None or STRUCTURE in self.evidence.kinds


def compare(comparison: Comparison, enhancement: Enhancement) -> tuple[dict[Pair, Compared], Weights]:
    """The best candidates of all pairs of KGs by all evidence, and the weights of the evidence."""
    pairs = [pair for pair in combinations(range(len(comparison.sizes)), 2) if _has_candidates(comparison, pair)]
    compared: dict[Pair, Compared] = {}
    with progress.stage("comparing", len(pairs)) as advance:
        for pair in pairs:
            compared[pair] = _compared(comparison, enhancement, pair)
            advance(1)
    compared, weights = _weighted_by_known(compared, comparison)
    return {pair: _with_doubt(one, comparison, pair, weights) for pair, one in compared.items()}, weights


def _weighted_by_known(compared: dict[Pair, Compared], comparison: Comparison) -> tuple[dict[Pair, Compared], Weights]:
    """The same candidates with the weights that known pairs or anchors teach, where there are any."""
    judges, evidence = comparison.anchors if comparison.known is None else comparison.known, comparison.evidence
    if judges is None or evidence is None:
        return compared, comparison.weights
    examples = {
        pair: one.evidence.examples(one.scores, judges[pair])
        for pair, one in compared.items()
        if one.evidence is not None
    }
    if comparison.known is not None:
        weights = replace(learn_weights(examples), mixing=comparison.weights.mixing)
    else:
        weights = learn_weight_of_structure(examples, comparison.weights.mixing)
    return {pair: _reweighted(one, evidence, pair, weights) for pair, one in compared.items()}, weights


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
    return Compared(scores, one.others, float(own.weights.sum()), own)


def _with_doubt(one: Compared, comparison: Comparison, pair: Pair, weights: Weights) -> Compared:
    """The same with the similarity of a doubtful candidate, estimated from all entities: seeds show good candidates."""
    if comparison.evidence is None:
        return one
    every = comparison.evidence if comparison.all_evidence is None else comparison.all_evidence
    return replace(one, doubtful=PairEvidence.of(every, pair, weights).doubtful())


def _compared(comparison: Comparison, enhancement: Enhancement, pair: Pair) -> Compared:
    a, b = pair
    count, signatures, evidence = enhancement.candidates or 1, comparison.signatures, comparison.evidence
    of_pair = None if signatures is None else (signatures[a], signatures[b])
    if evidence is None:
        left, right = comparison.embeddings(a, b)
        scores = search(left, right, count, of_pair)
        return Compared(scores, OtherCandidates.of(left, right), 1 / enhancement.temperature, None)
    own = PairEvidence.of(evidence, pair, comparison.weights)
    if STRUCTURE in own.kinds:
        left, right = own.scaled_embeddings(*comparison.embeddings(a, b))
        scores = search(left, right, count, of_pair, own.added)
    else:
        nothing = [torch.zeros(comparison.sizes[kg], 1, device=comparison.device) for kg in pair]
        left, right = map(Int8Embeddings, nothing)
        scores = sparse_scores(own.added, comparison.device)
    return Compared(scores, OtherCandidates.of(left, right), float(own.weights.sum()), own)


def _normalised(one: Compared, enhancement: Enhancement, mixing: Mixing) -> SparseScores:
    if enhancement.mode != "sharpened":
        return one.scores
    is_softer = mixing.is_softer and one.evidence is not None and one.has_structure
    sharpness = min(one.sharpness, 1 / enhancement.temperature) if is_softer else one.sharpness
    temperature = 1 / max(sharpness, 1e-12)
    if one.has_structure:  # it decides about candidates with doubtful names, so these compete with no counterpart
        others = replace(one.others, no_counterpart=one.doubtful)
        return sinkhorn_sparse(one.scores, others, temperature, enhancement.sweeps)
    scores = sinkhorn_sparse(one.scores, one.others, temperature, enhancement.sweeps)
    return scores if one.doubtful is None else lower_doubtful(scores, one.scores, one.doubtful, temperature)


def _no_scores(comparison: Comparison, pair: Pair) -> SparseScores:
    """An empty matrix, where a KG has no candidates."""
    keys = torch.empty(0, dtype=torch.int64, device=comparison.device)
    shape = (comparison.sizes[pair[0]], comparison.sizes[pair[1]])
    return SparseScores.summed(keys, torch.empty(0, device=comparison.device), shape)
