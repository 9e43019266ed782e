"""Scores: ranks against a plain reference, ties, chance level, and that no order carries information."""

from itertools import permutations

import numpy as np
import pytest
import torch
from test_grouping import group_mutual_matches
from torch.nn.functional import normalize

from multiea import Groups, KnowledgeGraph, Task
from multiea.evaluation.ranks import hits, m_hits, mean_rank, mean_reciprocal_rank, tie_aware_ranks
from multiea.evaluation.scores import POOLS, pool_of_candidates, ranks_of_groups, scores_by_rank
from multiea.graph.joint_graph import places_by_name
from multiea.grouping.alignment import pool_similarities
from multiea.grouping.judging import scores_of_groups, scores_of_pairs
from multiea.similarity.enhancement import MODES, Enhancement
from multiea.similarity.sparse_scores import SparseScores


def related_task(kgs: int = 3, entities: int = 60, seed: int = 0) -> tuple[Task, torch.Tensor]:
    """KGs whose embeddings of equal number resemble each other; some groups are partial, some entities alone."""
    rng = np.random.default_rng(seed)
    graphs = [
        KnowledgeGraph.from_triples(f"kg{kg}", [(f"{kg}-{i}", "r", f"{kg}-{i + 1}") for i in range(entities - 1)])
        for kg in range(kgs)
    ]
    rows = [{f"kg{kg}": f"{kg}-{i}" for kg in range(kgs) if kg < 2 or rng.random() < 0.7} for i in range(entities - 10)]
    task = Task(graphs, Groups.from_names(graphs, rows)).split(0.3, random_state=seed)
    centres = rng.normal(size=(entities, 8))
    parts = []
    for kg in graphs:
        number = [int(name.split("-")[1]) for name in kg.entities]
        parts.append(centres[number] + 0.7 * rng.normal(size=(entities, 8)))
    return task, normalize(torch.from_numpy(np.concatenate(parts)).float())


def shuffled(task: Task, embeddings: torch.Tensor, seed: int) -> tuple[Task, torch.Tensor]:
    """The same task with entities, groups and KGs in another order."""
    rng = np.random.default_rng(seed)
    order_of_kgs = np.roll(np.arange(len(task.kgs)), 1 + rng.integers(len(task.kgs) - 1))  # never the given one
    starts = np.cumsum([0, *(len(kg.entities) for kg in task.kgs)])
    kgs, parts, places = {}, {}, {}
    for number, kg in enumerate(task.kgs):
        order = rng.permutation(len(kg.entities))
        place = places[number] = np.argsort(order).astype(np.int32)
        triples = np.column_stack([place[kg.triples[:, 0]], kg.triples[:, 1], place[kg.triples[:, 2]]])
        kgs[number] = KnowledgeGraph(kg.name, kg.entities.gather(order), kg.relations, rng.permutation(triples))
        parts[number] = embeddings[starts[number] : starts[number + 1]][torch.from_numpy(order)]

    def moved(groups: Groups) -> Groups:
        columns = []
        for kg in order_of_kgs:
            members = groups.members[:, kg]
            columns.append(np.where(members < 0, -1, places[kg][members]))
        names = tuple(task.kg_names[kg] for kg in order_of_kgs)
        return Groups(names, rng.permutation(np.stack(columns, axis=1)).astype(np.int32))

    other = Task([kgs[kg] for kg in order_of_kgs], moved(task.seeds), moved(task.held_out), name=task.name)
    return other, torch.cat([parts[kg] for kg in order_of_kgs])


