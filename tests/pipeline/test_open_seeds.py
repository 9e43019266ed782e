"""Open seeds: seeds of a run to which a KG is added with few known links; their members there are found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

import multiea
from multiea import Alignment, Enhancement, Groups, SettingError, Task, Training
from multiea.data.synthetic import Synthesis, write_synthetic
from support.datasets import named
from support.open_seeds import completions, few_links
from support.parting import Parted, parted, shuffled
from support.quick import SHORT_EMBEDDINGS


@dataclass(frozen=True)
class Added:
    parts: Parted
    old: Alignment
    new: Alignment


def added(task: Task) -> Added:
    parts = parted(task, 2)
    old = multiea.align(parts.before)
    return Added(parts, old, multiea.add(old, parts.kg, few_links(parts), held_out=parts.held_out))


@pytest.fixture(scope="module")
def few(small: Task) -> Added:
    return added(small)


def test_members_of_open_seeds_are_found_in_the_new_kg(few: Added) -> None:
    assert len(few.new.task.open_seeds) > len(few.new.task.seeds)
    found = completions(few.new)
    assert set(found["kg"]) == {few.parts.kg.name}
    counts = few.new.history["open_seeds"]
    assert counts == {few.parts.kg.name: {"looked_for": len(few.new.task.open_seeds), "found": found.height}}
    truth = few.parts.seeds.to_table([*few.parts.before.kgs, few.parts.kg])
    members = few.new.groups.join(found.select("group_id", counterpart="entity"), on="group_id")
    right = [
        truth.filter((pl.col(kg) == entity) & (pl.col(few.parts.kg.name) == counterpart)).height
        for kg, entity, counterpart in members.filter(pl.col("status") == "seed")
        .select("kg", "entity", "counterpart")
        .iter_rows()
    ]
    assert np.mean(right) > 0.8
    assert found.height > 0.6 * len(few.new.task.open_seeds)


def test_known_members_of_open_seeds_keep_their_group_id_and_status(few: Added) -> None:
    before = few.old.groups.filter(pl.col("status") == "seed").select("group_id", "kg", "entity", "status")
    after = before.join(few.new.groups, on=["group_id", "kg", "entity", "status"])
    assert after.height == before.height
    assert set(after["confidence"]) == {1.0}
    pairs = few.new.pairs.filter(pl.col("status") == "seed")
    assert pairs.height == np.triu(few.new.task.seeds.joined(few.new.task.open_seeds.groups).overlap(), 1).sum()


def test_open_seeds_give_a_better_result_than_seeds_without_a_member_in_the_new_kg() -> None:
    """Marks that the new KG does not have keep the neighbours of these seeds from being found."""
    task = multiea.load("world")
    parts = parted(task, task.kg_names.index("countryinfo"))
    links = few_links(parts, one_in=6)
    by_structure: dict[str, Any] = {"evidence": "structure", "propagation": SHORT_EMBEDDINGS}
    old = multiea.align(parts.before, **by_structure)
    new = multiea.add(old, parts.kg, links, held_out=parts.held_out, **by_structure)
    without_open_seeds = Task(new.task.kgs, new.task.seeds.joined(new.task.open_seeds.groups), new.task.held_out)
    again = multiea.align(without_open_seeds, **by_structure)
    assert new.evaluate()["pairs"]["f1"] > again.evaluate()["pairs"]["f1"] + 0.05


def test_the_order_of_entities_kgs_and_groups_changes_nothing(small: Task, few: Added) -> None:
    again = added(shuffled(small)).new
    assert named(again.found.groups, again.task) == named(few.new.found.groups, few.new.task)
    ours, theirs = (one.evaluate() for one in (again, few.new))
    assert all(ours[score] == theirs[score] for score in ("m_hits", "pairs", "groups"))
    assert ours["confidence"]["ece"] == pytest.approx(theirs["confidence"]["ece"], abs=1e-9)
    assert completions(again).sort("kg", "entity").equals(completions(few.new).sort("kg", "entity"))


def test_held_out_groups_do_not_influence_the_result(few: Added) -> None:
    unscored = Task(few.old.task.kgs, few.old.task.seeds)
    again = multiea.add(multiea.align(unscored), few.parts.kg, few_links(few.parts))
    torch.testing.assert_close(again.embeddings, few.new.embeddings, rtol=0, atol=0)
    assert named(again.found.groups, again.task) == named(few.new.found.groups, few.new.task)


def test_an_opened_run_with_open_seeds_equals_the_saved_one(few: Added, tmp_path: Path) -> None:
    few.new.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert named(opened.task.open_seeds.groups, opened.task) == named(few.new.task.open_seeds.groups, few.new.task)
    for one, other in ((opened.groups, few.new.groups), (opened.pairs, few.new.pairs)):
        assert one.sort(one.columns).equals(other.sort(one.columns))  # seeds are written in the order of their names
    assert opened.fingerprint == few.new.fingerprint
    ours, theirs = (one.evaluate() for one in (opened, few.new))
    assert all(ours[score] == theirs[score] for score in ("m_hits", "pairs", "groups", "confidence"))


def test_another_enhancement_keeps_the_members_found_for_open_seeds(few: Added) -> None:
    other = few.new.with_enhancement(Enhancement("none"))
    order = ["group_id", "kg", "entity"]
    own, others = (
        completions(one).select("kg", "entity", "confidence").sort("kg", "entity") for one in (few.new, other)
    )
    assert own.equals(others)
    assert other.groups.select(order).unique().height == other.groups.height


def test_open_seeds_need_an_alignment_to_grow_from(few: Added) -> None:
    with pytest.raises(SettingError, match="give it as grown_from"):
        multiea.align(few.new.task)


@pytest.fixture(scope="module")
def four_kgs(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Known groups over four KGs, most of them partial."""
    folder = tmp_path_factory.mktemp("four")
    write_synthetic(Synthesis(kgs=4, entities=300, relations=10, overlap=0.7), folder)
    return multiea.load(folder, train_ratio=0.6)


