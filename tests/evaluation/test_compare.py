"""Runs held against each other: scores, tests, and what changed from group to group."""

from __future__ import annotations

import json
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from scipy.stats import binomtest
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task
from multiea.evaluation.changes import KINDS, Changes, changes_between
from multiea.evaluation.comparison import Run, compare, f1_difference, holm, summarised
from multiea.grouping.alignment import Alignment
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.judging import groups_found_right, pairs_by_group, scores_of_groups, scores_of_pairs
from multiea.grouping.matching import FoundGroups
from multiea.similarity.enhancement import Enhancement


@pytest.fixture(scope="module")
def pair(small: Task) -> tuple[Alignment, Alignment]:
    """Two alignments of one task, the second a little worse."""
    first = multiea.align(small)
    return first, first.with_enhancement(Enhancement("none"))


def summary(name: str, alignment: Alignment) -> Run:
    return summarised(name, alignment, alignment.evaluate())


@pytest.fixture(scope="module")
def summaries(pair: tuple[Alignment, Alignment]) -> list[Run]:
    return [summary(name, alignment) for name, alignment in zip(("one", "two"), pair, strict=True)]


def made(first: list[bool], second: list[bool]) -> list[Run]:
    """Two runs of which only outcomes are known."""
    held_out = pl.DataFrame({"a": [str(i) for i in range(len(first))], "b": [str(i) for i in range(len(first))]})
    runs = []
    for outcome in (first, second):
        right = np.array(outcome, dtype=bool)
        pairs = np.column_stack([right, np.ones(len(right)), np.ones(len(right))]).astype(float)
        empty = pl.DataFrame(schema=dict.fromkeys(("group_id", "right", "status", "kg", "entity", "label"), pl.String))
        groups = empty.with_columns(confidence=pl.lit(0.5)).clear()
        runs.append(Run("", ("a", "b"), 0, 0, {}, held_out, {"group": right, "rank": ~right}, pairs, groups))
    return runs


def test_mcnemar_counts_the_groups_on_which_only_one_run_is_right() -> None:
    alike = [True] * 5 + [False] * 4
    first, second = made([True] * 9 + [False] * 2 + alike, [False] * 9 + [True] * 2 + alike)
    comparison = compare([first, second])
    group, rank = comparison.tested[0].tests
    literal = 2 * sum(comb(11, k) for k in range(3)) / 2**11
    assert (group.groups, group.first, group.second) == (20, 9, 2)
    assert group.p == pytest.approx(literal) == pytest.approx(binomtest(9, 11).pvalue)
    assert (rank.first, rank.second) == (2, 9)
    assert rank.p == pytest.approx(group.p)
    assert group.p_holm == pytest.approx(2 * literal)
    same = compare([first, first]).tested[0]
    assert [test.p for test in same.tests] == [1.0, 1.0]
    assert same.pair_f1 is not None
    assert (same.pair_f1.difference, same.pair_f1.low, same.pair_f1.high) == (0, 0, 0)


def test_more_runs_are_corrected_for_all_tests_and_their_order_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    outcomes = [rng.random(60) < share for share in (0.8, 0.6, 0.7, 0.5)]
    runs = [replace(made(one.tolist(), one.tolist())[0], name=str(at)) for at, one in enumerate(outcomes)]
    comparison = compare(runs)
    assert comparison.tests == 6
    assert comparison.changes is None
    alone = {run.name: compare([runs[0], run]).tested[0] for run in runs[1:]}
    p = [test.p for one in comparison.tested for test in one.tests]
    assert p == [test.p for run in runs[1:] for test in alone[run.name].tests]
    assert [test.p_holm for one in comparison.tested for test in one.tests] == holm(p)
    other = {one.run: one for one in compare([runs[0], runs[3], runs[1], runs[2]]).tested}
    assert all(other[one.run] == one for one in comparison.tested)


def test_holms_method_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.001, 0.9]) == pytest.approx([1.0, 0.003, 1.0])
    assert holm([]) == []


