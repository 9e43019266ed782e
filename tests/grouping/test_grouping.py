"""Grouping: mutual best matches become groups with at most one entity of each KG."""

from itertools import permutations

import numpy as np
import torch

from multiea.grouping.calibration import Calibration
from multiea.grouping.matching import FoundGroups, Scores, joined, mutual_matches, scores_inside
from multiea.similarity.matrices import Dense


def group_mutual_matches(
    scores: Scores, pools: list[np.ndarray], kg_names: tuple[str, ...], places: list[np.ndarray]
) -> FoundGroups:
    """Groups with plain scores as confidences."""
    groups = joined(mutual_matches(scores, pools, places), kg_names)
    return Calibration().found(groups, scores_inside(groups, scores, pools))


def grouped(scores: dict[tuple[int, int], list[list[float]]], sizes: tuple[int, ...]) -> FoundGroups:
    matrices = {}
    for (a, b), values in scores.items():
        tensor = torch.tensor(values)
        matrices[a, b], matrices[b, a] = Dense(tensor), Dense(tensor.t())
    pools = [np.arange(size) + 100 * kg for kg, size in enumerate(sizes)]
    places = [np.arange(1000) + 1000 * kg for kg in range(len(sizes))]
    return group_mutual_matches(matrices, pools, tuple("abcd"[: len(sizes)]), places)


def test_matches_that_are_mutual_are_joined_over_all_kgs() -> None:
    found = grouped(
        {(0, 1): [[0.9, 0.1], [0.2, 0.8]], (0, 2): [[0.7, 0.1], [0.1, 0.1]], (1, 2): [[0.6, 0.0], [0.0, 0.5]]},
        (2, 2, 2),
    )
    assert {tuple(row) for row in found.groups.members.tolist()} == {(0, 100, 200), (1, 101, 201)}


def test_what_is_nobodys_best_match_stays_alone() -> None:
    found = grouped({(0, 1): [[0.9, 0.1], [0.8, 0.2]]}, (2, 2))
    assert found.groups.members.tolist() == [[0, 100]]


def test_a_best_score_that_two_share_is_no_match() -> None:
    found = grouped({(0, 1): [[0.5, 0.5], [0.1, 0.2]]}, (2, 2))
    assert not len(found.groups) or found.groups.members.tolist() == [[1, 101]]


def test_of_contradictory_matches_the_surer_one_wins() -> None:
    # a0-b0 and b0-c0 are sure, a1-c0 less so: following all three would put a0 and a1 into one group.
    found = grouped(
        {(0, 1): [[0.9, 0.0], [0.1, 0.05]], (1, 2): [[0.8, 0.0], [0.0, 0.1]], (0, 2): [[0.1, 0.05], [0.6, 0.0]]},
        (2, 2, 2),
    )
    rows = {tuple(row) for row in found.groups.members.tolist()}
    assert (0, 100, 200) in rows
    assert not any(1 in row and 200 in row for row in rows)


def test_confidence_is_the_mean_of_a_members_matches_and_the_surest_group_comes_first() -> None:
    found = grouped({(0, 1): [[0.3, 0.1], [0.2, 0.9]]}, (2, 2))
    assert found.groups.members.tolist() == [[1, 101], [0, 100]]
    np.testing.assert_allclose(found.confidence, [[0.9, 0.9], [0.3, 0.3]], rtol=1e-6)


def test_empty_pools_give_no_groups() -> None:
    matrices = {(0, 1): Dense(torch.zeros(0, 3)), (1, 0): Dense(torch.zeros(3, 0))}
    found = group_mutual_matches(matrices, [np.arange(0), np.arange(3)], ("a", "b"), [np.arange(9), np.arange(9)])
    assert len(found.groups) == 0


def test_equally_sure_contradictions_are_settled_by_name_whatever_the_order_of_kgs() -> None:
    # a0-b0, b0-c0 and c0-a1 are equally sure; following all would put a0 and a1 into one group.
    scores = {
        ("a", "b"): torch.tensor([[0.5, 0.1], [0.1, 0.1]]),
        ("b", "c"): torch.tensor([[0.5, 0.1], [0.1, 0.1]]),
        ("a", "c"): torch.tensor([[0.1, 0.1], [0.5, 0.1]]),
    }
    results = set()
    for names in permutations("abc"):
        matrices = {}
        for (one, other), values in scores.items():
            i, j = names.index(one), names.index(other)
            matrices[i, j], matrices[j, i] = Dense(values), Dense(values.t())
        places = [np.arange(2) + 2 * "abc".index(name) for name in names]
        found = group_mutual_matches(matrices, [np.arange(2)] * 3, names, places)
        groups = [{f"{name}{m}" for name, m in zip(names, row, strict=True) if m >= 0} for row in found.groups.members]
        results.add(frozenset(map(frozenset, groups)))
    assert len(results) == 1
