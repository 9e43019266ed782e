"""Evidence: for each kind beside structure the similarities of the entities of all pairs of KGs, as sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.evidence.attributes import attribute_features, attribute_tables
from multiea.evidence.features import Features
from multiea.evidence.name_model import NameModel
from multiea.evidence.names import model_features, name_features
from multiea.evidence.numbers import Anchors
from multiea.evidence.pair_search import similar_pairs
from multiea.foundation import progress
from multiea.settings.tree import EVIDENCE

STRUCTURE, NAMES, ATTRIBUTES = EVIDENCE
MODEL = "model"  # the vectors of a name model
Pair = tuple[int, int]
LEAST_ANCHOR_SIMILARITY = 0.5
LEAST_ANCHOR_MARGIN = 0.05  # to the second best candidate


@dataclass(frozen=True)
class EvidenceOfKind:
    """One kind of evidence: the similarities of each pair of KGs (a < b), and which entities have such evidence.

    inside: for KGs that may repeat entities the similarities of their own entities, without the diagonal.
    """

    similarity: Mapping[Pair, sp.csr_array]
    has_any: Sequence[np.ndarray]
    inside: Mapping[int, sp.csr_array] = field(default_factory=dict)

    @classmethod
    def of(cls, features: Sequence[Features], repeating: Sequence[int] = ()) -> EvidenceOfKind:
        """The similarities of the features of all KGs; repeating: the KGs whose own entities are compared as well."""
        pairs = {
            (a, b): _in_half(similar_pairs(features[a], features[b])) for a, b in combinations(range(len(features)), 2)
        }
        inside = {kg: _in_half(_without_diagonal(similar_pairs(features[kg], features[kg]))) for kg in repeating}
        return cls(pairs, [of_kg.has_any for of_kg in features], inside)

    def within(self, pools: Sequence[np.ndarray]) -> EvidenceOfKind:
        """The same for some entities of each KG, given by their positions."""
        similarity = {(a, b): matrix[pools[a]][:, pools[b]].tocsr() for (a, b), matrix in self.similarity.items()}
        inside = {kg: matrix[pools[kg]][:, pools[kg]].tocsr() for kg, matrix in self.inside.items()}
        return EvidenceOfKind(similarity, [has[pool] for has, pool in zip(self.has_any, pools, strict=True)], inside)


def _in_half(matrix: sp.csr_array) -> sp.csr_array:
    """Values as a run folder stores them, so that an opened run scores the same."""
    values = matrix.data.astype(np.float16).astype(np.float32)
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _without_diagonal(matrix: sp.csr_array) -> sp.csr_array:
    entries = matrix.tocoo()
    other = entries.row != entries.col
    return sp.csr_array((entries.data[other], (entries.row[other], entries.col[other])), shape=matrix.shape)


@dataclass(frozen=True)
class Evidence:
    """All kinds of evidence of a task beside structure, and for structure which entities have a triple."""

    kinds: Mapping[str, EvidenceOfKind] = field(default_factory=dict)
    has_structure: Sequence[np.ndarray] = ()

    def within(self, pools: Sequence[np.ndarray]) -> Evidence:
        """The evidence of some entities of each KG, given by their positions."""
        has_structure = [has[pool] for has, pool in zip(self.has_structure, pools, strict=True)]
        return Evidence({kind: one.within(pools) for kind, one in self.kinds.items()}, has_structure)

    @property
    def has_triples(self) -> bool:
        """Whether at least two KGs have triples that may be used."""
        return sum(bool(has.any()) for has in self.has_structure) > 1

    def without_structure(self) -> Evidence:
        """The other kinds alone, where no mark has arrived yet."""
        return Evidence(self.kinds, [np.zeros(len(has), dtype=bool) for has in self.has_structure])

    def has_any(self) -> list[np.ndarray]:
        """For each KG which entities have evidence of any kind beside structure."""
        nothing = [np.zeros(len(has), dtype=bool) for has in self.has_structure]
        for kind in self.kinds.values():
            nothing = [one | other for one, other in zip(nothing, kind.has_any, strict=True)]
        return nothing


def collect_evidence(
    kgs: Sequence[KnowledgeGraph],
    kinds: Sequence[str],
    seeds: Groups,
    name_model: NameModel | None = None,
    repeating: Sequence[int] = (),
) -> Evidence:
    """Compares the names and attributes of all KGs. kinds: which evidence is wanted; what no two KGs have is left out.

    seeds: known groups, which tell corresponding numbers. Where they are few, pairs that are each other's best match by
    names and words serve as well. repeating: the KGs whose own entities are compared with each other as well.
    """
    found: dict[str, EvidenceOfKind] = {}
    names = name_features(kgs) if NAMES in kinds else None
    steps = len({NAMES, ATTRIBUTES} & set(kinds)) + (name_model is not None)
    with progress.stage("comparing names and attributes", steps) as advance:
        if names is not None:
            found[NAMES] = EvidenceOfKind.of(names, repeating)
            advance(1)
        if name_model is not None:
            found[MODEL] = EvidenceOfKind.of(model_features(kgs, name_model), repeating)
            advance(1)
        tables = attribute_tables(kgs) if ATTRIBUTES in kinds else []
        if sum(len(table) > 0 for table in tables) > 1:
            words = attribute_features(kgs, tables, None, with_names=names is not None)
            by_words = EvidenceOfKind.of(words)
            anchors = _anchors([by_words, *found.values()], seeds)
            with_numbers = attribute_features(kgs, tables, anchors, with_names=names is not None)
            found[ATTRIBUTES] = EvidenceOfKind.of(with_numbers, repeating)
            advance(1)
    usable = {kind: one for kind, one in found.items() if any(pair.nnz for pair in one.similarity.values())}
    has_structure = [kg.degrees > 0 if STRUCTURE in kinds else np.zeros(len(kg.entities), bool) for kg in kgs]
    return Evidence(usable, has_structure)


def _anchors(kinds: Sequence[EvidenceOfKind], seeds: Groups) -> Anchors:
    """Pairs that are probably the same: seeds, and each other's clearly best match by the mean similarity."""
    anchors = {}
    for a, b in kinds[0].similarity:
        total = kinds[0].similarity[a, b]
        for kind in kinds[1:]:
            total = (total + kind.similarity[a, b]).tocsr()
        left, right = mutual_best((total / len(kinds)).tocsr(), LEAST_ANCHOR_SIMILARITY, LEAST_ANCHOR_MARGIN)
        both = seeds.present[:, a] & seeds.present[:, b]
        anchors[a, b] = (np.r_[seeds.members[both, a], left], np.r_[seeds.members[both, b], right])
    return anchors


