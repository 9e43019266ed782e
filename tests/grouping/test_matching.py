"""Matching: mutual best matches become groups with at most one entity of each KG."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
import torch

from multiea import Enhancement, Groups, KnowledgeGraph, Task
from multiea.grouping.calibration import Calibration
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.matching import Matches, Scores, join_matches, mutual_matches, scores_inside, total_scores
from multiea.similarity.matrices import Dense
from support.datasets import named
from support.tasks import unaligned


def group_mutual_matches(scores: Scores, pools: list[np.ndarray], kg_names: tuple[str, ...]) -> FoundGroups:
    """Groups with plain scores as confidences."""
    groups = join_matches(mutual_matches(scores, pools), kg_names)
    return Calibration().apply(groups, scores_inside(groups, scores, pools))


def grouped(scores: dict[tuple[int, int], list[list[float]]], sizes: tuple[int, ...]) -> FoundGroups:
    matrices = {}
    for (a, b), values in scores.items():
        tensor = torch.tensor(values)
        matrices[a, b], matrices[b, a] = Dense(tensor), Dense(tensor.t())
    pools = [np.arange(size) + 100 * kg for kg, size in enumerate(sizes)]
    return group_mutual_matches(matrices, pools, tuple("abcd"[: len(sizes)]))


def test_mutual_matches_are_joined_over_all_kgs() -> None:
    found = grouped(
        {(0, 1): [[0.9, 0.1], [0.2, 0.8]], (0, 2): [[0.7, 0.1], [0.1, 0.1]], (1, 2): [[0.6, 0.0], [0.0, 0.5]]},
        (2, 2, 2),
    )
    assert {tuple(row) for row in found.groups.members.tolist()} == {(0, 100, 200), (1, 101, 201)}


def test_an_entity_that_is_no_best_match_stays_unmatched() -> None:
    found = grouped({(0, 1): [[0.9, 0.1], [0.8, 0.2]]}, (2, 2))
    assert found.groups.members.tolist() == [[0, 100]]


def test_a_best_score_that_two_share_is_no_match() -> None:
    found = grouped({(0, 1): [[0.5, 0.5], [0.1, 0.2]]}, (2, 2))
    assert not len(found.groups) or found.groups.members.tolist() == [[1, 101]]


def test_of_contradictory_matches_the_better_score_wins() -> None:
    # a0-b0 and b0-c0 score higher than a1-c0: following all three would put a0 and a1 into one group.
    found = grouped(
        {(0, 1): [[0.9, 0.0], [0.1, 0.05]], (1, 2): [[0.8, 0.0], [0.0, 0.1]], (0, 2): [[0.1, 0.05], [0.6, 0.0]]},
        (2, 2, 2),
    )
    rows = {tuple(row) for row in found.groups.members.tolist()}
    assert (0, 100, 200) in rows
    assert not any(1 in row and 200 in row for row in rows)


def test_confidence_is_the_mean_over_the_pairs_of_a_member_and_the_most_confident_group_comes_first() -> None:
    found = grouped({(0, 1): [[0.3, 0.1], [0.2, 0.9]]}, (2, 2))
    assert found.groups.members.tolist() == [[1, 101], [0, 100]]
    np.testing.assert_allclose(found.confidence, [[0.9, 0.9], [0.3, 0.3]], rtol=1e-6)


def test_empty_pools_give_no_groups() -> None:
    matrices = {(0, 1): Dense(torch.zeros(0, 3)), (1, 0): Dense(torch.zeros(3, 0))}
    found = group_mutual_matches(matrices, [np.arange(0), np.arange(3)], ("a", "b"))
    assert len(found.groups) == 0


def test_equal_contradictory_matches_are_decided_by_names_whatever_the_order_of_kgs_and_entities() -> None:
    # a0-b0, b0-c0 and c0-a1 have exactly the same score; following all would put a0 and a1 into one group.
    coordinates = {"a0": (0, 1, 2, 3), "b0": (0, 1, 4, 5), "c0": (4, 5, 6, 7), "a1": (6, 7, 8, 9)}
    coordinates |= {"a9": (10, 11, 12, 13), "b9": (14, 15, 16, 17), "c9": (18, 19, 20, 21)}  # the seed
    embeddings = {name: torch.zeros(22).index_fill(0, torch.tensor(own), 0.5) for name, own in coordinates.items()}
    results = set()
    for names in permutations("abc"):
        for step in (1, -1):
            kgs = []
            for name in names:
                entities = sorted((entity for entity in coordinates if entity[0] == name), reverse=step < 0)
                triples = np.array([[0, 0, 1]], dtype=np.int32)
                kgs.append(KnowledgeGraph(name, pl.Series(entities), pl.Series(["r"]), triples))
            task = Task(kgs, Groups.from_names(kgs, [{name: f"{name}9" for name in names}]))
            order = torch.stack([embeddings[entity] for kg in kgs for entity in kg.entities])
            alignment = unaligned(task, order).with_enhancement(Enhancement("none"))
            assert len(alignment.found.groups)
            results.add(frozenset(named(alignment.found.groups, task)))
    assert len(results) == 1


def test_repeated_entities_that_share_the_score_of_a_counterpart_have_its_total() -> None:
    values = torch.tensor([[0.5, 0.0], [0.4, 0.0], [0.0, 0.2]])  # the first two repeat each other
    scores = {(0, 1): Dense(values), (1, 0): Dense(values.t())}
    pools = [np.arange(3), np.arange(2)]
    matches = mutual_matches(scores, pools)
    assert matches.score.tolist() == pytest.approx([0.5, 0.2])
    assert total_scores(matches, scores, pools, [0]).tolist() == pytest.approx([0.9, 0.2])
    assert total_scores(matches, scores, pools, [1]).tolist() == pytest.approx([0.5, 0.2])


@pytest.mark.parametrize("seed", range(5))
def test_contradictory_matches_are_joined_one_after_the_other_the_best_first(seed: int) -> None:
    rng, kgs, size = np.random.default_rng(seed), 4, 60
    owner = np.repeat(np.arange(kgs), size)
    ends = rng.integers(0, kgs * size, (2, 300))
    ends = np.sort(ends[:, owner[ends[0]] != owner[ends[1]]], axis=0)
    score, position = np.linspace(1, 0, ends.shape[1]), np.tile(np.arange(size), kgs)
    matches = Matches(ends[0], ends[1], score, owner, position)
    group_of = {at: frozenset([at]) for at in range(kgs * size)}
    for one, other in ends.T.tolist():
        both = group_of[one] | group_of[other]
        if len({int(owner[at]) for at in both}) == len(both):
            group_of |= dict.fromkeys(both, both)
    expected = {frozenset((int(owner[at]), at % size) for at in group) for group in group_of.values() if len(group) > 1}
    rows = join_matches(matches, tuple("abcd")).members.tolist()
    assert {frozenset((kg, at) for kg, at in enumerate(row) if at >= 0) for row in rows} == expected
