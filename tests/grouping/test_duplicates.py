"""KGs that contain some entities more than once: duplicates join the group of the entity they repeat."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import Groups, KnowledgeGraph, SettingError, Task
from support.quick import align


@pytest.fixture(scope="module")
def repeating(small: Task) -> tuple[Task, dict[str, str]]:
    """The small task with some entities of its first KG repeated, with nine of ten of their triples."""
    kg = small.kgs[0]
    degrees = np.bincount(kg.triples[:, [0, 2]].ravel(), minlength=len(kg.entities))
    held_out = small.held_out.complete.members[:, 0]
    chosen = set(kg.entities[held_out[degrees[held_out] >= 8][:30]])
    names = [kg.entities.to_list(), kg.relations.to_list()]
    triples = [(names[0][h], names[1][r], names[0][t]) for h, r, t in kg.triples]
    rng = np.random.default_rng(0)
    copies = [
        (f"{h} again" if h in chosen else h, r, f"{t} again" if t in chosen else t)
        for h, r, t in triples
        if (h in chosen or t in chosen) and rng.random() < 0.9
    ]
    first = KnowledgeGraph.from_triples(kg.name, [*triples, *copies], entities=names[0])
    kgs = [first, *small.kgs[1:]]
    seeds, held_out_groups = (
        Groups.from_names(kgs, [{k: v for k, v in row.items() if v} for row in groups.to_table(small.kgs).to_dicts()])
        for groups in (small.seeds, small.held_out)
    )
    return Task(kgs, seeds, held_out_groups), {f"{name} again": name for name in chosen}


def test_a_duplicate_joins_the_group_of_the_entity_it_repeats(repeating: tuple[Task, dict[str, str]]) -> None:
    task, original = repeating
    first = task.kgs[0].name
    table = align(task, duplicates=[first]).groups
    together = (
        table.filter(pl.col("kg") == first).group_by("group_id").agg("entity").filter(pl.col("entity").list.len() > 1)
    )
    pairs = [set(row) for row in together["entity"]]
    right = sum({copy, name} in pairs for copy, name in original.items())
    assert right >= 0.6 * len(original)
    assert right >= 0.6 * len(pairs)
    found = table.filter(pl.col("status") == "found")
    assert found.group_by("group_id", "kg").len()["len"].max() == 1
    assert table.filter(pl.col("status") == "duplicate")["confidence"].is_between(0, 1).all()


def test_without_the_setting_a_group_has_one_entity_of_each_kg(repeating: tuple[Task, dict[str, str]]) -> None:
    alignment = align(repeating[0])
    assert not len(alignment.duplicates)
    assert alignment.groups.group_by("group_id", "kg").len()["len"].max() == 1


def test_duplicates_are_read_back_from_a_run_folder_and_do_not_depend_on_the_order_of_kgs(
    repeating: tuple[Task, dict[str, str]], tmp_path: Path
) -> None:
    task, _ = repeating
    alignment = align(task, duplicates=[task.kgs[0].name])
    alignment.save(tmp_path / "run")
    assert multiea.open(tmp_path / "run").groups.equals(alignment.groups)
    seeds, held_out = (Groups(part.kg_names[::-1], part.members[:, ::-1]) for part in (task.seeds, task.held_out))
    reversed_task = Task(task.kgs[::-1], seeds, held_out)
    other = align(reversed_task, duplicates=[task.kgs[0].name])
    columns = ["group_id", "kg", "entity", "status"]
    assert other.groups.select(columns).sort(columns).equals(alignment.groups.select(columns).sort(columns))


def test_an_unknown_kg_of_duplicates_is_refused(small: Task) -> None:
    with pytest.raises(SettingError, match="unknown KG of duplicates 'nowhere'"):
        align(small, duplicates=["nowhere"])
