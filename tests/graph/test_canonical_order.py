"""Canonical order: the same for every order of a task, and a round trip back to the given order."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from multiea import Groups, Task
from multiea.data.open_seeds import OpenSeeds
from multiea.graph.canonical_order import CanonicalOrder, sorted_groups
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.found_groups import FoundGroups
from support.datasets import named
from support.shuffling import Shuffling


@pytest.fixture(scope="module")
def task(small: Task) -> Task:
    """A task with seeds, held-out groups, validation groups and open seeds."""
    split = Task(small.kgs, small.seeds).split(0.6, 0.2, random_state=1)
    looked_in = ~split.held_out.present
    is_open = np.asarray(looked_in.any(axis=1))
    open_seeds = OpenSeeds(split.held_out.take(is_open), looked_in[is_open])
    assert len(open_seeds)
    return Task(small.kgs, split.seeds, small.held_out, split.validation, open_seeds)


def found_groups(task: Task, seed: int = 0) -> FoundGroups:
    """The held-out groups with random confidences of members and pairs."""
    rng, groups = np.random.default_rng(seed), task.held_out
    found = FoundGroups.from_members(groups, np.where(groups.present, rng.random(groups.members.shape), 0))
    noise = rng.random(found.pair_confidence.shape)
    matched = found.matched & (noise + noise.transpose(0, 2, 1) < 1)
    pair_confidence = np.where(np.isnan(found.pair_confidence), np.nan, (noise + noise.transpose(0, 2, 1)) / 2)
    return FoundGroups(groups, found.confidence, pair_confidence, matched)


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_tasks_have_equal_canonical_tasks(task: Task, seed: int) -> None:
    one, other = CanonicalOrder.of(task).canonical, CanonicalOrder.of(Shuffling.of(task, seed).task).canonical
    assert one.kg_names == other.kg_names == tuple(sorted(task.kg_names))
    for kg, same in zip(one.kgs, other.kgs, strict=True):
        assert kg.entities.to_list() == same.entities.to_list() == sorted(kg.entities.to_list())
        assert kg.relations.to_list() == same.relations.to_list() == sorted(kg.relations.to_list())
        assert sorted(map(tuple, kg.triples.tolist())) == sorted(map(tuple, same.triples.tolist()))
    for name in ("seeds", "held_out", "validation"):
        np.testing.assert_array_equal(getattr(one, name).members, getattr(other, name).members)
    np.testing.assert_array_equal(one.open_seeds.groups.members, other.open_seeds.groups.members)
    np.testing.assert_array_equal(one.open_seeds.looked_in, other.open_seeds.looked_in)


def test_the_canonical_task_has_the_same_groups_and_triples_by_name(task: Task) -> None:
    shuffled = Shuffling.of(task, seed=2).task
    canonical = CanonicalOrder.of(shuffled).canonical
    for name in ("seeds", "held_out", "validation"):
        assert named(getattr(canonical, name), canonical) == named(getattr(task, name), task)
    assert named(canonical.open_seeds.groups, canonical) == named(task.open_seeds.groups, task)
    by_name = {kg.name: kg for kg in task.kgs}
    for kg in canonical.kgs:
        assert set(kg.named_triples().iter_rows()) == set(by_name[kg.name].named_triples().iter_rows())


def test_canonical_groups_are_sorted_by_their_members(task: Task) -> None:
    canonical = CanonicalOrder.of(Shuffling.of(task, seed=2).task).canonical
    for groups in (canonical.seeds, canonical.held_out, canonical.validation):
        np.testing.assert_array_equal(sorted_groups(groups).members, groups.members)


def test_rows_of_all_entities_survive_a_round_trip_and_canonical_ones_do_not_depend_on_the_order(task: Task) -> None:
    embeddings = torch.arange(2 * int(task.entity_offsets[-1])).view(-1, 2).float()
    given = CanonicalOrder.of(task)
    shuffling = Shuffling.of(task, seed=2)
    shuffled = CanonicalOrder.of(shuffling.task)
    own, others = embeddings, shuffling.embeddings(embeddings)
    assert not torch.equal(own, others)
    assert torch.equal(own[given.given_ids()], others[shuffled.given_ids()])
    for order in (given, shuffled):
        np.testing.assert_array_equal(order.canonical_ids()[order.given_ids()], np.arange(len(embeddings)))
        np.testing.assert_array_equal(order.given_ids()[order.canonical_ids()], np.arange(len(embeddings)))


def test_joint_ids_belong_to_the_same_entity_in_both_orders(task: Task) -> None:
    order = CanonicalOrder.of(Shuffling.of(task, seed=2).task)

    def names(one: Task) -> list[tuple[str, str]]:
        return [(kg.name, entity) for kg in one.kgs for entity in kg.entities]

    canonical = names(order.canonical)
    assert [canonical[at] for at in order.canonical_ids()] == names(order.given)


def test_groups_survive_a_round_trip_row_by_row(task: Task) -> None:
    order = CanonicalOrder.of(Shuffling.of(task, seed=2).task)
    given = order.given.held_out
    canonical = order.groups_to_canonical(given)
    assert canonical.kg_names == order.canonical.kg_names
    names = given.to_table(order.given.kgs).select(sorted(given.kg_names))
    assert canonical.to_table(order.canonical.kgs).select(sorted(given.kg_names)).equals(names)
    empty = order.groups_to_canonical(Groups.empty(order.given.kg_names))
    assert empty.members.shape == (0, len(task.kgs))


def test_found_groups_and_duplicates_survive_a_round_trip(task: Task) -> None:
    order = CanonicalOrder.of(Shuffling.of(task, seed=2).task)
    found = found_groups(order.given)
    canonical = found.renumbered(order.canonical_positions, order.given_columns, order.canonical.kg_names)
    np.testing.assert_array_equal(canonical.groups.members, order.groups_to_canonical(order.given.held_out).members)
    back = sorted(range(len(task.kgs)), key=lambda kg: order.given_columns[kg])
    again = canonical.renumbered(order.given_positions, back, order.given.kg_names)
    np.testing.assert_array_equal(again.groups.members, found.groups.members)
    for name in ("confidence", "pair_confidence", "matched"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    columns = list(order.given_columns)
    np.testing.assert_array_equal(canonical.confidence, found.confidence[:, columns])
    np.testing.assert_array_equal(canonical.matched, found.matched[:, columns][:, :, columns])
    duplicates = Duplicates(np.arange(3), np.arange(3), np.array([5, 6, 7], dtype=np.int32), np.ones(3))
    moved = duplicates.renumbered(order.canonical_positions, order.given_columns)
    for kg, entity, new_kg, new_entity in zip(duplicates.kg, duplicates.entity, moved.kg, moved.entity, strict=True):
        assert order.given.kgs[kg].name == order.canonical.kgs[new_kg].name
        assert order.given.kgs[kg].entities[int(entity)] == order.canonical.kgs[new_kg].entities[int(new_entity)]
    same = moved.renumbered(order.given_positions, back)
    np.testing.assert_array_equal(same.kg, duplicates.kg)
    np.testing.assert_array_equal(same.entity, duplicates.entity)