def test_counts_by_group_add_up_to_the_scores(pair: tuple[Alignment, Alignment], other_answers: Groups) -> None:
    for alignment in pair:
        for held_out in (alignment.task.held_out, other_answers):
            found = alignment.found.groups
            right, judged, known = pairs_by_group(found, held_out).sum(axis=0)
            scores = scores_of_pairs(found, held_out)
            assert right / judged == pytest.approx(scores["precision"])
            assert right / known == pytest.approx(scores["recall"])
            recall = scores_of_groups(found, held_out)["recall"]
            assert groups_found_right(found, held_out).mean() == pytest.approx(recall)


def test_counts_by_group_by_hand() -> None:
    held_out = Groups(tuple("abc"), np.array([[0, 0, 0], [1, 1, -1], [2, 2, 2]]))
    found = Groups(tuple("abc"), np.array([[0, 0, 5], [1, 1, 6], [2, 3, -1], [7, 2, -1], [8, 9, 9]]))
    # group 0: the pair a-b right, c is wrong seen from a and from b; group 1: right, c is unknown there;
    # group 2: a2-b3 and a7-b2 are wrong, each seen from one end
    assert pairs_by_group(found, held_out).tolist() == [[1, 3, 3], [1, 1, 1], [0, 2, 3]]
    assert groups_found_right(found, held_out).tolist() == [False, True, False]
    crossed = Groups(tuple("abc"), np.array([[0, 2, -1]]))  # wrong, seen from both ends
    assert pairs_by_group(crossed, held_out)[:, 1].tolist() == [0.5, 0, 0.5]


