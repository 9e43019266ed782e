"""The weighted evidence of a pair of KGs: a mean over what both entities have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn.functional import normalize

from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import ATTRIBUTES, NAMES, STRUCTURE, Evidence, EvidenceOfKind
from multiea.graph.sparse_rows import no_entries
from multiea.similarity.pair_evidence import PairEvidence
from multiea.similarity.search import search
from multiea.similarity.weights import Weights

PAIR = (0, 1)
WEIGHTS = Weights({PAIR: {STRUCTURE: 20.0, NAMES: 15.0, ATTRIBUTES: 5.0}})


def random_evidence(seed: int = 0, left: int = 30, right: int = 25, *, with_structure: bool = True) -> Evidence:
    """Random sparse similarities of names and attributes; some entities lack one of them, or structure."""
    rng = np.random.default_rng(seed)
    kinds = {}
    for kind in (NAMES, ATTRIBUTES):
        has = [rng.random(size) < 0.8 for size in (left, right)]
        values = np.where(rng.random((left, right)) < 0.2, rng.random((left, right)), 0)
        values = np.where(has[0][:, None] & has[1][None, :], values, 0).astype(np.float32)
        kinds[kind] = EvidenceOfKind({PAIR: sp.csr_array(values)}, has)
    return Evidence(kinds, [(rng.random(size) < 0.8) & with_structure for size in (left, right)])


def random_embeddings(evidence: Evidence, seed: int = 0) -> tuple[Embeddings, Embeddings]:
    """Unit vectors, zero for entities without structure."""
    generator = torch.Generator().manual_seed(seed)
    parts = [normalize(torch.randn(len(has), 16, generator=generator)) for has in evidence.has_structure]
    left, right = (
        Embeddings(part * torch.from_numpy(has)[:, None])
        for part, has in zip(parts, evidence.has_structure, strict=True)
    )
    return left, right


def by_hand(evidence: Evidence, weights: dict[str, float]) -> np.ndarray:
    """The similarities of all pairs, from the definition: weighted sums, times the factors of both entities."""
    left, right = random_embeddings(evidence)
    parts = {STRUCTURE: (left.float() @ right.float().t()).numpy()}
    parts |= {kind: one.similarity[PAIR].toarray() for kind, one in evidence.kinds.items()}
    has = {STRUCTURE: evidence.has_structure} | {kind: one.has_any for kind, one in evidence.kinds.items()}
    total = sum(weights.values())
    held = [sum(weight * has[kind][side] for kind, weight in weights.items()) for side in (0, 1)]
    factors = [np.sqrt(total / np.where(one > 0, one, total)) for one in held]
    mean = sum(weight * parts[kind] for kind, weight in weights.items()) / total
    return np.asarray(mean * factors[0][:, None] * factors[1][None, :])


def test_search_with_added_evidence_equals_comparing_all_pairs() -> None:
    evidence = random_evidence()
    own = PairEvidence.of(evidence, PAIR, WEIGHTS)
    left, right = own.scaled_embeddings(*random_embeddings(evidence))
    found = search(left, right, 5, None, own.added).rows(slice(None)).numpy()
    whole = by_hand(evidence, dict(WEIGHTS.of_pair[PAIR]))
    is_added = own.added.toarray() > 0
    best = np.zeros_like(is_added)
    np.put_along_axis(best, (-whole).argsort(axis=1)[:, :5], True, axis=1)
    np.put_along_axis(best, (-whole).argsort(axis=0)[:5], True, axis=0)
    wanted = (best | is_added) & (whole > 0.005)
    np.testing.assert_allclose(found[wanted], whole[wanted], atol=0.005)
    assert np.count_nonzero(found) <= (best | is_added).sum() + 10


def test_an_entity_without_a_name_is_not_worse_off() -> None:
    """Two entities agree equally well by what they have: the one without a name scores the same."""
    names, attributes = np.diag([0.8, 0.0]).astype(np.float32), np.diag([0.8, 0.8]).astype(np.float32)
    evidence = Evidence(
        {
            NAMES: EvidenceOfKind({PAIR: sp.csr_array(names)}, [np.array([True, False])] * 2),
            ATTRIBUTES: EvidenceOfKind({PAIR: sp.csr_array(attributes)}, [np.ones(2, dtype=bool)] * 2),
        },
        [np.zeros(2, dtype=bool)] * 2,
    )
    added = PairEvidence.of(evidence, PAIR, WEIGHTS).added.toarray()
    assert added[0, 0] == pytest.approx(0.8, rel=1e-5)
    assert added[1, 1] == pytest.approx(0.8, rel=1e-5)


def test_names_that_differ_lower_a_score_and_missing_ones_do_not() -> None:
    attributes = np.full((2, 1), 0.8, dtype=np.float32)
    evidence = Evidence(
        {
            NAMES: EvidenceOfKind({PAIR: no_entries((2, 1))}, [np.array([True, False]), np.ones(1, bool)]),
            ATTRIBUTES: EvidenceOfKind({PAIR: sp.csr_array(attributes)}, [np.ones(2, bool), np.ones(1, bool)]),
        },
        [np.zeros(2, dtype=bool), np.zeros(1, dtype=bool)],
    )
    differs, is_missing = PairEvidence.of(evidence, PAIR, WEIGHTS).added.toarray()[:, 0]
    assert is_missing > 1.5 * differs


def test_a_kind_that_one_kg_lacks_does_not_count() -> None:
    evidence = random_evidence(with_structure=False)
    names = evidence.kinds[NAMES]
    without = EvidenceOfKind({PAIR: names.similarity[PAIR] * 0}, [names.has_any[0], np.zeros_like(names.has_any[1])])
    own = PairEvidence.of(
        Evidence({NAMES: without, ATTRIBUTES: evidence.kinds[ATTRIBUTES]}, evidence.has_structure), PAIR, WEIGHTS
    )
    assert own.kinds == (ATTRIBUTES,)
    assert own.structure_share == 0
    np.testing.assert_allclose(own.added.toarray(), evidence.kinds[ATTRIBUTES].similarity[PAIR].toarray(), rtol=1e-5)


def test_the_parts_of_found_scores_are_the_similarities_of_each_kind_and_other_weights_give_other_scores() -> None:
    evidence = random_evidence()
    own = PairEvidence.of(evidence, PAIR, WEIGHTS)
    left, right = own.scaled_embeddings(*random_embeddings(evidence))
    scores = search(left, right, 5, None, own.added)
    row, column = scores.row.numpy(), scores.column.numpy()
    features = own.features(scores)
    factors = own.row_factors[row] * own.column_factors[column]
    first, second = (part.float() for part in random_embeddings(evidence))
    structure = (first @ second.t()).numpy()[row, column]
    np.testing.assert_allclose(features[:, own.kinds.index(STRUCTURE)], structure * factors, atol=0.01)
    names = evidence.kinds[NAMES].similarity[PAIR].toarray()[row, column]
    np.testing.assert_allclose(features[:, own.kinds.index(NAMES)], names * factors, rtol=1e-5)
    other_weights = {STRUCTURE: 3.0, NAMES: 25.0, ATTRIBUTES: 1.0}
    other = own.rescored(scores, PairEvidence.of(evidence, PAIR, Weights({PAIR: other_weights})))
    expected = by_hand(evidence, other_weights)[row, column]
    np.testing.assert_allclose(other.values.numpy(), np.maximum(expected, 1e-9), atol=0.01)
    same = own.rescored(scores, own)
    np.testing.assert_allclose(same.values.numpy(), scores.values.numpy(), atol=1e-4)


def test_examples_are_the_candidates_of_known_pairs_in_both_directions() -> None:
    evidence = random_evidence()
    own = PairEvidence.of(evidence, PAIR, WEIGHTS)
    left, right = own.scaled_embeddings(*random_embeddings(evidence))
    scores = search(left, right, 5, None, own.added)
    dense = scores.rows(slice(None)).numpy()
    rows, columns = np.arange(10), np.arange(10)
    made = own.examples(scores, (rows, columns))
    is_candidate = dense[rows, columns] > 0
    assert made.is_right.sum() == 2 * is_candidate.sum()
    wanted = np.count_nonzero(dense[rows[is_candidate]]) + np.count_nonzero(dense[:, columns[is_candidate]])
    assert len(made.features) == wanted
    assert (np.bincount(made.query, made.is_right) == 1).all()
    assert (np.diff(made.query) >= 0).all()


def test_known_pairs_that_are_no_candidates_teach_nothing() -> None:
    evidence = random_evidence(with_structure=False)
    own = PairEvidence.of(evidence, PAIR, WEIGHTS)
    nothing = Embeddings(torch.zeros(30, 1)), Embeddings(torch.zeros(25, 1))
    scores = search(*nothing, 5, None, own.added)
    row, column = (part[:3] for part in np.nonzero(own.added.toarray() == 0))
    assert len(own.examples(scores, (row[:1], column[:1])).features) == 0


def opposed_names(evidence: Evidence, against: float) -> Evidence:
    """The same evidence, where all pairs with similar names have a conflict."""
    names = evidence.kinds[NAMES].similarity[PAIR].tocoo()
    values = np.full(names.nnz, against, np.float32)
    return replace(evidence, conflicts={PAIR: sp.csr_array((values, (names.row, names.col)), shape=names.shape)})


@pytest.mark.parametrize("weights", [WEIGHTS, Weights()])
def test_conflicts_are_subtracted_in_log_odds_whatever_the_weights_are(weights: Weights) -> None:
    evidence = random_evidence()
    plain, opposed = (PairEvidence.of(one, PAIR, weights) for one in (evidence, opposed_names(evidence, -2.0)))
    names = evidence.kinds[NAMES].similarity[PAIR].toarray() > 0
    taken = (plain.added - opposed.added).toarray() * plain.weights.sum()
    np.testing.assert_allclose(taken[names], 2.0, rtol=1e-4)
    assert not taken[~names].any()


def identified(evidence: Evidence, in_favour: float) -> Evidence:
    """The same evidence, where the entities of each row and of the column of the same number have equal identifiers."""
    values = np.full(20, in_favour, np.float32)
    matrix = sp.csr_array((values, (np.arange(20), np.arange(20))), shape=evidence.kinds[NAMES].similarity[PAIR].shape)
    return replace(evidence, identifiers={PAIR: matrix})


@pytest.mark.parametrize("weights", [WEIGHTS, Weights()])
def test_identifiers_are_added_in_log_odds_and_propose_candidates(weights: Weights) -> None:
    evidence = random_evidence()
    plain, favoured = (PairEvidence.of(one, PAIR, weights) for one in (evidence, identified(evidence, 3.0)))
    added = (favoured.added - plain.added).toarray() * plain.weights.sum()
    np.testing.assert_allclose(np.diag(added)[:20], 3.0, rtol=1e-4)
    assert np.count_nonzero(added) == 20
    assert favoured.added.nnz > plain.added.nnz


@pytest.mark.parametrize("with_structure", [True, False])
def test_identifiers_of_some_entities_do_not_change_what_is_doubtful_for_others(*, with_structure: bool) -> None:
    evidence = random_evidence(with_structure=with_structure)
    plain, favoured = (PairEvidence.of(one, PAIR, WEIGHTS).doubtful() for one in (evidence, identified(evidence, 3.0)))
    assert favoured == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("given", [opposed_names, identified])
def test_other_weights_and_examples_keep_conflicts_and_identifiers(given: Callable[..., Evidence]) -> None:
    sign = -1 if given is opposed_names else 1
    evidence = given(random_evidence(), sign * 2.0)
    own, other = (PairEvidence.of(evidence, PAIR, weights) for weights in (Weights(), WEIGHTS))
    found = []
    for one in (own, other):
        left, right = one.scaled_embeddings(*random_embeddings(evidence))
        found.append(search(left, right, 50, None, one.added))
    again = own.rescored(found[0], other)
    keys, places, same = np.intersect1d(again.keys.numpy(), found[1].keys.numpy(), return_indices=True)
    assert len(keys) > 100
    np.testing.assert_allclose(again.values.numpy()[places], found[1].values.numpy()[same], atol=5e-3)
    examples = own.examples(found[0], (found[0].row.numpy()[:5], found[0].column.numpy()[:5]))
    values = np.asarray(examples.values)
    assert sign * values[np.abs(values).argmax()] == pytest.approx(2)
