"""Seeds of a run to which a KG is added with few ties: their members there are found, and nothing of them is lost."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from typer.testing import CliRunner

import multiea
from multiea import Alignment, Enhancement, Groups, SettingError, Task, Training
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.write import write_groups
from support.datasets import named
from support.parting import Parted, parted, shuffled


def few_ties(parts: Parted, one_in: int = 3) -> Groups:
    """Some of the seeds, chosen by the name of their first member: all that is told of the new KG."""
    names = parts.seeds.to_table([*parts.before.kgs, parts.kg])
    first = names.select(pl.coalesce(sorted(names.columns))).to_series().to_list()
    return parts.seeds.take(np.array([sum(name.encode()) % one_in == 0 for name in first]))


@dataclass(frozen=True)
class Added:
    parts: Parted
    old: Alignment
    new: Alignment


def added(task: Task) -> Added:
    parts = parted(task, 2)
    old = multiea.align(parts.before)
    return Added(parts, old, multiea.add(old, parts.kg, few_ties(parts), held_out=parts.held_out))


@pytest.fixture(scope="module")
def few(small: Task) -> Added:
    return added(small)


def completions(alignment: Alignment) -> pl.DataFrame:
    """The members found for open seeds."""
    table = alignment.groups
    known = table.filter(pl.col("status") == "seed")["group_id"].unique()
    return table.filter((pl.col("status") == "found") & pl.col("group_id").is_in(known.implode()))


def test_seeds_that_nothing_ties_find_their_members_in_the_new_kg(few: Added) -> None:
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


def test_what_was_known_of_open_seeds_stays_together_with_its_id_and_its_status(few: Added) -> None:
    before = few.old.groups.filter(pl.col("status") == "seed").select("group_id", "kg", "entity", "status")
    after = before.join(few.new.groups, on=["group_id", "kg", "entity", "status"])
    assert after.height == before.height
    assert set(after["confidence"]) == {1.0}
    pairs = few.new.pairs.filter(pl.col("status") == "seed")
    assert pairs.height == np.triu(few.new.task.seeds.joined(few.new.task.open_seeds.groups).overlap(), 1).sum()


def test_few_ties_do_better_than_seeds_left_as_they_are() -> None:
    """Seeds without a tie, left as they are, are labels that the new KG lacks: their neighbours are not found."""
    task = multiea.load("world")
    parts = parted(task, task.kg_names.index("countryinfo"))
    ties = few_ties(parts, one_in=6)
    new = multiea.add(multiea.align(parts.before), parts.kg, ties, held_out=parts.held_out)
    as_they_are = Task(new.task.kgs, new.task.seeds.joined(new.task.open_seeds.groups), new.task.held_out)
    assert new.evaluate()["pairs"]["f1"] > multiea.align(as_they_are).evaluate()["pairs"]["f1"] + 0.05


def test_no_order_changes_what_is_found(small: Task, few: Added) -> None:
    again = added(shuffled(small)).new
    assert named(again.found.groups, again.task) == named(few.new.found.groups, few.new.task)
    ours, theirs = (one.evaluate() for one in (again, few.new))
    assert all(ours[score] == theirs[score] for score in ("m_hits", "pairs", "groups"))
    assert ours["confidence"]["ece"] == pytest.approx(theirs["confidence"]["ece"], abs=1e-9)
    assert completions(again).sort("kg", "entity").equals(completions(few.new).sort("kg", "entity"))


def test_held_out_groups_never_reach_what_is_found(few: Added) -> None:
    unscored = Task(few.old.task.kgs, few.old.task.seeds)
    again = multiea.add(multiea.align(unscored), few.parts.kg, few_ties(few.parts))
    torch.testing.assert_close(again.embeddings, few.new.embeddings, rtol=0, atol=0)
    assert named(again.found.groups, again.task) == named(few.new.found.groups, few.new.task)


def test_a_run_with_open_seeds_is_read_back_as_it_was(few: Added, tmp_path: Path) -> None:
    few.new.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert named(opened.task.open_seeds.groups, opened.task) == named(few.new.task.open_seeds.groups, few.new.task)
    for one, other in ((opened.groups, few.new.groups), (opened.pairs, few.new.pairs)):
        assert one.sort(one.columns).equals(other.sort(one.columns))  # seeds are written in the order of their names
    assert opened.fingerprint == few.new.fingerprint
    ours, theirs = (one.evaluate() for one in (opened, few.new))
    assert all(ours[score] == theirs[score] for score in ("m_hits", "pairs", "groups", "confidence"))


def test_comparing_in_another_way_keeps_what_was_found_for_open_seeds(few: Added) -> None:
    other = few.new.with_enhancement(Enhancement("none"))
    order = ["group_id", "kg", "entity"]
    own, others = (
        completions(one).select("kg", "entity", "confidence").sort("kg", "entity") for one in (few.new, other)
    )
    assert own.equals(others)
    assert other.groups.select(order).unique().height == other.groups.height


def test_open_seeds_go_with_an_alignment_to_grow_from(few: Added) -> None:
    with pytest.raises(SettingError, match="give it as grown_from"):
        multiea.align(few.new.task)


def four_kgs() -> Task:
    """Known groups over four KGs, most of them partial."""
    folder = Path(tempfile.mkdtemp())
    write_synthetic(Synthesis(kgs=4, entities=300, relations=10, overlap=0.7), folder)
    task = multiea.load(folder, train_ratio=0.6)
    shutil.rmtree(folder)
    return task


@pytest.fixture(scope="module")
def of_four() -> Added:
    parts = parted(four_kgs(), 3)
    old = multiea.align(parts.before)
    return Added(parts, old, multiea.add(old, parts.kg, few_ties(parts), held_out=parts.held_out))


def test_each_member_found_for_an_open_seed_has_its_own_confidence(of_four: Added) -> None:
    adopted, known = of_four.new.adopted, of_four.new.task.open_seeds.groups
    assert adopted is not None
    assert not known.present[:, :3].all()
    told = adopted.groups.members_in(known)
    assert (adopted.confidence[told] == 1).all()
    found = adopted.groups.present & ~told
    assert set(np.flatnonzero(found.any(axis=0))) == {3}  # a blank in the other KGs still says that there is nobody
    assert ((adopted.confidence > 0) == adopted.groups.present).all()
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


def test_duplicates_are_found_beside_open_seeds(of_four: Added) -> None:
    new = multiea.add(of_four.old, of_four.parts.kg, few_ties(of_four.parts), duplicates=["kg1", "kg4"])
    assert len(new.found.groups)
    assert new.duplicates.group.max(initial=-1) < len(new.found.groups)


def test_fusion_learns_from_open_seeds_too(of_four: Added) -> None:
    how = {"engine": "propagation+multiea", "training": Training(epochs=3)}
    new = multiea.add(of_four.old, of_four.parts.kg, few_ties(of_four.parts), **how)
    assert len(new.found.groups)


def over_two(task: Task) -> Task:
    """Its first two KGs, and the known groups over both."""
    members = task.seeds.members[:, :2]
    return Task(task.kgs[:2], Groups(task.kg_names[:2], members[(members >= 0).all(axis=1)]))


def test_a_tie_that_says_nothing_of_a_kg_leaves_found_groups_together(of_four: Added) -> None:
    """Ties over kg1 and kg4 alone, to entities of groups that were found: these gain a member, and keep their id."""
    task = four_kgs()
    old = multiea.align(parted(task, 3).before)
    names = task.held_out.to_table(task.kgs)
    of_found = set(old.groups.filter((pl.col("status") == "found") & (pl.col("kg") == "kg1"))["entity"])
    ties = names.filter(pl.col("kg1").is_in(of_found) & pl.col("kg4").is_not_null()).select("kg1", "kg4").head(20)
    new = multiea.add(old, task.kgs[3], Groups.from_names(task.kgs, ties))
    before = old.groups.filter(pl.col("kg") == "kg1").join(ties, left_on="entity", right_on="kg1")
    after = new.groups.filter(pl.col("kg") == "kg4").join(before.select("group_id", "kg4"), on="group_id")
    assert (after["entity"] == after["kg4"]).sum() == before.height == 20
    others = old.groups.filter(pl.col("group_id").is_in(before["group_id"].implode()))
    assert others.join(new.groups, on=["group_id", "kg", "entity"]).height == others.height


def test_what_a_later_file_says_counts_more_than_what_was_found(of_four: Added) -> None:
    task = four_kgs()
    two = over_two(task)
    ties = task.seeds.to_table(task.kgs).drop_nulls(["kg1", "kg2", "kg3"])
    some = ties.select("kg1", "kg3").head(20)
    three = multiea.add(multiea.align(two), task.kgs[2], Groups.from_names(task.kgs[:3], some))
    assert three.adopted is not None
    found = completions(three)
    one, other = (found.filter(pl.col("kg") == "kg3")["group_id"][at] for at in (0, 1))
    member = dict(three.groups.filter(pl.col("group_id") == one).select("kg", "entity").iter_rows())
    wanted = dict(three.groups.filter(pl.col("group_id") == other).select("kg", "entity").iter_rows())
    blank = three.task.open_seeds.groups.to_table(three.task.kgs).filter(
        ~pl.col("kg1").is_in([member["kg1"], wanted["kg1"]])
    )
    kg4 = [name for name in task.kgs[3].entities if name not in set(ties["kg4"])]
    told = [{"kg1": wanted["kg1"], "kg3": member["kg3"], "kg4": kg4[0]}]  # the other seed had been given this member
    told += [{"kg1": row["kg1"], "kg2": row["kg2"]} for row in blank.head(10).iter_rows(named=True)]
    told += [{"kg3": a, "kg4": b} for a, b in ties.drop_nulls("kg4").select("kg3", "kg4").head(20).iter_rows()]
    new = multiea.add(three, task.kgs[3], Groups.from_names(task.kgs, told))
    groups = {(kg, entity): group for group, kg, entity, *_ in new.groups.iter_rows()}
    assert groups["kg3", member["kg3"]] == groups["kg1", wanted["kg1"]] == groups["kg4", kg4[0]]
    assert groups["kg1", member["kg1"]] != groups["kg1", wanted["kg1"]]
    for row in blank.head(10).iter_rows(named=True):  # a blank says that there is nobody
        own = new.groups.filter(pl.col("group_id") == groups["kg1", row["kg1"]])
        assert "kg4" not in set(own["kg"])
    looked_in = new.task.open_seeds.looked_in[:, 3]
    assert new.history["open_seeds"]["kg4"]["looked_for"] == looked_in.sum() > 0


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [*map(str, words), "--no-progress"])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_seeds_stay_open_from_run_to_run(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    write_synthetic(Synthesis(kgs=4, entities=200, relations=10, overlap=0.8), tmp_path / "all")
    three = parted(multiea.load(tmp_path / "all"), 3)
    two = parted(three.before, 2)
    (tmp_path / "data").mkdir()
    for one in two.before.kgs:
        shutil.copy(tmp_path / "all" / f"{one.name}.tsv", tmp_path / "data")
    write_groups(two.before.seeds, two.before.kgs, tmp_path / "data" / "seeds.tsv")
    run("align", tmp_path / "data", "--out", tmp_path / "run2")
    for part, number in ((two, 3), (three, 4)):
        write_groups(few_ties(part), [*part.before.kgs, part.kg], tmp_path / f"seeds{number}.tsv")
        words = ["--seeds", tmp_path / f"seeds{number}.tsv", "--out", tmp_path / f"run{number}"]
        shown = run("add", tmp_path / f"run{number - 1}", tmp_path / "all" / f"kg{number}.tsv", *words)
        assert f"ties to kg{number}, " in shown
    before, after = (multiea.open(tmp_path / f"run{number}") for number in (3, 4))
    assert {"kg3", "kg4"} == set(completions(after)["kg"])
    stayed = completions(before).join(completions(after), on=["group_id", "kg", "entity"]).height
    known_now = after.task.seeds.joined(after.task.open_seeds.groups).members[:, 2]
    own = before.task.kgs[2].positions(completions(before)["entity"])
    assert stayed == (~np.isin(own, known_now)).sum() > 0
    kinds = (after.task.seeds, after.task.open_seeds.groups)
    assert sum(map(len, kinds)) >= sum(len(one) for one in (before.task.seeds, before.task.open_seeds))
    run("export", tmp_path / "run4", "--to", "sssom", "--out", tmp_path / "all.sssom.tsv")
    table = pl.read_csv(tmp_path / "all.sssom.tsv", separator="\t", comment_prefix="#")
    curated = table.filter(pl.col("mapping_justification") == "semapv:ManualMappingCuration")
    assert curated.height == sum(int(np.triu(one.overlap(), 1).sum()) for one in kinds)
