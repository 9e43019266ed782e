"""A new KG joins an alignment: nearly as good as aligning all anew, with the ids of before; its run leads back."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from multiea.pipeline.adding import grown
from typer.testing import CliRunner

import multiea
from multiea import Alignment, Groups, InputError, KnowledgeGraph, MultiEAError, SettingError, Task
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.write import write_groups
from multiea.grouping.matching import FoundGroups
from multiea.pipeline.warm_start import merge
from support.datasets import assert_same_kg, group, named
from support.parting import Parted, ordered, parted, shuffled


def add(parts: Parted, old: Alignment) -> Alignment:
    return multiea.add(old, parts.kg, parts.seeds, held_out=parts.held_out)


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
def test_it_is_nearly_as_good_as_aligning_all_anew(name: str, request: pytest.FixtureRequest) -> None:
    task = multiea.load("world") if name == "world" else request.getfixturevalue("small")
    parts = parted(task, 0)
    added = add(parts, multiea.align(parts.before))
    full = multiea.align(task).evaluate()["pairs"]["f1"]
    assert added.evaluate()["pairs"]["f1"] > full - 0.06  # on `world` both vary by several points with the split
    assert added.history["started_with"] > 0


def test_old_groups_keep_their_ids(old: Alignment, added: Alignment) -> None:
    assert added.ids is not None
    fates = added.ids.fates()
    assert fates["kept"] + fates["grown"] > 0.8 * old.groups["group_id"].n_unique()
    before = old.groups.filter(pl.col("status") == "seed").select("group_id", "kg", "entity")
    assert before.join(added.groups, on=["group_id", "kg", "entity"]).height == before.height
    assert added.ids.new_kgs == (added.task.kg_names[-1],)


def test_held_out_groups_never_reach_the_labels(parts: Parted, old: Alignment, added: Alignment) -> None:
    rng = np.random.default_rng(0)
    members = parts.held_out.members.copy()
    for column in members.T:
        column[column >= 0] = rng.permutation(column[column >= 0])
    other = Groups(parts.held_out.kg_names, members)
    own = other.members[:, :-1]
    shuffled = Groups(parts.before.kg_names, own[(own >= 0).sum(axis=1) > 1])
    before = Task(parts.before.kgs, parts.before.seeds, shuffled)
    again = multiea.add(multiea.align(before), parts.kg, parts.seeds, held_out=other)
    torch.testing.assert_close(again.embeddings, added.embeddings, rtol=0, atol=0)
    assert named(again.found.groups, again.task) == named(added.found.groups, added.task)
    unscored = multiea.add(replace(old, task=Task(old.task.kgs, old.task.seeds)), parts.kg, parts.seeds)
    torch.testing.assert_close(unscored.embeddings, added.embeddings, rtol=0, atol=0)


def test_no_order_changes_what_is_found(small: Task, added: Alignment) -> None:
    parts = parted(shuffled(small), 2)
    again = add(parts, multiea.align(parts.before))
    assert named(again.found.groups, again.task) == named(added.found.groups, added.task)
    assert set(again.groups["group_id"]) == set(added.groups["group_id"])
    assert again.evaluate()["pairs"] == added.evaluate()["pairs"]


def kg(name: str, *entities: str) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(name, [(entity, "r", entities[0]) for entity in entities])


def names_of_known(seeds: list[dict[str, str]], held_out: list[dict[str, str]] | None = None) -> Task:
    """What becomes of two seeds and two held-out groups over a and b when c comes with groups of its own."""
    kgs = [kg("a", *"stuvw"), kg("b", *"stuvw")]
    before = [[{"a": one, "b": one} for one in some] for some in ("st", "uv")]
    new = kg("c", *"stuvw")
    task = Task(kgs, *(Groups.from_names(kgs, groups) for groups in before))
    known = [None if some is None else Groups.from_names([*kgs, new], some) for some in (seeds, held_out)]
    assert known[0] is not None
    return grown(task, new, known[0], known[1])


def test_seeds_are_united_with_those_of_before_where_they_share_members() -> None:
    task = names_of_known([{"a": "s", "c": "s"}, {"b": "w", "c": "w"}, {"a": "u", "c": "u"}])
    assert named(task.seeds, task) == {
        group(a="s", b="s", c="s"),
        group(b="w", c="w"),
        group(a="u", c="u"),
    }
    assert named(task.open_seeds.groups, task) == {group(a="t", b="t")}  # nothing was said of it
    assert named(task.held_out, task) == {group(a="v", b="v")}  # the other has a member that is in a seed now


def test_held_out_groups_are_known_in_the_new_kg_where_someone_says_so() -> None:
    task = names_of_known([{"a": "s", "c": "s"}], [{"a": "u", "b": "u", "c": "u"}, {"b": "w", "c": "w"}])
    assert named(task.held_out, task) == {group(a="u", b="u", c="u"), group(a="v", b="v"), group(b="w", c="w")}
    with pytest.raises(InputError, match="entity 's' of KG 'a' is in two groups, of the seeds and of the held-out"):
        names_of_known([{"a": "s", "c": "s"}], [{"a": "s", "c": "u"}])
    with pytest.raises(InputError, match=r"held-out group \(a 'u', b 'v', c 'u'\) joins two that are known to differ"):
        names_of_known([{"a": "s", "c": "s"}], [{"a": "u", "b": "v", "c": "u"}])


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([{"a": "s", "b": "t", "c": "s"}], r"seed \(a 's', b 't', c 's'\) joins two .*: \(a 's', b 's'\) and \(a 't'"),
        ([{"a": "s", "b": "w", "c": "s"}], r"seed \(a 's', b 'w', c 's'\) contradicts \(a 's', b 's'\)"),
        ([{"a": "s", "c": "s"}, {"b": "s", "c": "t"}], r"\(b 's', c 't'\) contradicts \(a 's', b 's', c 's'\)"),
        ([{"a": "u", "b": "u"}], "no seed has a member in the new KG 'c'"),
    ],
)
def test_seeds_that_contradict_what_is_known_are_refused(seeds: list[dict[str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        names_of_known(seeds)


def test_only_groups_say_what_is_the_same_in_the_merged_kg() -> None:
    kgs = [kg("a", "x", "y"), kg("b", "x", "y")]
    nothing = FoundGroups.of_members(Groups.empty(("a", "b")), np.empty((0, 2)))
    seeds = Groups.from_names(kgs, [{"a": "x", "b": "x"}])
    alignment = Alignment(Task(kgs, seeds), nothing, torch.zeros(4, 1), multiea.Enhancement())
    merged, nodes = merge(kgs, alignment)
    assert set(merged.entities) == {"a\tx", "a\ty", "b\ty"}
    named_nodes = [merged.entities.gather(own) for own in nodes]
    stands_for = [dict(zip(one.entities, own, strict=True)) for one, own in zip(kgs, named_nodes, strict=True)]
    assert stands_for == [{"x": "a\tx", "y": "a\ty"}, {"x": "a\tx", "y": "b\ty"}]
    assert len(merged.triples) == 4


def test_what_cannot_be_added_is_refused(parts: Parted, old: Alignment) -> None:
    for settings in ({"engine": "multiea"}, {"bootstrap": "none"}):
        with pytest.raises(SettingError, match="a KG is added by"):
            multiea.add(old, parts.kg, parts.seeds, **settings)
    with pytest.raises(InputError, match="already"):
        multiea.add(old, replace(parts.kg, name=old.task.kg_names[0]), parts.seeds)
    with pytest.raises(InputError, match="expected over kg1, kg2, kg3"):
        multiea.add(old, parts.kg, ordered(parts.seeds, [2, 0, 1]))
    bare = [replace(one, triples=one.triples[:0]) for one in old.task.kgs]
    with pytest.raises(InputError, match="with_triples=True"):
        multiea.add(replace(old, task=Task(bare, old.task.seeds)), parts.kg, parts.seeds)
    with pytest.raises(MultiEAError, match="no new KG since"):
        multiea.align(old.task, grown_from=old)


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words if word is not None])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs over two, three and four KGs, each grown from the one before, and what they were made of."""
    folder = tmp_path_factory.mktemp("adding")
    (folder / "all").mkdir()
    write_synthetic(Synthesis(kgs=4, entities=200, relations=10, overlap=0.8), folder / "all")
    task = multiea.load(folder / "all")
    three = parted(task, 3)
    two = parted(three.before, 2)
    (folder / "data").mkdir()
    for one in two.before.kgs:
        shutil.copy(folder / "all" / f"{one.name}.tsv", folder / "data")
    write_groups(two.before.seeds, two.before.kgs, folder / "data" / "seeds.tsv")
    write_groups(two.before.held_out, two.before.kgs, folder / "data" / "held_out.tsv")
    for part, number in ((two, 3), (three, 4)):
        kgs = [*part.before.kgs, part.kg]
        write_groups(part.seeds, kgs, folder / f"seeds{number}.tsv")
        write_groups(part.held_out, kgs, folder / f"held_out{number}.tsv")
        shutil.copy(folder / "all" / f"kg{number}.tsv", folder)
    run("align", folder / "data", "--out", folder / "run2", "--no-progress")
    for number in (3, 4):
        known = ["--seeds", folder / f"seeds{number}.tsv", "--held-out", folder / f"held_out{number}.tsv"]
        place = ["--out", folder / f"run{number}", "--no-progress"]
        run("add", folder / f"run{number - 1}", folder / f"kg{number}.tsv", *known, *place)
    return folder


