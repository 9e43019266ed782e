"""Direct scores of all pairs of KGs: candidates by all evidence, weights learned from known pairs, then Sinkhorn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, product

import numpy as np
import torch
from torch import Tensor

from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import ATTRIBUTES, INSIDE, NAMES, STRUCTURE, Evidence, Pair
from multiea.foundation import progress
from multiea.settings.enhancement import Enhancement
from multiea.similarity.block_scores import BlockScores, Uncontested
from multiea.similarity.doubt import LEAST_SURPLUS, lower_doubtful, similarity_by_chance
from multiea.similarity.large_candidates import LargeCandidates
from multiea.similarity.many_kgs import candidates_per_block, sample_per_block
from multiea.similarity.pair_evidence import PairEvidence
from multiea.similarity.search import is_one_block, is_small, search, search_block, sparse_scores
from multiea.similarity.signatures import Signatures
from multiea.similarity.sparse_scores import SparseScores
from multiea.similarity.sparse_sinkhorn import SAMPLE, OtherCandidates, normalise
from multiea.similarity.weights import Mixing, Weights, learn_weight_of_structure, learn_weights

KnownPairs = Mapping[Pair, tuple[np.ndarray, np.ndarray]]
MOST_WITH_FEATURES = 1 << 22  # scores up to which their features are kept while weights are learned


@dataclass(frozen=True)
class Comparison:
    """What the candidates of all KGs are compared by.

    sizes: how many candidates each KG has. embeddings: gives those of the candidates of two KGs. signatures: of the
    candidates, for blocking where the KGs are large.
    evidence: of the candidates; None for structure alone. weights: of the evidence. known: rows and columns of known
    pairs, from which weights are learned. anchors: the same for pairs that were found without structure; the weight of
    structure is learned from them. chooses_mixing: whether the known pairs choose it anew, too. all_evidence: of all
    entities, candidates or not, which shows what good candidates are like; by default that of the candidates.
    large: the candidates in shards, where they are so many that tasks compare them; None where they are not.
    with_uncontested: whether uncontested scores are made; only groups that no seeds judge need them.
    """

    sizes: Sequence[int]
    device: torch.device
    embeddings: Callable[[int, int], tuple[Embeddings, Embeddings]]
    signatures: Sequence[Signatures] | None = None
    evidence: Evidence | None = None
    weights: Weights = field(default_factory=Weights)
    known: KnownPairs | None = None
    anchors: KnownPairs | None = None
    chooses_mixing: bool = True
    all_evidence: Evidence | None = None
    large: LargeCandidates | None = None
    with_uncontested: bool = False

    @classmethod
    def of(cls, candidates: Sequence[Tensor]) -> Comparison:
        """By the embeddings of the candidates of each KG alone."""
        prepared = [Embeddings(part).in_8_bits() for part in candidates]
        return cls([*map(len, candidates)], candidates[0].device, lambda a, b: (prepared[a], prepared[b]))


@dataclass(frozen=True)
class _Candidates:
    """The candidates of two KGs with their similarities. evidence: None for structure alone."""

    scores: SparseScores
    others: OtherCandidates
    evidence: PairEvidence | None


@dataclass(frozen=True)
class Compared:
    """What the similarities of two KGs are, before Sinkhorn.

    sharpness: what they are multiplied by to become log-odds: one over the temperature of Sinkhorn. has_structure:
    whether embeddings were compared. doubtful: the similarity of a doubtful candidate; None for structure alone.
    """

    others: OtherCandidates
    sharpness: float
    has_structure: bool = True
    doubtful: float | None = None


@dataclass(frozen=True)
class AllCompared:
    """The similarities of the best candidates of all KGs, and of each pair of KGs (a < b) what they are."""

    similarities: BlockScores
    pairs: Mapping[Pair, Compared]


def compare(comparison: Comparison, enhancement: Enhancement) -> tuple[AllCompared, Weights]:
    """The best candidates of all pairs of KGs by all evidence, and the weights of the evidence."""
    pairs = [pair for pair in combinations(range(len(comparison.sizes)), 2) if _has_candidates(comparison, pair)]
    found: dict[Pair, _Candidates] = {}
    with progress.stage("comparing", len(pairs)) as advance:
        for pair in pairs:
            found[pair] = _candidates(comparison, enhancement, pair)
            advance(1)
    found, weights = _weighted_by_known(found, comparison)
    weights = _with_chance(found, comparison, weights)
    compared = {pair: _compared(one, comparison, enhancement, pair, weights) for pair, one in found.items()}
    scores = {pair: one.scores for pair, one in found.items()}
    return AllCompared(BlockScores.of(scores, comparison.sizes, comparison.device), compared), weights


def direct_scores(
    compared: AllCompared, enhancement: Enhancement, mixing: Mixing, *, with_uncontested: bool = False
) -> BlockScores:
    """The scores of all pairs of KGs, normalised by Sinkhorn where the mode asks for it.

    exp(similarity / temperature), rows and columns scaled towards a sum of one. The mass that all other candidates
    would take is estimated from a sample and given to no entry: an entity with only weak candidates is certain of none.
    """
    scores = compared.similarities
    if enhancement.mode != "sharpened":
        return scores
    segments, values = scores.segments, scores.score.double()
    temperatures = {pair: _temperature(one, enhancement, mixing) for pair, one in compared.pairs.items()}
    block = segments.kg.index_select(0, segments.row) * segments.kgs + segments.kg.index_select(0, segments.column)
    highest = values.new_zeros(segments.kgs**2).scatter_reduce(0, block, values, "amax")
    temperature = values.new_tensor([temperatures.get((a, b), 1.0) for a, b in product(range(segments.kgs), repeat=2)])
    exponential = ((values - highest.index_select(0, block)) / temperature.index_select(0, block)).exp()
    rest = _rest(compared, temperatures, highest.tolist())
    masses = scores.with_values(exponential)
    normalised = normalise(masses, enhancement.sweeps, rest)
    levels = {pair: one.doubtful for pair, one in compared.pairs.items() if not one.has_structure}
    if any(level is not None for level in levels.values()):
        normalised = lower_doubtful(normalised, scores, levels, temperatures)
    having = frozenset(pair for pair, one in compared.pairs.items() if one.has_structure and one.doubtful is not None)
    if with_uncontested and having:
        normalised.uncontested = Uncontested(_uncontested(masses, rest), having)
    return normalised


def _uncontested(masses: BlockScores, rest: Tensor) -> BlockScores:
    """The probability of each pair among the candidates of either end, whoever else wants them; the lower of the two.

    Sinkhorn takes away the candidates that others need more. That tells much where all entities have counterparts. But
    of an entity without one it leaves a lookalike that has none either, and then looks certain of it.
    """
    segments = masses.segments
    total = (masses.sums() + rest).flatten()
    most = torch.maximum(*(total.index_select(0, ends) for ends in (segments.first, segments.second)))
    return masses.with_values((masses.score / most.clamp(min=1e-200)).float())


def _rest(compared: AllCompared, temperatures: Mapping[Pair, float], highest: Sequence[float]) -> Tensor:
    """For each candidate and KG the mass of all candidates without entry, (candidates, KGs)."""
    scores = compared.similarities
    segments = scores.segments
    lowest = scores.score.new_full((segments.count,), torch.inf)
    for ends in (segments.first, segments.second):
        lowest.scatter_reduce_(0, ends, scores.score, "amin")
    lowest = lowest.view(segments.candidates, segments.kgs)
    sizes = torch.tensor(segments.sizes, device=lowest.device)
    unlisted = sizes - segments.counts
    rest = torch.zeros_like(lowest, dtype=torch.float64)
    rows = [slice(*ends) for ends in pairwise(segments.offsets)]
    for (a, b), one in compared.pairs.items():
        others = replace(one.others, no_counterpart=one.doubtful if one.has_structure else None)
        sides = ((rows[a], b), (rows[b], a))
        low, count = ((part[sides[0]], part[sides[1]]) for part in (lowest, unlisted))
        masses = others.masses(low, count, highest[a * segments.kgs + b], temperatures[a, b])
        for side, mass in zip(sides, masses, strict=True):
            rest[side] = mass
    return rest


def _temperature(one: Compared, enhancement: Enhancement, mixing: Mixing) -> float:
    is_softer = mixing.is_softer and one.doubtful is not None and one.has_structure
    sharpness = min(one.sharpness, 1 / enhancement.temperature) if is_softer else one.sharpness
    return 1 / max(sharpness, 1e-12)


def _has_candidates(comparison: Comparison, pair: Pair) -> bool:
    return bool(comparison.sizes[pair[0]] and comparison.sizes[pair[1]])


def _candidates(comparison: Comparison, enhancement: Enhancement, pair: Pair) -> _Candidates:
    (a, b), kgs, evidence = pair, len(comparison.sizes), comparison.evidence
    count = candidates_per_block(kgs, enhancement.candidates or 1)
    of_pair = None if comparison.signatures is None else (comparison.signatures[a], comparison.signatures[b])
    own = None if evidence is None else PairEvidence.of(evidence, pair, comparison.weights)
    sample = sample_per_block(kgs, SAMPLE)
    if own is not None and STRUCTURE not in own.kinds:
        nothing, none = (torch.zeros(comparison.sizes[kg], 1, device=comparison.device) for kg in pair)
        others = OtherCandidates(nothing, none)
        return _Candidates(sparse_scores(own.added, comparison.device), others, own)
    left, right = comparison.embeddings(a, b)
    added = None if own is None else own.added
    if own is not None:
        left, right = own.scaled_embeddings(left, right)
    if of_pair is None and is_small(left, right):
        block = left.cosines(right)
        return _Candidates(search_block(block, count, added), OtherCandidates.of_block(block, sample), own)
    if of_pair is None and is_one_block(left, right):
        products = left.products(right).float()
        others = OtherCandidates.of_products(products, left, right, sample)
        return _Candidates(search(left, right, count, None, added, left.as_cosines(products, right)), others, own)
    return _Candidates(search(left, right, count, of_pair, added), OtherCandidates.of(left, right, sample), own)


def _weighted_by_known(
    found: dict[Pair, _Candidates], comparison: Comparison
) -> tuple[dict[Pair, _Candidates], Weights]:
    """The same candidates with the weights that known pairs or anchors teach, where there are any."""
    judges, evidence = comparison.anchors if comparison.known is None else comparison.known, comparison.evidence
    if judges is None or evidence is None:
        return found, comparison.weights
    features: dict[Pair, np.ndarray] = {}
    if sum(len(one.scores.values) for one in found.values()) <= MOST_WITH_FEATURES:
        features = {pair: one.evidence.features(one.scores) for pair, one in found.items() if one.evidence is not None}
    examples = {
        pair: one.evidence.examples(one.scores, judges[pair], features.get(pair))
        for pair, one in found.items()
        if one.evidence is not None
    }
    if comparison.known is not None:
        weights = replace(learn_weights(examples), mixing=comparison.weights.mixing)
    else:
        weights = learn_weight_of_structure(examples, comparison.weights.mixing)
    again = {pair: _reweighted(one, evidence, pair, weights, features.get(pair)) for pair, one in found.items()}
    return again, weights


def _with_chance(found: Mapping[Pair, _Candidates], comparison: Comparison, weights: Weights) -> Weights:
    """The weights with what chance explains in pairs of KGs without counterparts; once known it is kept."""
    every = comparison.all_evidence
    if weights.by_chance is not None or every is None or not every.lookalikes:
        return weights
    levels: dict[Pair, float] = {}
    for pair, one in found.items():
        if one.evidence is None or STRUCTURE in one.evidence.kinds or ATTRIBUTES not in one.evidence.kinds:
            continue  # by names alone nobody stands out from namesakes
        kinds, of_pair = one.evidence.kinds, dict(zip(one.evidence.kinds, one.evidence.weights, strict=True))
        own = Weights({INSIDE: of_pair})
        left, right = (PairEvidence.of(side, INSIDE, own, kinds).added for side in every.lookalikes[pair])
        unknown = [np.setdiff1d(np.arange(size), known) for size, known in _sides(one, comparison, pair)]
        candidates, level = one.evidence.added[unknown[0]][:, unknown[1]].tocsr(), None
        # codes are not equal by chance, however alike the entities of each KG are
        if one.evidence.identifiers[unknown[0]][:, unknown[1]].nnz < LEAST_SURPLUS:
            level = similarity_by_chance(candidates, (left, right), with_names=NAMES in kinds)
        if level is None:
            level = one.evidence.similarity_of_namesakes(candidates, (left, right), every.namesakes.get(pair, 0.0))
        levels |= {} if level is None else {pair: level}
    return replace(weights, by_chance=levels)


def _sides(one: _Candidates, comparison: Comparison, pair: Pair) -> list[tuple[int, np.ndarray]]:
    """The number of candidates of both KGs, and which of them are known: these say nothing about the others."""
    known = (np.empty(0, dtype=np.int64),) * 2 if comparison.known is None else comparison.known[pair]
    return list(zip(one.scores.shape, known, strict=True))


def _reweighted(
    one: _Candidates, evidence: Evidence, pair: Pair, weights: Weights, features: np.ndarray | None
) -> _Candidates:
    """The same candidates with other weights of the evidence; features: of their scores, where they are known."""
    if one.evidence is None:
        return one
    own = PairEvidence.of(evidence, pair, weights)
    return _Candidates(one.evidence.rescored(one.scores, own, features), one.others, own)


def _compared(
    one: _Candidates, comparison: Comparison, enhancement: Enhancement, pair: Pair, weights: Weights
) -> Compared:
    if one.evidence is None:
        return Compared(one.others, 1 / enhancement.temperature)
    every = comparison.evidence if comparison.all_evidence is None else comparison.all_evidence
    assert every is not None
    kinds = one.evidence.kinds  # seeds may have others, but the similarities of the candidates are made of these
    by_chance = (weights.by_chance or {}).get(pair)
    doubtful = PairEvidence.of(every, pair, weights, kinds).doubtful(by_chance)  # seeds show good candidates as well
    return Compared(one.others, float(one.evidence.weights.sum()), STRUCTURE in kinds, doubtful)