def all_scores(task: Task, embeddings: torch.Tensor, mode: str, pool: str) -> dict[str, float]:
    matrices, pools = pool_similarities(task, embeddings, Enhancement(mode=mode), pool, task.held_out)
    by_rank = scores_by_rank(ranks_of_groups(matrices, pools, task.held_out), task.kg_names)
    flat = {f"m_hits {k}": value for k, value in by_rank["m_hits"].items()}
    for score in ("mrr", "mean_rank", "hits"):
        for pair, value in by_rank[score].items():
            name = " ".join(sorted(pair.split("-")))
            for k, v in value.items() if isinstance(value, dict) else [("", value)]:
                flat[f"{score} {name} {k}"] = v
    found = group_mutual_matches(matrices, pools, task.kg_names, places_by_name(task))
    for name, scores in (("pairs", scores_of_pairs), ("groups", scores_of_groups)):
        flat |= {f"{name} {k}": v for k, v in scores(found.groups, task.held_out).items()}
    return flat


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("kgs", [2, 3, 4])
def test_scores_do_not_change_when_entities_kgs_and_groups_are_reordered(mode: str, pool: str, kgs: int) -> None:
    task, embeddings = related_task(kgs)
    expected = all_scores(task, embeddings, mode, pool)
    assert 0.05 < expected["m_hits 10"] <= 1
    for seed in range(3):
        assert all_scores(*shuffled(task, embeddings, seed), mode, pool) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_random_embeddings_score_at_chance_level(mode: str) -> None:
    task, embeddings = related_task(3, entities=410)
    random = normalize(torch.randn(embeddings.shape, generator=torch.Generator().manual_seed(5)))
    scores = all_scores(task, random, mode, "test")
    count = len(task.held_out)
    assert scores["hits kg0 kg1 10"] == pytest.approx(10 / count, abs=0.03)
    assert scores["mean_rank kg0 kg1 "] == pytest.approx((count + 1) / 2, rel=0.12)
    assert scores["m_hits 10"] < 0.02


def literal_rank(scores: list[float], true: int) -> float:
    """The mean place of the true candidate over all orders of those that tie with it, counted one by one."""
    better = sum(score > scores[true] for score in scores)
    ties = sum(score == scores[true] for score in scores)
    return better + sum(range(1, ties + 1)) / ties


def test_ranks_match_a_plain_reference_ties_included() -> None:
    rng = np.random.default_rng(0)
    scores = torch.from_numpy(rng.integers(0, 6, (50, 20))).float()
    true = torch.from_numpy(rng.integers(0, 20, 50))
    ranks = tie_aware_ranks(scores, true)
    assert ranks.tolist() == [literal_rank(row, t) for row, t in zip(scores.tolist(), true.tolist(), strict=True)]


def test_ranks_among_a_few_scores_are_those_of_the_whole_rows() -> None:
    rng = np.random.default_rng(0)
    keys, values = rng.choice(13 * 17, 60, replace=False), rng.integers(0, 4, 60)
    scores = SparseScores.summed(torch.from_numpy(keys), torch.from_numpy(values).float(), (13, 17))
    row, column = torch.from_numpy(rng.permutation(13)[:9]), torch.from_numpy(rng.integers(0, 17, 9))
    whole = scores.rows(row).tolist()
    expected = [literal_rank(of_row, true) for of_row, true in zip(whole, column.tolist(), strict=True)]
    assert scores.ranks(row, column).tolist() == expected
    broken = scores.with_values(torch.full_like(scores.values, torch.nan))
    assert broken.ranks(scores.row[:1], scores.column[:1]).item() > 1


def test_equal_scores_for_everyone_give_the_middle_rank_not_the_first() -> None:
    assert tie_aware_ranks(torch.zeros(1, 9), torch.tensor([0])).item() == 5


def test_ranks_of_a_task_match_a_loop_over_all_entities() -> None:
    task, embeddings = related_task(3, entities=25)
    matrices, pools = pool_similarities(task, embeddings, Enhancement(mode="none"), "all", task.held_out)
    ranks = ranks_of_groups(matrices, pools, task.held_out)
    starts = np.cumsum([0, *(len(kg.entities) for kg in task.kgs)])
    for a, b in permutations(range(3), 2):
        candidates = [i for i in range(len(task.kgs[b].entities)) if i not in set(task.seeds.members[:, b].tolist())]
        for row, group in enumerate(task.held_out.members.tolist()):
            if group[a] < 0 or group[b] < 0:
                assert torch.isnan(ranks[a, b][row])
                continue
            query = embeddings[starts[a] + group[a]]
            distances = [float((query - embeddings[starts[b] + i]).norm()) for i in candidates]
            assert ranks[a, b][row] == literal_rank([-d for d in distances], candidates.index(group[b]))