@pytest.fixture(scope="module")
def of_four(four_kgs: Task) -> Added:
    parts = parted(four_kgs, 3)
    old = multiea.align(parts.before)
    return Added(parts, old, multiea.add(old, parts.kg, few_links(parts), held_out=parts.held_out))


def test_each_member_found_for_an_open_seed_has_its_own_confidence(of_four: Added) -> None:
    completed, known = of_four.new.completed_seeds, of_four.new.task.open_seeds.groups
    assert completed is not None
    assert not known.present[:, :3].all()
    given = completed.groups.members_in(known)
    assert (completed.confidence[given] == 1).all()
    found = completed.groups.present & ~given
    assert set(np.flatnonzero(found.any(axis=0))) == {
        3
    }  # a blank in another KG still means that there is no counterpart
    assert ((completed.confidence > 0) == completed.groups.present).all()
    table = completions(of_four.new).sort("confidence", descending=True)
    truth = of_four.parts.seeds.to_table([*of_four.parts.before.kgs, of_four.parts.kg])
    rows = of_four.new.groups.filter(pl.col("status") == "seed").join(
        table.select("group_id", c="entity"), on="group_id"
    )
    right = {
        group: truth.filter((pl.col(kg) == entity) & (pl.col(of_four.parts.kg.name) == c)).height
        for group, kg, entity, c in rows.select("group_id", "kg", "entity", "c").iter_rows()
    }
    best, worst = table["group_id"].head(30), table["group_id"].tail(30)
    assert sum(right[group] for group in best) > sum(right[group] for group in worst)


def test_duplicates_are_found_where_there_are_open_seeds(of_four: Added) -> None:
    new = multiea.add(of_four.old, of_four.parts.kg, few_links(of_four.parts), duplicates=["kg1", "kg4"])
    assert len(new.found.groups)
    assert new.duplicates.group.max(initial=-1) < len(new.found.groups)