def mutual_best(similarity: sp.csr_array, least: float, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that are each other's best by a margin, and similar enough: rows and columns."""
    best_of_rows = _clear_best(similarity, margin)
    best_of_columns = _clear_best(similarity.T.tocsr(), margin)
    row = np.flatnonzero(best_of_rows[0] >= 0)
    column = best_of_rows[0][row]
    kept = (best_of_columns[0][column] == row) & (best_of_rows[1][row] >= least)
    return row[kept], column[kept]


def _clear_best(similarity: sp.csr_array, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """For each row its best column and that value; -1 where another column comes as close as the margin."""
    row = np.repeat(np.arange(similarity.shape[0]), np.diff(similarity.indptr))
    order = np.lexsort((-similarity.data, row))
    ordered = row[order]
    start = np.searchsorted(ordered, np.arange(similarity.shape[0] + 1))
    has_one, has_two = np.diff(start) > 0, np.diff(start) > 1
    column, value = np.full(similarity.shape[0], -1), np.zeros(similarity.shape[0], np.float32)
    first = order[start[:-1][has_one]]
    column[has_one], value[has_one] = similarity.indices[first], similarity.data[first]
    second = np.zeros(similarity.shape[0], np.float32)
    second[has_two] = similarity.data[order[start[:-1][has_two] + 1]]
    column[value - second < margin] = -1
    return column, value