def test_pools_hold_what_they_say() -> None:
    task, _ = related_task(3)
    sizes = [len(kg.entities) for kg in task.kgs]
    for kg in range(3):
        seeds = set(task.seeds.members[:, kg].tolist()) - {-1}
        held_out = set(task.held_out.members[:, kg].tolist()) - {-1}
        test, everyone = (pool_of_candidates(pool, sizes, task.seeds, task.held_out)[kg] for pool in POOLS)
        assert set(test.tolist()) == held_out
        assert set(everyone.tolist()) == set(range(sizes[kg])) - seeds


def test_m_hits_asks_for_all_counterparts_and_averages_over_kgs() -> None:
    ranks = {pair: torch.tensor([1.0, 1.0]) for pair in permutations(range(3), 2)}
    ranks[0, 1] = ranks[0, 2] = torch.tensor([1.0, 5.0])  # asked from KG 0, the second group fails twice
    assert m_hits(ranks, 3, [1, 5]) == {1: pytest.approx((0.5 + 1 + 1) / 3), 5: 1}


def test_partial_groups_count_in_hits_of_their_pairs_and_not_in_m_hits() -> None:
    nothing = torch.nan
    ranks = {pair: torch.tensor([1.0, nothing], dtype=torch.float64) for pair in permutations(range(3), 2)}
    ranks[0, 1] = ranks[1, 0] = torch.tensor([1.0, 5.0], dtype=torch.float64)  # the second group lacks KG 2
    scores = scores_by_rank(ranks, ("a", "b", "c"))
    assert scores["m_hits"]["1"] == 1
    assert scores["hits"]["a-b"]["1"] == 0.5
    assert scores["hits"]["a-c"]["1"] == 1
    assert scores["mean_rank"]["a-b"] == 3
    assert scores["hits"]["overall"]["1"] == 0.75


def test_what_is_not_a_number_ranks_last() -> None:
    scores = torch.tensor([[0.1, torch.nan, 0.3], [torch.nan, torch.nan, torch.nan]])
    assert tie_aware_ranks(scores, torch.tensor([1, 0])).tolist() == [3, 2]


def test_simple_scores() -> None:
    ranks = torch.tensor([1.0, 2.0, 4.0, 11.0])
    assert hits(ranks, 2) == 0.5
    assert mean_rank(ranks) == 4.5
    assert mean_reciprocal_rank(ranks) == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 11) / 4)


def groups(*rows: tuple[int, int, int]) -> Groups:
    return Groups(("a", "b", "c"), np.array(rows, dtype=np.int32).reshape(-1, 3))


def test_pairs_are_judged_only_where_something_is_known() -> None:
    held_out = groups((0, 0, 0), (1, 1, -1), (2, -1, 2))
    found = groups(
        (0, 0, 5),  # a-b right; a-c and b-c wrong: c's counterpart is 0
        (1, 9, 9),  # a-b wrong; a-c and b-c unknown
        (7, 7, 7),  # nothing known
        (2, 8, 2),  # a-c right; a-b unknown; b-c unknown
    )
    scores = scores_of_pairs(found, held_out)
    assert scores["precision"] == pytest.approx(2 / 5)
    assert scores["recall"] == pytest.approx(2 / 5)  # 3 + 1 + 1 pairs are known


def test_a_group_is_right_where_it_equals_a_held_out_one_on_the_kgs_known() -> None:
    held_out = groups((0, 0, 0), (1, 1, -1), (2, -1, 2), (3, 3, 3))
    found = groups(
        (0, 0, 0),  # right
        (1, 1, 8),  # right: c is not known
        (2, 5, -1),  # wrong: c is missing
        (3, -1, 9),  # wrong
        (6, 6, -1),  # not judged
    )
    scores = scores_of_groups(found, held_out)
    assert scores["precision"] == pytest.approx(2 / 4)
    assert scores["recall"] == pytest.approx(2 / 4)


def test_nothing_found_scores_zero() -> None:
    assert scores_of_pairs(groups(), groups((0, 0, 0)))["f1"] == 0
    assert scores_of_groups(groups(), groups((0, 0, 0)))["f1"] == 0