def test_fusion_learns_from_open_seeds_too(of_four: Added) -> None:
    new = multiea.add(
        of_four.old,
        of_four.parts.kg,
        few_links(of_four.parts),
        engine="propagation+multiea",
        training=Training(epochs=3),
    )
    assert len(new.found.groups)


def over_two(task: Task) -> Task:
    """Its first two KGs, and the known groups over both."""
    members = task.seeds.members[:, :2]
    return Task(task.kgs[:2], Groups(task.kg_names[:2], members[(members >= 0).all(axis=1)]))


def test_links_over_some_kgs_keep_found_groups_together(four_kgs: Task, of_four: Added) -> None:
    """Links over kg1 and kg4 only, to entities of found groups: these groups get a member and keep their ids."""
    task = four_kgs
    old = of_four.old
    names = task.held_out.to_table(task.kgs)
    of_found = set(old.groups.filter((pl.col("status") == "found") & (pl.col("kg") == "kg1"))["entity"])
    links = names.filter(pl.col("kg1").is_in(of_found) & pl.col("kg4").is_not_null()).select("kg1", "kg4").head(20)
    new = multiea.add(old, task.kgs[3], Groups.from_names(task.kgs, links))
    before = old.groups.filter(pl.col("kg") == "kg1").join(links, left_on="entity", right_on="kg1")
    after = new.groups.filter(pl.col("kg") == "kg4").join(before.select("group_id", "kg4"), on="group_id")
    assert (after["entity"] == after["kg4"]).sum() == before.height == 20
    others = old.groups.filter(pl.col("group_id").is_in(before["group_id"].implode()))
    assert others.join(new.groups, on=["group_id", "kg", "entity"]).height == others.height


def test_later_seeds_replace_what_was_found_before(four_kgs: Task) -> None:
    task = four_kgs
    two = over_two(task)
    links = task.seeds.to_table(task.kgs).drop_nulls(["kg1", "kg2", "kg3"])
    some = links.select("kg1", "kg3").head(20)
    three = multiea.add(multiea.align(two), task.kgs[2], Groups.from_names(task.kgs[:3], some))
    assert three.completed_seeds is not None
    found = completions(three)
    one, other = (found.filter(pl.col("kg") == "kg3")["group_id"][at] for at in (0, 1))
    member = dict(three.groups.filter(pl.col("group_id") == one).select("kg", "entity").iter_rows())
    wanted = dict(three.groups.filter(pl.col("group_id") == other).select("kg", "entity").iter_rows())
    blank = three.task.open_seeds.groups.to_table(three.task.kgs).filter(
        ~pl.col("kg1").is_in([member["kg1"], wanted["kg1"]])
    )
    kg4 = [name for name in task.kgs[3].entities if name not in set(links["kg4"])]
    given = [
        {"kg1": wanted["kg1"], "kg3": member["kg3"], "kg4": kg4[0]}
    ]  # this member had been found for the other seed
    given += [{"kg1": row["kg1"], "kg2": row["kg2"]} for row in blank.head(10).iter_rows(named=True)]
    given += [{"kg3": a, "kg4": b} for a, b in links.drop_nulls("kg4").select("kg3", "kg4").head(20).iter_rows()]
    new = multiea.add(three, task.kgs[3], Groups.from_names(task.kgs, given))
    groups = {(kg, entity): group for group, kg, entity, *_ in new.groups.iter_rows()}
    assert groups["kg3", member["kg3"]] == groups["kg1", wanted["kg1"]] == groups["kg4", kg4[0]]
    assert groups["kg1", member["kg1"]] != groups["kg1", wanted["kg1"]]
    for row in blank.head(10).iter_rows(named=True):  # a blank means that there is no counterpart
        own = new.groups.filter(pl.col("group_id") == groups["kg1", row["kg1"]])
        assert "kg4" not in set(own["kg"])
    looked_in = new.task.open_seeds.looked_in[:, 3]
    assert new.history["open_seeds"]["kg4"]["looked_for"] == looked_in.sum() > 0
