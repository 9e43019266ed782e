"""Adding a KG to an alignment: nearly as good as aligning all KGs again, with the same group ids."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

import multiea
from multiea import Alignment, Groups, InputError, MultiEAError, SettingError, Task
from support.datasets import named
from support.parting import Parted, ordered, parted, shuffled
from support.quick import SHORT_EMBEDDINGS, align


def add(parts: Parted, old: Alignment, **settings: Any) -> Alignment:
    return multiea.add(old, parts.kg, parts.seeds, held_out=parts.held_out, **settings)


@pytest.fixture(scope="module")
def parts(small: Task) -> Parted:
    return parted(small, 2)


@pytest.fixture(scope="module")
def old(parts: Parted) -> Alignment:
    return multiea.align(parts.before)


@pytest.fixture(scope="module")
def added(parts: Parted, old: Alignment) -> Alignment:
    return add(parts, old)


@pytest.mark.parametrize("name", ["small", "world"])
def test_adding_a_kg_is_nearly_as_good_as_aligning_all_again(name: str, request: pytest.FixtureRequest) -> None:
    task = multiea.load("world") if name == "world" else request.getfixturevalue("small")
    parts = parted(task, 0)
    added = add(parts, align(parts.before), propagation=SHORT_EMBEDDINGS)
    full = align(task).evaluate()["pairs"]["f1"]
    assert added.evaluate()["pairs"]["f1"] > full - 0.06  # on `world` both vary by several points with the split
    assert added.history["warm_start_groups"] > 0


def test_old_groups_keep_their_ids(old: Alignment, added: Alignment) -> None:
    assert added.ids is not None
    fates = added.ids.fates()
    assert fates["kept"] + fates["grown"] > 0.8 * old.groups["group_id"].n_unique()
    before = old.groups.filter(pl.col("status") == "seed").select("group_id", "kg", "entity")
    assert before.join(added.groups, on=["group_id", "kg", "entity"]).height == before.height
    assert added.ids.new_kgs == (added.task.kg_names[-1],)


def test_held_out_groups_do_not_influence_the_result(parts: Parted, old: Alignment, added: Alignment) -> None:
    rng = np.random.default_rng(0)
    members = parts.held_out.members.copy()
    for column in members.T:
        column[column >= 0] = rng.permutation(column[column >= 0])
    other = Groups(parts.held_out.kg_names, members)
    own = other.members[:, :-1]
    fewer = Groups(parts.before.kg_names, own[(own >= 0).sum(axis=1) > 1])
    before = Task(parts.before.kgs, parts.before.seeds, fewer)
    again = multiea.add(multiea.align(before), parts.kg, parts.seeds, held_out=other)
    torch.testing.assert_close(again.embeddings, added.embeddings, rtol=0, atol=0)
    assert named(again.found.groups, again.task) == named(added.found.groups, added.task)
    unscored = multiea.add(replace(old, task=Task(old.task.kgs, old.task.seeds)), parts.kg, parts.seeds)
    torch.testing.assert_close(unscored.embeddings, added.embeddings, rtol=0, atol=0)


def test_the_order_of_entities_kgs_and_groups_changes_nothing(small: Task, added: Alignment) -> None:
    parts = parted(shuffled(small), 2)
    again = add(parts, multiea.align(parts.before))
    assert named(again.found.groups, again.task) == named(added.found.groups, added.task)
    assert set(again.groups["group_id"]) == set(added.groups["group_id"])
    assert again.evaluate()["pairs"] == added.evaluate()["pairs"]


def test_invalid_additions_are_refused(parts: Parted, old: Alignment) -> None:
    unsuitable: list[dict[str, Any]] = [{"engine": "multiea"}, {"bootstrap": "none"}]
    for settings in unsuitable:
        with pytest.raises(SettingError, match="adding a KG needs"):
            multiea.add(old, parts.kg, parts.seeds, **settings)
    with pytest.raises(InputError, match="already"):
        multiea.add(old, replace(parts.kg, name=old.task.kg_names[0]), parts.seeds)
    with pytest.raises(InputError, match="expected over kg1, kg2, kg3"):
        multiea.add(old, parts.kg, ordered(parts.seeds, [2, 0, 1]))
    bare = [replace(one, triples=one.triples[:0]) for one in old.task.kgs]
    with pytest.raises(InputError, match="with_triples=True"):
        multiea.add(replace(old, task=Task(bare, old.task.seeds)), parts.kg, parts.seeds)
    with pytest.raises(MultiEAError, match="there is no new KG since"):
        multiea.align(old.task, grown_from=old)
