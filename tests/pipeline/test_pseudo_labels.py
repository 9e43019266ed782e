"""Pseudo-labels: which groups found in a round are learned from in the next."""

from __future__ import annotations

import numpy as np
import pytest

from multiea import Bootstrapping, Groups
from multiea.grouping.judging import judged_groups
from multiea.pipeline.pseudo_labels import FEWEST_JUDGED, LEAST_SCORE_UNJUDGED, ROUNDING, select_pseudo_labels

NAMES = ("a", "b", "c")


def selected_complete(groups: Groups, weakest: np.ndarray, known: Groups, least: float) -> Groups:
    nothing = Groups.empty(groups.kg_names)
    return select_pseudo_labels(groups, weakest, nothing, known, Bootstrapping(trust_in_complete=least))


def selected_partial(confident: Groups, known: Groups, least: float) -> Groups:
    nothing = Groups.empty(confident.kg_names)
    return select_pseudo_labels(nothing, np.empty(0), confident, known, Bootstrapping(trust_in_kinds=least))


def falling(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The non-increasing sequence nearest to the weighted values (pool adjacent violators)."""
    means: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        masses.append(weight)
        counts.append(1)
        while len(means) > 1 and means[-2] < means[-1]:
            mass = masses[-2] + masses[-1]
            means[-2:] = [(means[-2] * masses[-2] + means[-1] * masses[-1]) / mass]
            masses[-2:] = [mass]
            counts[-2:] = [counts[-2] + counts[-1]]
    return np.repeat(means, counts)


def reference_selection(groups: Groups, weakest: np.ndarray, known: Groups, least: float) -> Groups:
    """Complete groups whose precision, estimated by pooling adjacent violators, is high enough."""
    is_complete = groups.sizes == len(groups.kg_names)
    groups, weakest = groups.take(is_complete), weakest[is_complete]
    judged, right = judged_groups(groups, known)
    if judged.sum() < FEWEST_JUDGED:
        return groups.take(weakest >= LEAST_SCORE_UNJUDGED)
    order = np.flatnonzero(judged)
    order = order[np.argsort(-weakest[order], kind="stable")]
    level, share = weakest[order], falling(right[order].astype(float), judged[order])
    enough = np.count_nonzero(share >= least - ROUNDING)
    too_low = np.inf if not enough else level[enough] if enough < len(level) else 0.0
    return groups.take(weakest > too_low)


def test_the_reference_pools_adjacent_violators() -> None:
    values, weights = np.array([1.0, 0.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 3.0, 1.0, 1.0])
    np.testing.assert_allclose(falling(values, np.ones(5)), [1, 0.5, 0.5, 0, 0])
    np.testing.assert_allclose(falling(values, weights), [1, 0.75, 0.75, 0, 0])


def random_case(seed: int) -> tuple[Groups, np.ndarray, Groups]:
    """Found groups with scores, some equal, and known groups that confirm more of those with high scores."""
    rng = np.random.default_rng(seed)
    kgs, count = int(rng.integers(2, 5)), int(rng.integers(5, 120))
    names = tuple("abcde"[:kgs])
    found = np.stack([rng.permutation(count) for _ in range(kgs)], axis=1)
    weakest = np.round(rng.random(count), int(rng.integers(1, 6)))
    true = found.copy()
    is_wrong = rng.random(count) > weakest
    true[is_wrong, -1] = np.roll(true[is_wrong, -1], 1)
    true = np.where(rng.random(true.shape) < 0.15, -1, true)
    true = true[(true >= 0).sum(axis=1) > 1]
    known = true[rng.random(len(true)) < rng.uniform(0.1, 0.9)]
    found = np.where(rng.random(found.shape) < 0.1, -1, found)
    is_group = (found >= 0).sum(axis=1) > 1
    return Groups(names, found[is_group].astype(np.int32)), weakest[is_group], Groups(names, known.astype(np.int32))


@pytest.mark.parametrize("least", [0.4, 0.5, 0.75, 0.9, 0.999])
def test_the_selection_equals_pooling_adjacent_violators_on_random_cases(least: float) -> None:
    sizes = []
    for seed in range(600):
        groups, weakest, known = random_case(seed)
        expected = reference_selection(groups, weakest, known, least)
        chosen = selected_complete(groups, weakest, known, least)
        np.testing.assert_array_equal(chosen.members, expected.members)
        sizes.append(len(expected))
    assert len(set(sizes)) > 5


def test_complete_groups_are_selected_down_to_the_score_where_precision_falls() -> None:
    groups = Groups(NAMES, np.array([[i, i, i] for i in range(20)] + [[30, 30, -1]], dtype=np.int32))
    weakest = np.linspace(1, 0.1, 21)
    known = Groups(NAMES, np.array([[i, i if i < 10 else i + 50, i] for i in range(20)], dtype=np.int32))
    assert selected_complete(groups, weakest, known, 0.5).members[:, 0].tolist() == list(range(10))
    unjudged = selected_complete(groups, weakest, Groups.empty(NAMES), 0.5)
    assert unjudged.members[:, 0].tolist() == list(range(19))  # those above the lowest score without judgement


def test_partial_groups_are_selected_if_such_groups_mostly_lack_no_member() -> None:
    found = Groups(NAMES, np.array([[i, i, -1] for i in range(40)] + [[50 + i, -1, i] for i in range(40)], np.int32))
    whole_pairs = [[i, i, -1] for i in range(30)]  # pairs of a and b are whole groups
    larger = [[50 + i, 60 + i, i] for i in range(30)]  # those of a and c lack a member
    chosen = selected_partial(found, Groups(NAMES, np.array(whole_pairs + larger, np.int32)), 0.5)
    assert chosen.members.tolist() == found.members[:40].tolist()
    assert not len(selected_partial(found, Groups.empty(NAMES), 0.51))
