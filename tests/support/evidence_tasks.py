"""Tasks with other known groups, names or ids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from multiea import Alignment, Groups, Task
from multiea.data.knowledge_graph import no_literals, no_names


def without_seeds(task: Task) -> Task:
    """The same KGs with all known groups held out."""
    return Task(task.kgs, held_out=task.seeds.joined(task.held_out), name=task.name)


def without_names_and_attributes(task: Task) -> Task:
    """The same KGs with triples alone."""
    bare = [replace(kg, literals=no_literals(), given_names=no_names(), names=None) for kg in task.kgs]
    return Task(bare, task.seeds, task.held_out, name=task.name)


def dealt_anew(groups: Groups, seed: int = 0) -> Groups:
    """The same entities, grouped at random instead."""
    rng, members = np.random.default_rng(seed), groups.members.copy()
    for column in members.T:
        present = column >= 0
        column[present] = rng.permutation(column[present])
    return Groups(groups.kg_names, members)


def with_random_ids(task: Task, seed: int = 0) -> tuple[Task, dict[tuple[str, str], str]]:
    """The same task with random codes as ids, in another alphabetical order; and the old id of each, by KG and id."""
    rng, old, kgs = np.random.default_rng(seed), dict[tuple[str, str], str](), []
    for kg in task.kgs:
        ids = [f"{number:06}" for number in rng.choice(10**6, len(kg.entities), replace=False)]
        old |= {(kg.name, new): given for new, given in zip(ids, kg.entities, strict=True)}
        kgs.append(replace(kg, entities=pl.Series(ids)))
    return Task(kgs, task.seeds, task.held_out, name=task.name), old


def found_members(
    alignment: Alignment, old: dict[tuple[str, str], str] | None = None
) -> dict[frozenset[tuple[str, str]], float]:
    """The found groups by their members, as KG and id, with their mean confidence; old: ids to write instead."""
    found = alignment.groups.filter(pl.col("status") == "found")
    groups = found.group_by("group_id").agg("kg", "entity", pl.col("confidence").mean())
    return {
        frozenset((kg, one if old is None else old[kg, one]) for kg, one in zip(kgs, entities, strict=True)): confidence
        for _, kgs, entities, confidence in groups.iter_rows()
    }