def literally_resampled(first: np.ndarray, second: np.ndarray, resamples: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    differences = []
    for _ in range(resamples):
        drawn = rng.integers(len(first), size=len(first))
        one, other = first[drawn].sum(axis=0), second[drawn].sum(axis=0)
        differences.append(2 * other[0] / (other[1] + other[2]) - 2 * one[0] / (one[1] + one[2]))
    return np.quantile(differences, [0.025, 0.975])


def test_the_interval_of_f1_is_that_of_drawing_groups_one_by_one(summaries: list[Run]) -> None:
    first, second = (run.pairs for run in summaries)
    difference = f1_difference(first, second)
    f1 = [run.scores["pairs f1"] for run in summaries]
    assert difference.difference == pytest.approx(f1[1] - f1[0])
    assert (difference.groups, difference.resamples) == (len(first), 10_000)
    literal = literally_resampled(first, second, 4_000)
    width = literal[1] - literal[0]
    assert width > 0
    assert [difference.low, difference.high] == pytest.approx(literal, abs=0.08 * width)
    assert f1_difference(first, second) == difference
    assert f1_difference(first, second, random_state=1).low != difference.low


def test_exchanging_two_runs_changes_the_sign_alone(summaries: list[Run]) -> None:
    there, back = compare(summaries), compare(summaries[::-1])
    for one, other in zip(there.tested[0].tests, back.tested[0].tests, strict=True):
        assert (one.first, one.second, one.p) == (other.second, other.first, other.p)
    one, other = there.tested[0].pair_f1, back.tested[0].pair_f1
    assert one is not None
    assert other is not None
    assert (one.difference, one.low, one.high) == pytest.approx((-other.difference, -other.high, -other.low))
    assert there.changes is not None
    assert back.changes is not None
    mirrored = {"only in first": "only in second", "split": "merged"}
    mirrored |= {value: key for key, value in mirrored.items()}
    assert {mirrored.get(kind, kind): count for kind, count in back.changes.counts.items()} == there.changes.counts
    assert sum(there.changes.counts[kind] for kind in KINDS[1:]) > 0


def shuffled(alignment: Alignment, seed: int) -> Alignment:
    """The same, with KGs, entities and groups in another order."""
    rng = np.random.default_rng(seed)
    task, order = alignment.task, rng.permutation(len(alignment.task.kgs))
    starts = np.cumsum([0, *(len(kg.entities) for kg in task.kgs)])
    kgs, moves, rows = [], [], []
    for at in order:
        kg, chosen = task.kgs[at], rng.permutation(len(task.kgs[at].entities))
        nothing = np.empty((0, 3), dtype=np.int32)
        kgs.append(KnowledgeGraph(kg.name, kg.entities.gather(chosen), kg.relations, nothing))
        moves.append(np.append(np.argsort(chosen), -1).astype(np.int32))  # the last place is for -1
        rows.append(starts[at] + chosen)
    names = tuple(kg.name for kg in kgs)

    def moved(groups: Groups, mix: np.ndarray) -> Groups:
        columns = [move[groups.members[:, at]] for at, move in zip(order, moves, strict=True)]
        return Groups(names, np.stack(columns, axis=1)[mix])

    mixes = [rng.permutation(len(groups)) for groups in (task.seeds, task.held_out, alignment.found.groups)]
    other = Task(kgs, moved(task.seeds, mixes[0]), moved(task.held_out, mixes[1]))
    confidence = alignment.found.confidence[mixes[2]][:, order]
    found = FoundGroups.of_members(moved(alignment.found.groups, mixes[2]), confidence)
    embeddings = alignment.embeddings[np.concatenate(rows)]
    return replace(alignment, task=other, found=found, embeddings=embeddings, duplicates=Duplicates(), _among_all=None)


def test_the_order_of_kgs_entities_and_groups_changes_no_score_no_test_and_no_change(
    pair: tuple[Alignment, Alignment], summaries: list[Run]
) -> None:
    expected = compare(summaries)
    runs = [summary(run.name, shuffled(one, 3 + at)) for at, (run, one) in enumerate(zip(summaries, pair, strict=True))]
    for run, other in zip(summaries, runs, strict=True):
        assert {k: v for k, v in run.scores.items() if v is not None} == pytest.approx(
            {k: v for k, v in other.scores.items() if v is not None}
        )
    again = compare(runs)
    assert again.tested == expected.tested
    assert again.changes is not None
    assert expected.changes is not None
    assert again.changes.counts == expected.changes.counts
    assert again.changes.table.equals(expected.changes.table)


def test_the_outcome_by_rank_is_that_of_looking_at_every_counterpart(pair: tuple[Alignment, Alignment]) -> None:
    alignment = pair[1]
    run = summary("", alignment)
    task = alignment.task
    scores, pools = alignment.similarities("test")
    dense = {pair: matrix.rows(torch.arange(matrix.shape[0])).numpy() for pair, matrix in scores.items()}
    literal = {}
    for members in task.held_out.members:
        first = True
        for a, b in dense:
            if members[a] >= 0 and members[b] >= 0:
                row = dense[a, b][np.flatnonzero(pools[a] == members[a])[0]]
                own = row[np.flatnonzero(pools[b] == members[b])[0]]
                first &= bool((row >= own).sum() == 1)
        present = [kg for kg in range(len(task.kgs)) if members[kg] >= 0]
        literal[frozenset((task.kgs[kg].name, task.kgs[kg].entities[int(members[kg])]) for kg in present)] = first
    for row, outcome in zip(run.held_out.iter_rows(named=True), run.outcomes["rank"], strict=True):
        assert literal[frozenset((kg, name) for kg, name in row.items() if name is not None)] == outcome
    assert 0 < run.outcomes["rank"].mean() < 1


def run_of(groups: dict[str, str], kgs: str = "abc", seeds: tuple[str, ...] = (), **confidence: float) -> Run:
    """A run of which only the groups are known: 'a1 b1' has the entities a1 of KG a and b1 of KG b."""
    rows = [
        (name, confidence.get(name, 0.5), "given" if name in seeds else "unknown", "found", member[0], member, member)
        for name, members in groups.items() for member in members.split()
    ]  # fmt: skip
    columns = ["group_id", "confidence", "right", "status", "kg", "entity", "label"]
    return replace(made([], [])[0], kg_names=tuple(kgs), groups=pl.DataFrame(rows, schema=columns, orient="row"))


def changed(first: Run, second: Run) -> Changes:
    changes = changes_between(first, second)
    assert changes is not None
    return changes


def test_every_kind_of_change_by_hand() -> None:
    first = run_of(
        {"seed": "a0 b0", "same": "a1 b1 c1", "more": "a2 b2", "lost": "a3 b3", "apart": "a4 b4 c4 c6", "x": "a5 b5",
         "y": "c5 a6", "core": "a7 b7 c7 a8 c8", "join": "b9 c9"},
        seeds=("seed",), lost=0.9, apart=0.7,
    )  # fmt: skip
    second = run_of(
        {"seed": "a0 b0", "other id": "c1 b1 a1", "m": "a2 b2 c2", "born": "a9 b6", "p": "a4 b4", "q": "c4 c6",
         "xy": "a5 b5 c5 a6", "new core": "a7 b7 c7 b9 c9", "off": "a8 c8"},
        seeds=("seed",), born=0.8, xy=0.95,
    )  # fmt: skip
    changes = changed(first, second)
    assert changes.counts == dict.fromkeys(KINDS, 1)
    assert changes.seeds == 1
    assert [change["what"] for change in changes.surest()] == [
        "merged", "only in first", "only in second", "split", "changed members", "mixed",
    ]  # fmt: skip
    merged = [(group["run"], group["group_id"]) for group in changes.surest()[0]["groups"]]
    assert merged == [("first", "x"), ("first", "y"), ("second", "xy")]
    assert set(changes.table["group_id"]) & {"seed", "same", "other id"} == set()
    assert len(changes.surest(2)) == 2


def test_groups_that_exchange_members_are_changes_of_their_own_however_long_the_chain() -> None:
    first = run_of({f"{i}": f"a{i} b{i} c{i}" for i in range(50)})
    second = run_of({f"{i}": f"a{i} b{i} c{(i + 1) % 50}" for i in range(50)})
    changes = changed(first, second)
    assert changes.counts == dict.fromkeys(KINDS, 0) | {"changed members": 50}
    assert all(len(change["groups"]) == 2 for change in changes.surest())


def test_what_became_a_seed_is_still_counted_as_the_same() -> None:
    changes = changed(run_of({"g": "a1 b1"}), run_of({"g": "a1 b1"}, seeds=("g",)))
    assert (changes.counts["same"], changes.seeds) == (1, 0)


def test_only_kgs_of_both_runs_are_looked_at() -> None:
    changes = changed(run_of({"g": "a1 b1 c1", "h": "a2 c2"}), run_of({"k": "a1 b1 d1"}, kgs="abd"))
    assert changes.counts == dict.fromkeys(KINDS, 0) | {"same": 1}
    assert changes.kg_names == ("a", "b")
    assert changes_between(run_of({"g": "a1 b1"}), run_of({"g": "a1 d1"}, kgs="ad")) is None


@pytest.fixture(scope="module")
def folders(pair: tuple[Alignment, Alignment], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two runs over the same held-out groups, one over fewer, one over other KGs, one without any."""
    root = tmp_path_factory.mktemp("runs")
    first, second = pair
    task = first.task
    fewer = Task(task.kgs, task.seeds, task.held_out.take(np.arange(50)))
    renamed = [replace(kg, name=f"other {kg.name}") for kg in task.kgs]
    names = tuple(kg.name for kg in renamed)
    strangers = Task(renamed, *(Groups(names, groups.members) for groups in (task.seeds, task.held_out)))
    of_strangers = FoundGroups.of_members(Groups(names, first.found.groups.members), first.found.confidence)
    runs = {
        "one": first,
        "two": second,
        "fewer": replace(first, task=fewer),
        "none": replace(first, task=Task(task.kgs, task.seeds)),
        "strangers": replace(first, task=strangers, found=of_strangers),
    }
    for name, alignment in runs.items():
        alignment.save(root / name)
    return {name: str(root / name) for name in runs}


def answer_of(*words: str) -> dict:
    result = CliRunner().invoke(app, ["compare", *words, "--json", "--no-progress"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_command_answers_in_json_and_writes_all_changes(
    folders: dict[str, str], summaries: list[Run], tmp_path: Path
) -> None:
    answer = answer_of(folders["one"], folders["two"], "--out", str(tmp_path / "changes.tsv"))
    expected = compare(summaries)
    assert answer["runs"][1]["scores"]["pairs.f1"] == pytest.approx(summaries[1].scores["pairs f1"])
    assert answer["tested"][0]["tests"][0]["p"] == pytest.approx(expected.tested[0].tests[0].p)
    assert answer["tested"][0]["tests"][0]["groups"] == len(summaries[0].pairs)
    assert answer["tested"][0]["pair_f1"]["resamples"] == 10_000
    assert expected.changes is not None
    assert answer["changes"]["counts"] == expected.changes.counts
    table = pl.read_csv(tmp_path / "changes.tsv", separator="\t")
    assert table["change"].n_unique() == sum(expected.changes.counts[kind] for kind in KINDS[1:])
    assert set(table["right"]) <= {"right", "wrong", "unknown", "given"}
    result = CliRunner().invoke(
        app, ["compare", folders["one"], folders["two"], "--out", str(tmp_path / "changes.tsv")]
    )
    assert result.exit_code == 2
    assert "exists" in result.stderr


def test_the_command_shows_tables_and_says_what_rests_on_how_many_groups(folders: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["compare", folders["one"], folders["two"], "--no-progress"])
    assert result.exit_code == 0, result.output
    for words in (
        "M-Hits@1, test",
        "McNemar",
        "1 run tested against 1, 2 tests in all",
        "10,000 bootstrap resamples of",
        "only in second",
        "The surest of",
        "not counted: 135 seeds of both",
    ):
        assert words in result.output
    result = CliRunner().invoke(app, ["compare", folders["one"], folders["two"], folders["one"], "--no-progress"])
    assert "2 runs tested against 1, 4 tests in all: p (Holm)" in result.output
    assert "The surest of" not in result.output


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("fewer", "its 50 held-out groups are not the"),
        ("none", "no held-out groups"),
        ("strangers", "over other KGs (other kg1, other kg2, other kg3) than the first (kg1, kg2, kg3)"),
    ],
)
def test_runs_that_cannot_be_tested_are_shown_and_the_reason_is_said(
    folders: dict[str, str], other: str, reason: str
) -> None:
    answer = answer_of(folders["one"], folders[other], folders["two"])
    assert reason in answer["tested"][0]["why_not"]
    assert answer["tested"][0]["tests"] == []
    assert answer["tested"][1]["why_not"] is None
    assert answer["tests"] == 2
    result = CliRunner().invoke(app, ["compare", folders["one"], folders[other], "--no-progress"])
    assert f"2 is not tested against 1: {answer['tested'][0]['why_not']}" in result.output
    assert "McNemar" not in result.output


def test_scores_are_made_where_a_run_does_not_hold_them(folders: dict[str, str]) -> None:
    metrics = Path(folders["two"]) / "metrics.json"
    text = metrics.read_text(encoding="utf-8")
    before = answer_of(folders["one"], folders["two"])["runs"][1]
    try:
        metrics.unlink()
        after = answer_of(folders["one"], folders["two"])["runs"][1]
        metrics.write_text("{", encoding="utf-8")
        result = CliRunner().invoke(app, ["compare", folders["one"], folders["two"]])
    finally:
        metrics.write_text(text, encoding="utf-8")
    assert after["scores"]["m_hits.test.1"] == pytest.approx(before["scores"]["m_hits.test.1"])
    assert result.exit_code == 2
    assert "damaged" in result.stderr


def test_scores_that_no_run_has_are_not_shown(folders: dict[str, str]) -> None:
    with_scores = CliRunner().invoke(app, ["compare", folders["one"], folders["none"]]).stdout
    without = CliRunner().invoke(app, ["compare", folders["none"], folders["none"]]).stdout
    assert "M-Hits" in with_scores
    assert "M-Hits" not in without
    assert "groups found" in without


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_errors_are_one_line_and_write_nothing(folders: dict[str, str], tmp_path: Path, tail: list[str]) -> None:
    out = tmp_path / "changes.tsv"
    one, two, strangers = folders["one"], folders["two"], folders["strangers"]
    for words, message in (
        ([one], "at least two run folders"),
        ([one, str(tmp_path / "nowhere")], "nowhere: does not exist"),
        ([one, two, one, "--out", str(out)], "--out writes the changes between two runs, but 3 were given"),
        ([one, strangers, "--out", str(out)], "fewer than two KGs in common"),
        ([one, two, "--random-state", "-1"], "random_state must be"),
    ):
        result = CliRunner().invoke(app, ["compare", *words, *tail, "--no-progress"])
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
        assert not out.exists()
