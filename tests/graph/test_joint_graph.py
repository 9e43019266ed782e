"""The joint graph: all KGs in one id space."""

from __future__ import annotations

import numpy as np

from multiea.graph.joint_graph import joint_graph
from support.tasks import tiny_task


def test_the_graph_contains_each_neighbour_once_and_each_entity_as_its_own_neighbour() -> None:
    task = tiny_task()
    graph = joint_graph(task)
    edges = list(zip(graph.entity.tolist(), graph.relation.tolist(), graph.neighbour.tolist(), strict=True))
    assert len(edges) == len(set(edges))
    own = {(i, graph.relations - 1, i) for i in range(graph.entities)}
    assert own <= set(edges)
    assert {(j, k, i) for i, k, j in edges} == set(edges)  # undirected


def test_members_of_groups_get_joint_ids_and_absent_ones_stay_absent() -> None:
    task = tiny_task()
    graph = joint_graph(task)
    ids = graph.joint_ids(task.seeds).numpy()
    assert ((ids < 0) == (task.seeds.members < 0)).all()
    local = ids - np.array(graph.entity_offsets[:-1])
    present = task.seeds.present
    assert (local[present] == task.seeds.members[present]).all()


def test_degrees_count_neighbours_other_than_the_entity_itself() -> None:
    task = tiny_task()
    graph = joint_graph(task)
    isolated = [
        int(offset) + kg.entities.to_list().index("isolated")
        for kg, offset in zip(task.kgs, graph.entity_offsets, strict=False)
    ]
    degrees = graph.degrees()
    assert degrees[isolated].tolist() == [0, 0, 0]
    assert int(degrees.sum()) == len(graph.entity) - graph.entities