def test_runs_can_be_grown_again_and_again_and_lead_back_to_their_triples(folder: Path) -> None:
    task = multiea.load(folder / "all")
    opened = multiea.open(folder / "run4", with_triples=True)
    assert opened.task.kg_names == task.kg_names
    for one, expected in zip(opened.task.kgs, task.kgs, strict=True):
        assert_same_kg(one, expected)
    assert named(opened.task.seeds, opened.task) == named(task.seeds, task)
    assert named(opened.task.held_out, opened.task) == named(task.held_out, task)
    ids = [set(multiea.open(folder / f"run{number}").groups["group_id"]) for number in (2, 3, 4)]
    assert len(ids[0] & ids[2]) > 0.5 * len(ids[0])
    assert (folder / "run4" / "lineage.tsv").is_file()


def test_a_grown_run_is_run_again_from_its_settings(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("align", "--config", folder / "run4", "--out", "again", "--no-progress")
    opened, again = multiea.open(folder / "run4"), multiea.open("again")
    assert again.fingerprint == opened.fingerprint
    assert again.groups["group_id"].to_list() == opened.groups["group_id"].to_list()
    assert (tmp_path / "again" / "config.toml").read_text() == (folder / "run4" / "config.toml").read_text()


def test_a_new_kg_may_have_another_name_than_its_file(folder: Path, tmp_path: Path) -> None:
    table = pl.read_csv(folder / "seeds3.tsv", separator="\t").rename({"kg3": "other"})
    table.write_csv(tmp_path / "seeds.tsv", separator="\t")
    words = ["--name", "other", "--seeds", tmp_path / "seeds.tsv", "--no-progress"]
    run("add", folder / "run2", folder / "kg3.tsv", *words, "--out", tmp_path / "run")
    opened = multiea.open(tmp_path / "run", with_triples=True)
    assert opened.task.kg_names == ("kg1", "kg2", "other")
    shown = run("report", tmp_path / "run", "--out", tmp_path / "page.html", "--no-progress")
    assert "page.html" in shown
    assert f"<span>--config {tmp_path / 'run'}</span>" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["RUN/data", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv"], "expected a run folder"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv", "--name", "kg1"], "a KG named 'kg1' already"),
        (["RUN/run3", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv"], "a KG named 'kg3' already"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/data/seeds.tsv"], "no seed has a member in the new KG 'kg3'"),
        (["RUN/run2", "RUN/kg3.what", "--seeds", "RUN/seeds3.tsv"], "unknown format"),
        (["RUN/run2", "RUN/none.tsv", "--seeds", "RUN/seeds3.tsv"], "no such file"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds4.tsv"], "'kg4', which is not a KG"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv", "--held-out", "RUN/seeds3.tsv"], "is in two groups"),
        (["RUN/run2", "RUN/kg3.tsv", "--seeds", "RUN/seeds3.tsv", "--device", "gpu"], "unknown device 'gpu'"),
    ],
)
def test_what_cannot_be_added_is_said_in_a_line(folder: Path, tmp_path: Path, words: list[str], message: str) -> None:
    (folder / "kg3.what").touch()
    words = [word.replace("RUN", str(folder)) for word in words]
    said = run("add", *words, "--out", tmp_path / "out", "--no-progress", code=2)
    (line,) = [line for line in said.splitlines() if not line.startswith("warning")]
    assert message in line
    assert not list(tmp_path.iterdir())


