"""Evidence: for each kind beside structure the similarities of the entities of all pairs of KGs, as sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import polars as pl
import scipy.sparse as sp

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.evidence.anchors import are_enough, find_anchors
from multiea.evidence.attributes import attribute_features, attribute_tables, has_attributes, numeric_tables
from multiea.evidence.codes import codes_of, without_codes
from multiea.evidence.conflicts import Conflicts, find_conflicts
from multiea.evidence.correspondence import ComparableValues
from multiea.evidence.features import Features, in_half
from multiea.evidence.identifiers import Identifiers, OtherEvidence, candidate_codes, find_identifiers
from multiea.evidence.lookalikes import conflicts_inside, identifiers_inside, sampled, without_themselves
from multiea.evidence.name_model import NameModel
from multiea.evidence.names import model_features, name_features
from multiea.evidence.namesakes import share_of_namesakes
from multiea.evidence.numbers import quantities
from multiea.evidence.pair_search import LEAST_SIMILARITY, similar_pairs, similarities_of
from multiea.foundation import progress
from multiea.settings.tree import EVIDENCE

STRUCTURE, NAMES, ATTRIBUTES = EVIDENCE
MODEL = "model"  # the vectors of a name model
NEIGHBOURS = "neighbours"  # matched ones; a part of structure
CONFLICTS = "conflicts"  # of corresponding values; a part of attributes
IDENTIFIERS = "identifiers"  # equal ones; a part of attributes
Pair = tuple[int, int]
INSIDE = (0, 1)  # the key of what a KG has in common with itself
COMPLETED = 5  # the best candidates of each entity by one kind of evidence are compared by all other kinds as well


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
            (a, b): in_half(similar_pairs(features[a], features[b])) for a, b in combinations(range(len(features)), 2)
        }
        inside = {kg: in_half(_without_diagonal(similar_pairs(features[kg], features[kg]))) for kg in repeating}
        return cls(pairs, [of_kg.has_any for of_kg in features], inside)

    def within(self, pools: Sequence[np.ndarray]) -> EvidenceOfKind:
        """The same for some entities of each KG, given by their positions."""
        similarity = {(a, b): matrix[pools[a]][:, pools[b]].tocsr() for (a, b), matrix in self.similarity.items()}
        inside = {kg: matrix[pools[kg]][:, pools[kg]].tocsr() for kg, matrix in self.inside.items()}
        return EvidenceOfKind(similarity, [has[pool] for has, pool in zip(self.has_any, pools, strict=True)], inside)


def _without_diagonal(matrix: sp.csr_array) -> sp.csr_array:
    entries = matrix.tocoo()
    other = entries.row != entries.col
    return sp.csr_array((entries.data[other], (entries.row[other], entries.col[other])), shape=matrix.shape)


@dataclass(frozen=True)
class Evidence:
    """All kinds of evidence of a task beside structure, and for structure which entities have a triple.

    conflicts: for each pair of KGs the candidates of these kinds whose values conflict. identifiers: the entities whose
    identifiers are equal. lookalikes: for each pair of KGs, where no structure is compared, what entities of either KG
    have in common with others of the same KG. namesakes: about which share of pairs with an equal name are wrong.
    """

    kinds: Mapping[str, EvidenceOfKind] = field(default_factory=dict)
    has_structure: Sequence[np.ndarray] = ()
    conflicts: Mapping[Pair, sp.csr_array] = field(default_factory=dict)
    identifiers: Mapping[Pair, sp.csr_array] = field(default_factory=dict)
    lookalikes: Mapping[Pair, tuple[Evidence, Evidence]] = field(default_factory=dict)
    namesakes: Mapping[Pair, float] = field(default_factory=dict)

    def within(self, pools: Sequence[np.ndarray]) -> Evidence:
        """The evidence of some entities of each KG, given by their positions."""
        has_structure = [has[pool] for has, pool in zip(self.has_structure, pools, strict=True)]
        conflicts, identifiers = (
            {(a, b): one[pools[a]][:, pools[b]].tocsr() for (a, b), one in said.items()}
            for said in (self.conflicts, self.identifiers)
        )
        kinds = {kind: one.within(pools) for kind, one in self.kinds.items()}
        return Evidence(kinds, has_structure, conflicts, identifiers)

    @property
    def has_triples(self) -> bool:
        """Whether at least two KGs have triples that may be used."""
        return sum(bool(has.any()) for has in self.has_structure) > 1

    @property
    def beside_structure(self) -> dict[str, EvidenceOfKind]:
        """All kinds that need no triples."""
        return {kind: one for kind, one in self.kinds.items() if kind != NEIGHBOURS}

    def without_structure(self) -> Evidence:
        """The other kinds alone, where no mark has arrived yet."""
        nothing = [np.zeros(len(has), dtype=bool) for has in self.has_structure]
        return Evidence(
            self.beside_structure, nothing, self.conflicts, self.identifiers, self.lookalikes, self.namesakes
        )

    def has_any(self) -> list[np.ndarray]:
        """For each KG which entities have evidence of any kind beside structure."""
        nothing = [np.zeros(len(has), dtype=bool) for has in self.has_structure]
        for kind in self.beside_structure.values():
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
    features: dict[str, list[Features]] = {}
    found: dict[str, EvidenceOfKind] = {}
    conflicts: dict[Pair, sp.csr_array] = {}
    properties: dict[Pair, tuple[Conflicts, Identifiers]] = {}
    by_chance: dict[Pair, float] = {}
    steps = len({NAMES, ATTRIBUTES} & set(kinds)) + (name_model is not None)
    with progress.stage("comparing names and attributes", steps) as advance:
        if NAMES in kinds:
            features[NAMES] = name_features(kgs)
            found[NAMES] = EvidenceOfKind.of(features[NAMES], repeating)
            advance(1)
        if name_model is not None:
            features[MODEL] = model_features(kgs, name_model)
            found[MODEL] = EvidenceOfKind.of(features[MODEL], repeating)
            advance(1)
        tables = attribute_tables(kgs) if ATTRIBUTES in kinds else []
        if tables and sum(has_attributes(kgs, tables, with_names=NAMES in kinds)) > 1:
            anchors = find_anchors([one.similarity for one in found.values()], seeds)
            if not are_enough(anchors, len(kgs)):  # comparing words as well takes as long again
                by_words = EvidenceOfKind.of(attribute_features(kgs, tables, None, with_names=NAMES in kinds))
                anchors = find_anchors([one.similarity for one in (by_words, *found.values())], seeds)
            numbers = quantities(numeric_tables(tables), anchors)
            features[ATTRIBUTES] = attribute_features(kgs, tables, numbers, with_names=NAMES in kinds)
            found[ATTRIBUTES] = EvidenceOfKind.of(features[ATTRIBUTES], repeating)
            advance(1)
        found = _completed(found, features)
        if ATTRIBUTES in found:
            values = ComparableValues(tables, [len(kg.entities) for kg in kgs], numbers)
            by_chance = share_of_namesakes(kgs, anchors) if NAMES in kinds else {}
            opposing = find_conflicts(values, anchors, by_chance)
            by_names = {kind: one for kind, one in features.items() if kind != ATTRIBUTES}
            identifying = _identifiers(kgs, tables, values, by_names, {kind: found[kind] for kind in by_names}, seeds)
            properties = {pair: (one, identifying[pair]) for pair, one in opposing.items()}
            conflicts = _conflicts(found, opposing)
    usable = {kind: one for kind, one in found.items() if any(pair.nnz for pair in one.similarity.values())}
    has_structure = [kg.degrees > 0 if STRUCTURE in kinds else np.zeros(len(kg.entities), bool) for kg in kgs]
    lookalikes: dict[Pair, tuple[Evidence, Evidence]] = {}
    if usable and sum(bool(has.any()) for has in has_structure) < 2:
        lookalikes = _lookalikes({kind: features[kind] for kind in usable}, properties, len(kgs))
    identifiers = {
        (a, b): in_half(one.matrix((len(kgs[a].entities), len(kgs[b].entities))))
        for (a, b), (_, one) in properties.items()
    }
    return Evidence(usable, has_structure, conflicts, identifiers, lookalikes, by_chance)


def _identifiers(
    kgs: Sequence[KnowledgeGraph],
    tables: Sequence[pl.DataFrame],
    values: ComparableValues,
    features: Mapping[str, Sequence[Features]],
    found: Mapping[str, EvidenceOfKind],
    seeds: Groups,
) -> dict[Pair, Identifiers]:
    """The codes that identify, as names and the other attributes tell; features, found: of all kinds of names."""
    codes = [codes_of(table, keys) for table, keys in zip(tables, values.keys, strict=True)]
    candidates = {pair: candidate_codes(codes, pair) for pair in combinations(range(len(kgs)), 2)}
    if not any(candidates.values()):
        return {pair: Identifiers() for pair in candidates}
    others = list(features.values())
    anchors = find_anchors([one.similarity for one in found.values()], seeds)
    if not are_enough(anchors, len(kgs)):
        with_names = NAMES in found
        others.append(attribute_features(kgs, without_codes(tables, candidates), None, with_names=with_names))
        by_words = EvidenceOfKind.of(others[-1])
        anchors = find_anchors([one.similarity for one in (by_words, *found.values())], seeds)
    return find_identifiers(candidates, OtherEvidence(anchors, others))


def _lookalikes(
    features: Mapping[str, Sequence[Features]], properties: Mapping[Pair, tuple[Conflicts, Identifiers]], kgs: int
) -> dict[Pair, tuple[Evidence, Evidence]]:
    """For each two KGs what the entities of each have in common with others of the same KG."""
    of_kg = []
    for kg in range(kgs):
        sides = {kind: (sampled(one[kg]), one[kg]) for kind, one in features.items()}
        found = {
            kind: EvidenceOfKind({INSIDE: in_half(similar_pairs(*two))}, [side.has_any for side in two])
            for kind, two in sides.items()
        }
        of_kg.append(
            {
                kind: replace(one, similarity={INSIDE: without_themselves(one.similarity[INSIDE])})
                for kind, one in _completed(found, sides).items()
            }
        )
    return {
        pair: (_inside(of_kg[pair[0]], properties.get(pair), 0), _inside(of_kg[pair[1]], properties.get(pair), 1))
        for pair in combinations(range(kgs), 2)
    }


def _inside(
    kinds: Mapping[str, EvidenceOfKind], properties: tuple[Conflicts, Identifiers] | None, side: int
) -> Evidence:
    """Of one KG; properties: what conflicts and what identifies between two KGs, of which it is on the given side."""
    every = [one.similarity[INSIDE] for one in kinds.values()]
    nothing = [np.zeros(size, dtype=bool) for size in every[0].shape]
    if properties is None:
        return Evidence(kinds, nothing)
    against = in_half(conflicts_inside(sum(every[1:], every[0]), properties[0], side))
    in_favour = in_half(identifiers_inside(properties[1], side, every[0].shape[1]))
    return Evidence(kinds, nothing, {INSIDE: against}, {INSIDE: in_favour})


def _conflicts(found: Mapping[str, EvidenceOfKind], properties: Mapping[Pair, Conflicts]) -> dict[Pair, sp.csr_array]:
    """What conflicting values say about the candidates of all kinds."""
    opposed = {}
    for pair, conflicts in properties.items():
        candidates = [one.similarity[pair] for one in found.values()]
        shape = candidates[0].shape
        row, column = np.divmod(np.unique(np.concatenate([*map(_keys, candidates)])), max(shape[1], 1))
        opposed[pair] = in_half(conflicts.at(row, column, shape))
    return opposed


def _completed(
    found: Mapping[str, EvidenceOfKind], features: Mapping[str, Sequence[Features]]
) -> dict[str, EvidenceOfKind]:
    """The same, where pairs that one kind proposes have their similarity by another, if it is as high as that of the
    candidates it proposes itself: names that hundreds of entities share propose nobody, but they agree.
    """
    if len(found) < 2:
        return dict(found)
    similarity: dict[str, dict[Pair, sp.csr_array]] = {kind: {} for kind in found}
    for pair in next(iter(found.values())).similarity:
        best = {kind: _best_pairs(one.similarity[pair]) for kind, one in found.items()}
        for kind, one in found.items():
            own, (left, right) = one.similarity[pair], (features[kind][kg] for kg in pair)
            missing = np.setdiff1d(np.concatenate([best[other] for other in found if other != kind]), _keys(own))
            row, column = np.divmod(missing, max(own.shape[1], 1))
            value = similarities_of(left, right, row, column).astype(np.float16).astype(np.float32)
            high = value >= np.maximum(_lowest(own)[row], _lowest(own.T.tocsr())[column])
            added = sp.csr_array((value[high], (row[high], column[high])), shape=own.shape)
            similarity[kind][pair] = in_half((own + added).tocsr())
    return {kind: replace(one, similarity=similarity[kind]) for kind, one in found.items()}


def _lowest(matrix: sp.csr_array) -> np.ndarray:
    """The lowest similarity in each row, the least one that counts where there is none."""
    result = np.full(matrix.shape[0], np.inf, dtype=np.float32)
    np.minimum.at(result, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.data)
    return np.where(np.isinf(result), LEAST_SIMILARITY, result)


def _keys(matrix: sp.csr_array) -> np.ndarray:
    """Each entry as one number: row * columns + column."""
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return np.asarray(row * matrix.shape[1] + matrix.indices)


def _best_pairs(matrix: sp.csr_array) -> np.ndarray:
    """The keys of the best entries of each row and of each column, sorted; all that are as good as the last of them."""
    keys = _keys(matrix)
    kept = np.zeros(len(keys), dtype=bool)
    for group in np.divmod(keys, max(matrix.shape[1], 1)):
        order = np.lexsort((-matrix.data, group))
        first, end = (np.searchsorted(group[order], group[order], side) for side in ("left", "right"))
        last = order[np.minimum(first + COMPLETED, end) - 1]
        kept[order] |= matrix.data[order] >= matrix.data[last]
    return np.sort(keys[kept])
