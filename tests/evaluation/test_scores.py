"""Scores of an alignment: no order carries information, random embeddings score at chance level."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from torch.nn.functional import normalize

from multiea import Enhancement
from multiea.evaluation.scores import ranks_of_groups
from multiea.settings.enhancement import ENHANCEMENT_MODES
from multiea.similarity.pools import POOLS, candidate_pools
from support.metrics import flat_scores
from support.ranking import literal_rank
from support.shuffling import Shuffling
from support.tasks import related_task, unaligned


@pytest.mark.parametrize("mode", ENHANCEMENT_MODES)
@pytest.mark.parametrize("kgs", [2, 3, 4])
def test_scores_do_not_change_when_entities_kgs_and_groups_are_reordered(mode: str, kgs: int) -> None:
    task, embeddings = related_task(kgs)
    expected = flat_scores(unaligned(task, embeddings).with_enhancement(Enhancement(mode)))
    for pool in POOLS:
        assert 0.05 < expected[f"m_hits {pool} 10"] <= 1
    for seed in range(3):
        order = Shuffling.of(task, seed)
        shuffled = unaligned(order.task, order.embeddings(embeddings)).with_enhancement(Enhancement(mode))
        assert flat_scores(shuffled) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("mode", ENHANCEMENT_MODES)
def test_random_embeddings_score_at_chance_level(mode: str) -> None:
    task, embeddings = related_task(3, entities=410)
    random = normalize(torch.randn(embeddings.shape, generator=torch.Generator().manual_seed(5)))
    scores = flat_scores(unaligned(task, random).with_enhancement(Enhancement(mode)))
    count = len(task.held_out)
    assert scores["hits test kg0 kg1 10"] == pytest.approx(10 / count, abs=0.03)
    assert scores["mean_rank test kg0 kg1"] == pytest.approx((count + 1) / 2, rel=0.12)
    assert scores["m_hits test 10"] < 0.02


def test_ranks_of_a_task_match_a_loop_over_all_entities() -> None:
    task, embeddings = related_task(3, entities=25)
    alignment = unaligned(task, embeddings).with_enhancement(Enhancement("none"))
    ranks = ranks_of_groups(*alignment.similarities("all"), task.held_out)
    starts = task.entity_offsets
    for a, b in permutations(range(3), 2):
        candidates = [i for i in range(len(task.kgs[b].entities)) if i not in set(task.seeds.members[:, b].tolist())]
        for row, group in enumerate(task.held_out.members.tolist()):
            if group[a] < 0 or group[b] < 0:
                assert torch.isnan(ranks[a, b][row])
                continue
            query = embeddings[starts[a] + group[a]]
            distances = [float((query - embeddings[starts[b] + i]).norm()) for i in candidates]
            assert ranks[a, b][row] == literal_rank([-d for d in distances], candidates.index(group[b]))


def test_pools_contain_held_out_members_or_all_non_seed_entities() -> None:
    task, _ = related_task(3)
    for kg in range(3):
        seeds = set(task.seeds.members[:, kg].tolist()) - {-1}
        held_out = set(task.held_out.members[:, kg].tolist()) - {-1}
        test, everyone = (candidate_pools(pool, task, task.seeds, task.held_out)[kg] for pool in POOLS)
        assert set(test.tolist()) == held_out
        assert set(everyone.tolist()) == set(range(len(task.kgs[kg].entities))) - seeds


def test_pools_of_a_shuffled_task_contain_the_same_entities_in_canonical_order() -> None:
    task, embeddings = related_task(3)
    order = Shuffling.of(task, seed=4)
    for pool in POOLS:
        by_name = []
        for one in (unaligned(task, embeddings), unaligned(order.task, order.embeddings(embeddings))):
            _, pools = one.similarities(pool)
            by_name.append(
                {kg.name: kg.entities.gather(own).to_list() for kg, own in zip(one.task.kgs, pools, strict=True)}
            )
        assert by_name[0] == by_name[1]
        assert all(names == sorted(names) for names in by_name[0].values())
