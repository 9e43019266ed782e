"""AlignmentResult: its tables, the group of each entity, and an alignment that found nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from multiea import AlignSettings, Groups, KnowledgeGraph, Task
from multiea.data.open_seeds import OpenSeeds
from multiea.engines.embeddings import Embeddings
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.found_groups import FoundGroups


@pytest.fixture
def task() -> Task:
    """KGs a, b and c with 6, 5 and 4 entities."""
    kgs = []
    for name, size in (("a", 6), ("b", 5), ("c", 4)):
        kgs.append(KnowledgeGraph.from_triples(name, [(f"{name}{i}", "r", f"{name}{i + 1}") for i in range(size - 1)]))
    names = ("a", "b", "c")
    seeds = Groups(names, np.array([[0, 0, 0], [1, -1, 1]], dtype=np.int32))
    held_out = Groups(names, np.array([[2, 2, 2]], dtype=np.int32))
    return Task(kgs, seeds, held_out)


def result(task: Task, found: list[list[int]]) -> AlignmentResult:
    groups = Groups(task.kg_names, np.array(found, dtype=np.int32).reshape(-1, 3))
    members = FoundGroups.from_members(groups, np.where(groups.present, 0.5, 0))
    embeddings = Embeddings(torch.zeros(int(task.entity_offsets[-1]), 2))
    return AlignmentResult(task, members, embeddings, AlignSettings.default())


def test_group_rows_give_the_group_of_each_entity_and_joint_ids_of_members(task: Task) -> None:
    row, members = result(task, [[2, 2, 2], [-1, 3, 3]]).group_rows()
    assert members.tolist() == [[0, 6, 11], [1, -1, 12], [2, 8, 13], [-1, 9, 14]]
    assert row.tolist() == [0, 1, 2, -1, -1, -1, 0, -1, 2, 3, -1, 0, 1, 2, 3]


def test_duplicates_belong_to_the_group_of_their_member(task: Task) -> None:
    duplicates = Duplicates(np.array([0, 1]), np.array([0, 1]), np.array([4, 4], dtype=np.int32), np.full(2, 0.4))
    row, members = replace(result(task, [[2, 2, 2], [-1, 3, 3]]), duplicates=duplicates).group_rows()
    assert row.tolist() == [0, 1, 2, -1, 2, -1, 0, -1, 2, 3, 3, 0, 1, 2, 3]
    assert members.shape == (4, 3)


def test_completed_open_seeds_count_as_known_groups(task: Task) -> None:
    known = Groups(task.kg_names, np.array([[5, 4, -1]], dtype=np.int32))
    with_open = Task(task.kgs, task.seeds, None, open_seeds=OpenSeeds(known, np.array([[False, False, True]])))
    completed = Groups(task.kg_names, np.array([[5, 4, 3]], dtype=np.int32))
    alignment = replace(
        result(with_open, [[2, 2, 2]]),
        completed_seeds=FoundGroups.from_members(completed, np.array([[1.0, 1.0, 0.7]])),
    )
    row, members = alignment.group_rows()
    assert members.tolist() == [[0, 6, 11], [1, -1, 12], [5, 10, 14], [2, 8, 13]]
    assert row[[5, 10, 14]].tolist() == [2, 2, 2]
    assert row[[2, 8, 13]].tolist() == [3, 3, 3]
    status = dict(zip(alignment.groups["entity"], alignment.groups["status"], strict=True))
    members_of_seed = [kg.entities[at] for kg, at in zip(task.kgs, (5, 4, 3), strict=True)]
    assert [status[entity] for entity in members_of_seed] == ["seed", "seed", "found"]


def test_group_rows_agree_with_the_table_of_groups(task: Task) -> None:
    alignment = result(task, [[2, 2, 2], [-1, 3, 3]])
    row, _ = alignment.group_rows()
    known, found = alignment.group_ids()
    starts = dict(zip(task.kg_names, task.entity_offsets, strict=False))
    kgs = {kg.name: kg.entities.to_list() for kg in task.kgs}
    in_table = {
        int(starts[kg]) + kgs[kg].index(entity): group_id
        for group_id, kg, entity in alignment.groups.select("group_id", "kg", "entity").iter_rows()
    }
    ids = [*known, *found]
    assert {at: ids[group] for at, group in enumerate(row.tolist()) if group >= 0} == in_table


def test_an_alignment_without_found_groups_has_tables_of_its_seeds(task: Task) -> None:
    alignment = result(task, [])
    assert set(alignment.groups["status"]) == {"seed"}
    assert alignment.groups.height == 5
    assert alignment.pairs.height == 4
    row, members = alignment.group_rows()
    assert len(members) == 2
    assert (row >= 0).sum() == 5


def test_an_alignment_without_any_group_has_empty_tables(task: Task) -> None:
    alignment = result(Task(task.kgs), [])
    assert alignment.groups.columns == ["group_id", "kg", "entity", "name", "confidence", "status"]
    assert alignment.groups.height == alignment.pairs.height == 0
    row, members = alignment.group_rows()
    assert (row == -1).all()
    assert members.shape == (0, 3)