def test_a_run_that_others_grow_from_is_not_written_over(folder: Path) -> None:
    words = ["--seeds", folder / "seeds4.tsv", "--force", "--no-progress"]
    for target in ("run3", "run2"):
        said = run("add", folder / "run3", folder / "kg4.tsv", *words, "--out", folder / target, code=2)
        assert "is what the new run grows from" in said
    said = run("align", "--config", folder / "run4", "--out", folder / "run2", "--force", "--no-progress", code=2)
    assert "is what the new run grows from" in said


def test_settings_that_do_not_go_with_a_grown_run_are_refused(folder: Path, tmp_path: Path) -> None:
    for words in (["--train-ratio", "0.5"], ["--previous", folder / "run2"]):
        said = run("align", "--config", folder / "run4", *words, "--out", tmp_path / "out", code=2)
        assert "does not go with data.grown_from" in said
    said = run("align", "world", "--set", "data.held_out=x", "--out", tmp_path / "out", code=2)
    assert "data.held_out only goes with data.grown_from" in said


def test_a_run_whose_data_changed_or_that_is_gone_takes_no_kg(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "moved"
    shutil.copytree(folder, place)
    config = place / "run2" / "config.toml"
    config.write_text(config.read_text().replace(str(folder), str(place)))
    words = ["add", place / "run2", place / "kg3.tsv", "--seeds", place / "seeds3.tsv", "--out", tmp_path / "out"]
    with (place / "data" / "kg2.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    assert "is not what this run was made of: kg2" in run(*words, code=2)
    shutil.rmtree(place / "data")
    assert "no data set" in run(*words, code=2)
    assert not (tmp_path / "out").exists()
