"""align with a trained encoder: repeatable, independent of order, and never influenced by held-out groups."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
import torch

import multiea
from multiea import Alignment, Enhancement, Groups, InputError, KnowledgeGraph, Task
from multiea.grouping.found_groups import FoundGroups
from support.embeddings import canonical
from support.metrics import flat_scores
from support.quick import FEW_EPOCHS
from support.shuffling import Shuffling, shuffled_task


@pytest.fixture(scope="module")
def aligned(small: Task) -> Alignment:
    return multiea.align(small, engine="multiea", training=FEW_EPOCHS)


def test_training_learns_something(small: Task, aligned: Alignment) -> None:
    scores = aligned.evaluate()
    untrained = multiea.align(small, engine="multiea", training=replace(FEW_EPOCHS, learning_rate=1e-9)).evaluate()
    assert scores["m_hits"]["test"]["10"] > 3 * untrained["m_hits"]["test"]["10"]
    assert aligned.history["losses"][-1] < aligned.history["losses"][0] / 2
    assert 0 < scores["pairs"]["f1"] <= 1


def test_the_same_random_state_gives_the_same_result(small: Task, aligned: Alignment) -> None:
    again = multiea.align(small, engine="multiea", training=FEW_EPOCHS)
    assert torch.equal(again.embeddings, aligned.embeddings)
    assert again.groups.equals(aligned.groups)
    other = multiea.align(small, engine="multiea", training=FEW_EPOCHS, random_state=1)
    assert not torch.equal(other.embeddings, aligned.embeddings)


@pytest.fixture(scope="module")
def aligned_shuffled(small: Task) -> Alignment:
    shuffled = shuffled_task(small)
    assert shuffled.kg_names != small.kg_names
    return multiea.align(shuffled, engine="multiea", training=FEW_EPOCHS)


@pytest.mark.parametrize("mode", ["none", "product", "profile", "sharpened"])
def test_the_order_of_entities_kgs_and_groups_changes_no_score(
    aligned: Alignment, aligned_shuffled: Alignment, mode: str
) -> None:
    one, other = (flat_scores(a.with_enhancement(Enhancement(mode))) for a in (aligned, aligned_shuffled))
    assert other == pytest.approx(one, abs=1e-6)


def test_held_out_groups_do_not_influence_training(small: Task, aligned: Alignment, other_answers: Groups) -> None:
    """With other held-out groups, or none, exactly the same is learned."""
    for held_out in (other_answers, Groups.empty(small.kg_names)):
        other = multiea.align(Task(small.kgs, small.seeds, held_out), engine="multiea", training=FEW_EPOCHS)
        assert torch.equal(other.embeddings, aligned.embeddings)
        assert other.history["best_epoch"] == aligned.history["best_epoch"]


def test_groups_have_at_most_one_entity_per_kg_and_each_entity_is_in_one_group(small: Task, aligned: Alignment) -> None:
    table = aligned.groups
    assert table.columns == ["group_id", "kg", "entity", "name", "confidence", "status"]
    assert table.select("group_id", "kg").is_duplicated().sum() == 0
    assert table.select("kg", "entity").is_duplicated().sum() == 0
    assert table["confidence"].is_between(0, 1).all()
    seeds = table.filter(pl.col("status") == "seed")
    assert seeds["group_id"].n_unique() == len(small.seeds)


def test_group_ids_depend_only_on_members(small: Task, aligned: Alignment) -> None:
    order = Shuffling.of(small, seed=1)
    other = replace(
        aligned,
        task=order.task,
        canonical_embeddings=canonical(order.task, order.embeddings(aligned.embeddings)),
        found=FoundGroups.empty(order.task.kg_names),
    )
    ids = set(aligned.groups.filter(pl.col("status") == "seed")["group_id"])
    assert set(other.groups["group_id"]) == ids


@pytest.mark.parametrize("strategy", ["each", "anchor", "mean"])
def test_partial_seeds_two_kgs_and_isolated_entities_are_accepted(strategy: str) -> None:
    kgs = [
        KnowledgeGraph.from_triples(
            f"kg{k}", [(f"{i}", "r", f"{(i * 7 + 1) % 40}") for i in range(40)], entities=["isolated"]
        )
        for k in range(3)
    ]
    rows = [{f"kg{k}": f"{i}" for k in range(3) if (i + k) % 3} for i in range(20)]
    alignment = multiea.align(
        Task(kgs, Groups.from_names(kgs, rows)), engine="multiea", training=replace(FEW_EPOCHS, strategy=strategy)
    )
    assert torch.isfinite(alignment.embeddings).all()
    pair = multiea.align(
        Task(kgs[:2], Groups.from_names(kgs[:2], [{"kg0": "1", "kg1": "1"}])), engine="multiea", training=FEW_EPOCHS
    )
    assert torch.isfinite(pair.embeddings).all()


@pytest.mark.parametrize(
    ("engine", "mode"),
    [("multiea", mode) for mode in ("none", "product", "profile", "sharpened")]
    + [("propagation", mode) for mode in ("none", "profile", "sharpened")],
)
@pytest.mark.filterwarnings("error")
def test_a_kg_whose_entities_are_all_seeds_is_accepted(engine: str, mode: str) -> None:
    sizes = {"kg0": 30, "kg1": 30, "kg2": 12}
    kgs = [
        KnowledgeGraph.from_triples(name, [(f"{i}", "r", f"{(i * 7 + 1) % size}") for i in range(size)])
        for name, size in sizes.items()
    ]
    seeds = Groups.from_names(kgs, [dict.fromkeys(sizes, f"{i}") for i in range(12)])
    held_out = Groups.from_names(kgs, [{"kg0": f"{i}", "kg1": f"{i}"} for i in range(12, 30)])
    scores = multiea.align(
        Task(kgs, seeds, held_out),
        engine=engine,
        training=FEW_EPOCHS if engine == "multiea" else None,
        enhancement=mode,
        duplicates=["kg0", "kg2"],
        random_state=2**63 - 1,
    ).evaluate()
    assert scores["m_hits"]["all"]["1"] is None  # no complete group is held out
    assert scores["hits"]["all"]["kg0-kg2"]["1"] is None
    assert 0 <= scores["hits"]["all"]["kg0-kg1"]["10"] <= 1
    json.dumps(scores, allow_nan=False)


def test_evaluating_against_other_kgs_or_seeds_is_refused(small: Task, aligned: Alignment) -> None:
    reordered = Groups(small.kg_names[::-1], small.held_out.members[:, ::-1])
    with pytest.raises(InputError, match="the task's KGs in its order"):
        aligned.evaluate(reordered)
    with pytest.raises(InputError, match="in two groups"):
        aligned.evaluate(small.known)
