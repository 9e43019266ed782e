"""Group ids carried over from run to run, and what became of each."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.task import Task
from multiea.grouping.alignment import Alignment
from multiea.grouping.lineage import Ancestor, follow, hashed_id
from multiea.grouping.matching import FoundGroups


def table(groups: dict[str, str]) -> pl.DataFrame:
    """Groups as 'a1 b1': the letter is the KG, the whole the entity."""
    rows = [(name, member[0], member) for name, members in groups.items() for member in members.split()]
    return pl.DataFrame(rows, schema=["group_id", "kg", "entity"], orient="row")


def followed(old: dict[str, str], new: dict[str, str], once_used: tuple[str, ...] = ()) -> tuple[dict, dict]:
    ancestor = Ancestor(table(old), ("a", "b", "c", "d"), pl.Series(once_used, dtype=pl.String))
    ids, lineage = follow(ancestor, table(new))
    return dict(ids.iter_rows()), {row[0]: row[1:] for row in lineage.iter_rows()}


@pytest.mark.parametrize(
    ("old", "new", "ids", "fates"),
    [
        pytest.param({"o": "a1 b1"}, {"n": "b1 a1"}, {"n": "o"}, {"o": ("kept", 2, 2, "o")}, id="kept"),
        pytest.param({"o": "a1 b1"}, {"n": "a1 b1 c1"}, {"n": "o"}, {"o": ("grown", 2, 3, "o")}, id="grown"),
        pytest.param({"o": "a1 b1 c1"}, {"n": "a1 b1"}, {"n": "o"}, {"o": ("shrunk", 3, 2, "o")}, id="shrunk"),
        pytest.param({"o": "a1 b1 c1"}, {"n": "a1 b1 c2"}, {"n": "o"}, {"o": ("changed", 3, 3, "o")}, id="changed"),
        pytest.param(
            {"o": "a1 b1"}, {"n": "a2 b2"}, {"n": "n"},
            {"o": ("gone", 2, 0, ""), "n": ("new", 0, 2, "n")}, id="gone",
        ),
        pytest.param(
            {"o": "a1 b1 c1 d1 a9"}, {"m": "a1 b1", "n": "c1 d1 a9"}, {"m": "m", "n": "o"},
            {"o": ("split", 5, 3, "o m"), "m": ("new", 0, 2, "m")}, id="split, the larger part has the id",
        ),
        pytest.param(
            {"o": "a1 b1", "p": "c1 d1 a9"}, {"n": "a1 b1 c1 d1 a9"}, {"n": "p"},
            {"o": ("merged", 2, 0, "p"), "p": ("merged", 3, 5, "p")}, id="merged, the larger group's id lives on",
        ),
        pytest.param(
            {"o": "a1 b1", "p": "c1 d1 a9"}, {"n": "a1 b1 c1 d1"}, {"n": "p"},
            {"o": ("merged", 2, 0, "p"), "p": ("merged", 3, 4, "p")}, id="equal overlaps: the larger group's lives on",
        ),
        pytest.param(
            {"p": "a1 b1", "o": "c1 d1"}, {"n": "a1 b1 c1 d1"}, {"n": "o"},
            {"o": ("merged", 2, 4, "o"), "p": ("merged", 2, 0, "o")}, id="a tie goes by the old id",
        ),
        pytest.param(
            {"o": "a1 b1 c1 d1"}, {"n": "a1 b1", "m": "c1 d1"}, {"m": "o", "n": "n"},
            {"o": ("split", 4, 2, "n o"), "n": ("new", 0, 2, "n")}, id="a tie of parts goes by their members",
        ),
        pytest.param(
            {"o": "a1 b1 c1", "p": "a2 b2"}, {"n": "a1 b1", "m": "a2 b2 c1"}, {"n": "o", "m": "p"},
            {"o": ("shrunk", 3, 2, "o p"), "p": ("grown", 2, 3, "p")}, id="a member that moves splits nothing",
        ),
        pytest.param(
            {"o": "a1 b1", "p": "a2 b2 c2", "q": "b3 c3 d3"}, {"m": "a2 b2 c2 a1", "n": "b3 c3 d3 b1"},
            {"m": "p", "n": "q"},
            {"o": ("split", 2, 0, "p q"), "p": ("merged", 3, 4, "p"), "q": ("merged", 3, 4, "q")},
            id="two groups share a third",
        ),
        pytest.param(  # o would like n best, but p shares more with it
            {"o": "a1 b1", "p": "c1 d1 a9"}, {"n": "a1 c1 d1 a9", "m": "b1 c2"}, {"n": "p", "m": "o"},
            {"o": ("changed", 2, 2, "o p"), "p": ("grown", 3, 4, "p")}, id="an id goes where it is not outbid",
        ),
    ],
)  # fmt: skip
def test_hand_made_fates(old: dict, new: dict, ids: dict, fates: dict) -> None:
    assert followed(old, new) == (ids, fates)


def test_an_id_that_stood_for_others_once_is_never_given_again() -> None:
    ids, lineage = followed({"n": "a1 b1 c1 d1 a9"}, {"n": "a1 b1", "m": "c1 d1 a9"})
    assert ids["m"] == "n"  # the larger part
    assert ids["n"] == hashed_id("n\n1")
    assert lineage["n"] == ("split", 5, 3, f"n {ids['n']}")
    ids, lineage = followed({"o": "a1 b1"}, {"m": "a1 b1", "n": "c1 d1"}, once_used=("n", "o", "p", hashed_id("n\n1")))
    assert ids == {"m": "o", "n": hashed_id("n\n2")}
    assert {name: fate[0] for name, fate in lineage.items()} == {
        "o": "kept", "n": "retired", "p": "retired", hashed_id("n\n1"): "retired", ids["n"]: "new",
    }  # fmt: skip


def random_groups(rng: np.random.Generator, count: int, kgs: int = 4) -> pl.DataFrame:
    """A random way to group the same entities, with many ties."""
    entities = [rng.permutation(count) for _ in range(kgs)]
    present = rng.random((count, kgs)) < 0.7
    rows = [
        (hashed_id(f"{row}"), "abcd"[kg], f"{entities[kg][row]}") for row in range(count) for kg in range(kgs)
        if present[row, kg]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=["group_id", "kg", "entity"], orient="row")


def one_by_one(old: pl.DataFrame, new: pl.DataFrame) -> dict[str, str]:
    """The same choice made literally: all overlaps in order, each taken if both its groups are free."""
    before: dict[str, set] = {}
    after: dict[str, set] = {}
    for groups, rows in ((before, old), (after, new)):
        for name, kg, entity in rows.iter_rows():
            groups.setdefault(name, set()).add((kg, entity))
    pairs = [(-len(one & other), -len(one), o, n) for o, one in before.items() for n, other in after.items()]
    ids: dict[str, str] = {}
    for shared, _, o, n in sorted(pairs):
        if shared and o not in ids.values() and n not in ids:
            ids[n] = o
    return ids


def test_the_choice_is_that_of_going_through_all_overlaps_and_no_order_matters() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        old, new = random_groups(rng, 60), random_groups(rng, 60)
        new = new.with_columns(("n" + pl.col("group_id")).alias("group_id"))
        ids, lineage = follow(Ancestor(old, tuple("abcd")), new)
        given = dict(ids.iter_rows())
        literal = one_by_one(old, new)
        assert {n: given[n] for n in literal} == literal
        assert all(given[n] == n for n in given.keys() - literal.keys())
        assert len(set(given.values())) == len(given) == new["group_id"].n_unique()
        shuffled = [part.sample(fraction=1, shuffle=True, seed=1) for part in (old, new)]
        again, same_lineage = follow(Ancestor(shuffled[0], tuple("dcba")), shuffled[1])
        assert dict(again.iter_rows()) == given
        assert same_lineage.equals(lineage)


def alignment_of(task: Task, members: list[list[int]]) -> Alignment:
    """An alignment that found these groups."""
    base = multiea.align(task)
    found = Groups(task.kg_names, np.array(members, dtype=np.int32))
    return replace(base, found=FoundGroups.of_members(found, np.full(found.members.shape, 0.5)))


@pytest.fixture(scope="module")
def task() -> Task:
    kgs = [KnowledgeGraph.from_triples(kg, [(f"{kg}{i}", "r", f"{kg}{i + 1}") for i in range(11)]) for kg in "abc"]
    return Task(kgs, Groups.from_names(kgs, [{kg: f"{kg}{i}" for kg in "abc"} for i in range(3)]))


def test_ids_survive_saving_and_opening_run_after_run(task: Task, tmp_path: Path) -> None:
    first = alignment_of(task, [[3, 3, -1], [4, 4, 4]])
    second = alignment_of(task, [[4, 4, 5], [3, 3, 6]]).following(first.as_ancestor())
    assert second.ids is not None
    assert second.ids.found == first.group_ids()[1][::-1]
    assert second.ids.known == first.group_ids()[0]
    assert second.ids.fates() == dict.fromkeys(second.ids.fates(), 0) | {"kept": 3, "grown": 1, "changed": 1}
    second.save(tmp_path / "second")
    opened = multiea.open(tmp_path / "second")
    assert opened.groups.equals(second.groups)
    assert opened.pairs.equals(second.pairs)
    assert opened.fingerprint == replace(second, ids=None).fingerprint  # says which groups these are, not their ids
    assert opened.ids is not None
    assert opened.ids.lineage.equals(second.ids.lineage)
    for previous in (second, opened, tmp_path / "second", str(tmp_path / "second")):
        third = multiea.align(task, previous=previous)
        assert third.ids is not None
        assert third.ids.known == first.group_ids()[0]
    first.save(tmp_path / "first")
    assert not (tmp_path / "first" / "lineage.tsv").exists()
    assert multiea.open(tmp_path / "first").ids is None
    assert multiea.open(tmp_path / "first").groups.equals(first.groups)


def test_an_id_given_up_stays_retired_over_saved_runs(task: Task, tmp_path: Path) -> None:
    first = alignment_of(task, [[3, 3, -1]])
    lost = first.group_ids()[1][0]
    alignment_of(task, [[5, 5, -1]]).following(first.as_ancestor()).save(tmp_path / "second")
    opened = multiea.open(tmp_path / "second").as_ancestor()
    alignment_of(task, [[5, 5, -1]]).following(opened).save(tmp_path / "third")
    fourth = alignment_of(task, [[3, 3, -1]]).following(multiea.open(tmp_path / "third").as_ancestor())
    assert fourth.ids is not None
    assert fourth.ids.found != [lost]
    assert dict(fourth.ids.lineage.select("group_id", "became").iter_rows())[lost] == "retired"


def test_a_damaged_lineage_and_ids_of_other_groups_are_named(task: Task, tmp_path: Path) -> None:
    first = alignment_of(task, [[3, 3, -1]])
    second = alignment_of(task, [[5, 5, -1]]).following(first.as_ancestor())
    second.save(tmp_path / "second")
    with pytest.raises(ValueError, match="ids are those of other groups"):
        replace(second, found=alignment_of(task, [[5, 5, -1], [6, 6, -1]]).found).group_ids()
    (tmp_path / "second" / "lineage.tsv").write_text("group_id\tbecame\tbefore\tafter\tinto\ng\tkept\tx\ty\t\n")
    for read in (multiea.open, lambda folder: multiea.align(task, previous=folder)):
        with pytest.raises(multiea.InputError, match=r"second/lineage\.tsv: damaged: "):
            read(tmp_path / "second")


def test_the_order_of_kgs_entities_and_groups_gives_no_other_ids(tmp_path: Path) -> None:
    small = multiea.load(data_sets(tmp_path)[0])
    before = multiea.align(Task(small.kgs, small.seeds.take(np.arange(len(small.seeds) // 2)), name="before"))
    after = multiea.align(small, previous=before)
    rng = np.random.default_rng(1)
    kgs, columns = [], []
    for at in (2, 0, 1):
        kg, order = small.kgs[at], rng.permutation(len(small.kgs[at].entities))
        place = np.argsort(order).astype(np.int32)
        triples = np.column_stack([place[kg.triples[:, 0]], kg.triples[:, 1], place[kg.triples[:, 2]]])
        kgs.append(KnowledgeGraph(kg.name, kg.entities.gather(order), kg.relations, triples))
        own = small.seeds.members[:, at]
        columns.append(np.where(own < 0, -1, place[own]))
    members = np.stack(columns, axis=1)[rng.permutation(len(small.seeds))].astype(np.int32)
    again = multiea.align(Task(kgs, Groups(tuple(kg.name for kg in kgs), members)), previous=before)
    key = ["group_id", "kg", "entity"]
    assert again.groups.select(key).sort(key).equals(after.groups.select(key).sort(key))
    assert again.ids is not None
    assert after.ids is not None
    assert again.ids.lineage.equals(after.ids.lineage)


def data_sets(tmp_path: Path) -> tuple[Path, Path]:
    for name, kgs in (("three", 3), ("four", 4)):
        (tmp_path / name).mkdir()
        write_synthetic(Synthesis(kgs=kgs, entities=150, relations=10), tmp_path / name)
    return tmp_path / "three", tmp_path / "four"


def test_align_with_previous_says_what_became_of_the_groups_and_which_kgs_are_new(tmp_path: Path) -> None:
    three, four = data_sets(tmp_path)
    runner, run, second = CliRunner(), str(tmp_path / "run"), str(tmp_path / "second")
    assert runner.invoke(app, ["align", str(three), "--out", run, "--no-progress"]).exit_code == 0
    result = runner.invoke(app, ["align", str(four), "--out", second, "--previous", run, "--json", "--no-progress"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    lineage = pl.read_csv(tmp_path / "second" / "lineage.tsv", separator="\t")
    assert answer["lineage"]["gone"] == lineage.filter(pl.col("became") == "gone").height
    assert answer["new_kgs"] == ["kg4"]
    assert "new since the previous run: kg4" in result.stderr
    groups = pl.read_parquet(tmp_path / "second" / "groups.parquet")
    old = pl.read_parquet(tmp_path / "run" / "groups.parquet")
    assert set(lineage.filter(pl.col("after") > 0)["group_id"]) == set(groups["group_id"])
    assert set(lineage.filter(pl.col("before") > 0)["group_id"]) == set(old["group_id"])
    result = runner.invoke(app, ["align", str(three), "--out", run, "--previous", run, "--force", "--no-progress"])
    assert result.exit_code == 0, result.output
    assert f"ids follow {run}: " in result.output
    assert pl.read_parquet(tmp_path / "run" / "groups.parquet").equals(old)


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_a_previous_run_that_is_none_is_an_error_before_any_work(task: Task, tmp_path: Path, tail: list[str]) -> None:
    (tmp_path / "x.tsv").write_text("p\tr\tq\n", encoding="utf-8")
    (tmp_path / "y.tsv").write_text("p\tr\tq\n", encoding="utf-8")
    (tmp_path / "seeds.tsv").write_text("x\ty\np\tp\n", encoding="utf-8")
    out, other, runner = tmp_path / "out", tmp_path / "runs" / "other", CliRunner()
    words = ["align", str(tmp_path), "--out", str(out), *tail, "--previous"]
    result = runner.invoke(app, [*words, str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert "nowhere: does not exist" in result.stderr
    multiea.align(task).save(other)
    result = runner.invoke(app, [*words, str(other)])
    assert result.exit_code == 2
    assert "previous run is over other KGs: a, b, c" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not out.exists()


def test_a_hundred_thousand_groups_take_seconds() -> None:
    count = 100_000
    rng = np.random.default_rng(0)
    tables = []
    for share in (0.0, 0.3):
        parts = []
        for kg in "abcd":
            entity = np.arange(count)
            moved = np.flatnonzero(rng.random(count) < share)
            entity[moved] = rng.permutation(entity[moved])
            parts.append(pl.DataFrame({"row": np.arange(count), "kg": kg, "entity": pl.Series(entity).cast(pl.String)}))
        names = pl.Series([hashed_id(f"{share} {row}") for row in range(count)])
        tables.append(pl.concat(parts).select(names.gather(pl.concat(parts)["row"]).alias("group_id"), "kg", "entity"))
    start = time.perf_counter()
    ids, lineage = follow(Ancestor(tables[0], tuple("abcd")), tables[1])
    assert time.perf_counter() - start < 15
    assert ids.height == count
    assert lineage["group_id"].n_unique() == lineage.height
