"""What must not influence an alignment by names and attributes: order, ids of tables, held-out groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from multiea import Alignment, Groups, Task
from support.evidence_tasks import dealt_anew, found_members, with_random_ids, without_seeds
from support.metrics import flat_scores
from support.quick import align
from support.shuffling import Shuffling


def with_seeds(task: Task) -> Task:
    return task


def few_seeds(task: Task) -> Task:
    """Too few for validation seeds, which are drawn in the order of ids."""
    return Task(task.kgs, task.seeds.take(np.arange(len(task.seeds)) < 10), task.held_out)


@pytest.fixture(scope="module", params=["described", "tables"])
def task(request: pytest.FixtureRequest) -> Task:
    given: Task = request.getfixturevalue(request.param)
    return given


@pytest.fixture(scope="module", params=[with_seeds, without_seeds])
def aligned(task: Task, request: pytest.FixtureRequest) -> Alignment:
    """An alignment with all evidence; seeds teach weights where there are some."""
    alignment = align(request.param(task))
    has_seeds = len(alignment.task.seeds) > 0
    assert (alignment.weights.examples > 0) == (alignment.calibration.examples > 0) == has_seeds
    assert len(found_members(alignment)) > 40
    return alignment


def test_the_order_of_entities_kgs_groups_and_rows_changes_no_score_and_no_group(aligned: Alignment) -> None:
    shuffled = Shuffling.of(aligned.task, seed=1).task
    assert shuffled.kg_names != aligned.task.kg_names
    assert shuffled.kgs[0].literals.height > 0
    other = align(shuffled)
    assert flat_scores(other) == pytest.approx(flat_scores(aligned), abs=1e-9)
    assert set(other.groups["group_id"]) == set(aligned.groups["group_id"])
    assert found_members(other) == pytest.approx(found_members(aligned), abs=1e-9)


def test_held_out_groups_reach_nothing(aligned: Alignment) -> None:
    """With other held-out groups, or none, exactly the same is found."""
    task = aligned.task
    for held_out in (dealt_anew(task.held_out), Groups.empty(task.kg_names)):
        other = align(Task(task.kgs, task.seeds, held_out, name=task.name))
        assert_same_result(other, aligned)


def test_bootstrapping_within_test_entities_uses_no_link_between_them(described: Task) -> None:
    given = align(described, bootstrap="test")
    other = align(Task(described.kgs, described.seeds, dealt_anew(described.held_out)), bootstrap="test")
    assert_same_result(other, given)


@pytest.mark.parametrize("known", [few_seeds, without_seeds])
def test_the_ids_of_tables_carry_no_meaning(tables: Task, known: Callable[[Task], Task]) -> None:
    given = known(tables)
    renamed, old = with_random_ids(given)
    one, other = found_members(align(given)), found_members(align(renamed), old)
    assert len(one) > 40
    assert other == pytest.approx(one, abs=1e-6)


def assert_same_result(one: Alignment, other: Alignment) -> None:
    assert torch.equal(one.embeddings, other.embeddings)
    assert one.groups.equals(other.groups)
    assert one.weights == other.weights
    assert one.calibration == other.calibration
