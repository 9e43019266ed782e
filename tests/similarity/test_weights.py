"""Weights of evidence: learned from known pairs, near the defaults where these are few."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.evidence.evidence import ATTRIBUTES, NAMES, NEIGHBOURS, STRUCTURE
from multiea.similarity.weights import (
    DEFAULT_WEIGHTS,
    LEAST_WEIGHT,
    UNJUDGED,
    Examples,
    Weights,
    learn_weight_of_structure,
    learn_weights,
)

KINDS = (STRUCTURE, NAMES)
DEFAULTS = np.array([DEFAULT_WEIGHTS[kind] for kind in KINDS])


def examples(weights: tuple[float, ...], queries: int, seed: int = 0, kinds: tuple[str, ...] = KINDS) -> Examples:
    """Candidates with random similarities; counterparts are drawn as the conditional logit with these weights says."""
    rng, candidates = np.random.default_rng(seed), 10
    features = rng.random((queries, candidates, len(kinds)))
    noise = rng.gumbel(size=(queries, candidates))
    chosen = (features @ np.array(weights) + noise).argmax(axis=1)
    is_right = np.zeros((queries, candidates), dtype=bool)
    is_right[np.arange(queries), chosen] = True
    query = np.repeat(np.arange(queries), candidates)
    return Examples(kinds, features.reshape(-1, len(kinds)), query, is_right.ravel())


@pytest.mark.parametrize("truth", [(20.0, 5.0), (5.0, 20.0), (12.0, 12.0)])
def test_weights_of_generated_examples_are_recovered(truth: tuple[float, float]) -> None:
    learned = learn_weights({(0, 1): examples(truth, 4000)}).get((0, 1), KINDS)
    np.testing.assert_allclose(learned, truth, rtol=0.12)


def test_few_examples_stay_near_the_defaults() -> None:
    def mean_distance(count: int) -> float:
        learned = [learn_weights({(0, 1): examples((8.0, 35.0), count, seed)}).get((0, 1), KINDS) for seed in range(8)]
        return float(np.abs(np.array(learned) - DEFAULTS).mean())

    assert mean_distance(1) < 0.5 * mean_distance(500)
    assert mean_distance(1) < mean_distance(10) < mean_distance(500)


def test_without_examples_the_defaults_hold() -> None:
    np.testing.assert_array_equal(Weights().get((0, 1), KINDS), DEFAULTS)
    assert Weights().examples == 0


def test_known_pairs_of_which_none_is_a_candidate_leave_the_defaults() -> None:
    nothing = Examples(KINDS, np.empty((0, 2)), np.empty(0, dtype=int), np.empty(0, dtype=bool))
    learned = learn_weights({(0, 1): nothing})
    np.testing.assert_array_equal(learned.get((0, 1), KINDS), DEFAULTS)
    assert learned.examples == 0


def test_pairs_of_kgs_with_many_examples_differ_and_one_without_gets_what_they_share() -> None:
    nothing = Examples(KINDS, np.empty((0, 2)), np.empty(0, dtype=int), np.empty(0, dtype=bool))
    known = {(0, 1): examples((25.0, 5.0), 3000, 1), (0, 2): examples((5.0, 25.0), 3000, 2), (1, 2): nothing}
    learned = learn_weights(known)
    one, other, unknown = (learned.get(pair, KINDS) for pair in known)
    assert one[0] > 20 > 10 > one[1]
    assert other[1] > 20 > 10 > other[0]
    assert (np.minimum(one, other) < unknown).all()
    assert (unknown < np.maximum(one, other)).all()
    assert learned.examples == 6000


def test_few_examples_of_a_pair_stay_near_what_the_others_share() -> None:
    truth = (8.0, 30.0)
    known = {(0, 1): examples(truth, 3000, 1), (0, 2): examples((30.0, 8.0), 1, 2)}
    learned = learn_weights(known)
    np.testing.assert_allclose(learned.get((0, 2), KINDS), truth, atol=4)


def test_pairs_that_have_other_kinds_of_evidence_are_learned_together() -> None:
    names = examples((6.0,), 2000, 1, (NAMES,))
    both = examples((15.0, 6.0), 2000, 2, (ATTRIBUTES, NAMES))
    learned = learn_weights({(0, 1): names, (0, 2): both})
    np.testing.assert_allclose(learned.get((0, 1), (NAMES,)), [6], rtol=0.15)
    np.testing.assert_allclose(learned.get((0, 2), (ATTRIBUTES, NAMES)), [15, 6], rtol=0.15)


def test_evidence_that_misleads_gets_the_least_weight_and_never_a_negative_one() -> None:
    learned = learn_weights({(0, 1): examples((30.0, -20.0), 2000)}).get((0, 1), KINDS)
    assert learned[1] == LEAST_WEIGHT
    assert learned[0] > 10 * LEAST_WEIGHT


def test_the_order_of_queries_changes_nothing() -> None:
    given = examples((10.0, 10.0), 300)
    order = np.random.default_rng(3).permutation(300)
    moved = Examples(
        KINDS,
        given.features.reshape(300, 10, 2)[order].reshape(-1, 2),
        given.query,
        given.is_right.reshape(300, 10)[order].ravel(),
    )
    one, other = (learn_weights({(0, 1): some}).get((0, 1), KINDS) for some in (given, moved))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("truth", [3.0, 15.0, 40.0])
def test_pairs_found_by_names_teach_the_weight_of_structure_and_no_other(truth: float) -> None:
    by_names = examples((truth, 0.0, 60.0), 3000, kinds=(STRUCTURE, NEIGHBOURS, NAMES))
    alone = examples((truth, truth * DEFAULT_WEIGHTS[NEIGHBOURS] / DEFAULT_WEIGHTS[STRUCTURE]), 3000, kinds=KINDS)
    some = Examples((STRUCTURE, NEIGHBOURS, NAMES), by_names.features, alone.query, alone.is_right)
    some.features[:, :2] = alone.features
    learned = learn_weight_of_structure({(0, 1): some}, UNJUDGED)
    structure, neighbours, names = learned.get((0, 1), (STRUCTURE, NEIGHBOURS, NAMES))
    assert structure == pytest.approx(truth, rel=0.12)
    assert neighbours / structure == pytest.approx(DEFAULT_WEIGHTS[NEIGHBOURS] / DEFAULT_WEIGHTS[STRUCTURE])
    assert names == DEFAULT_WEIGHTS[NAMES]
    assert (learned.examples, learned.mixing) == (0, UNJUDGED)
