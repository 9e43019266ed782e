"""Comparison of runs: tests, intervals, and counts by group."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

from multiea import Alignment, Groups
from multiea.evaluation.changes import KINDS
from multiea.evaluation.comparison import compare, f1_difference, holm
from multiea.evaluation.run_summary import RunSummary
from multiea.grouping.judging import groups_found_right, pairs_by_group, scores_of_groups, scores_of_pairs
from support.shuffling import shuffled_alignment
from support.summaries import runs_with_outcomes, summary_of


def test_mcnemar_counts_the_groups_on_which_only_one_run_is_right() -> None:
    same_in_both = [True] * 5 + [False] * 4
    first, second = runs_with_outcomes([True] * 9 + [False] * 2 + same_in_both, [False] * 9 + [True] * 2 + same_in_both)
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
    runs = [replace(runs_with_outcomes(one.tolist(), one.tolist())[0], name=str(at)) for at, one in enumerate(outcomes)]
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
    return np.asarray(np.quantile(differences, [0.025, 0.975]))


def test_the_interval_of_f1_matches_drawing_groups_one_by_one(summaries: list[RunSummary]) -> None:
    first, second = (run.pairs for run in summaries)
    difference = f1_difference(first, second)
    f1 = [run.scores["pairs f1"] for run in summaries]
    assert f1[0] is not None
    assert f1[1] is not None
    assert difference.difference == pytest.approx(f1[1] - f1[0])
    assert (difference.groups, difference.resamples) == (len(first), 10_000)
    literal = literally_resampled(first, second, 4_000)
    width = literal[1] - literal[0]
    assert width > 0
    assert [difference.low, difference.high] == pytest.approx(literal, abs=0.08 * width)
    assert f1_difference(first, second) == difference
    assert f1_difference(first, second, random_state=1).low != difference.low


def test_exchanging_two_runs_changes_only_the_sign(summaries: list[RunSummary]) -> None:
    there, back = compare(summaries), compare(summaries[::-1])
    for one, other in zip(there.tested[0].tests, back.tested[0].tests, strict=True):
        assert (one.first, one.second, one.p) == (other.second, other.first, other.p)
    forward, backward = there.tested[0].pair_f1, back.tested[0].pair_f1
    assert forward is not None
    assert backward is not None
    mirrored_f1 = (-backward.difference, -backward.high, -backward.low)
    assert (forward.difference, forward.low, forward.high) == pytest.approx(mirrored_f1)
    assert there.changes is not None
    assert back.changes is not None
    mirrored = {"only in first": "only in second", "split": "merged"}
    mirrored |= {value: key for key, value in mirrored.items()}
    assert {mirrored.get(kind, kind): count for kind, count in back.changes.counts.items()} == there.changes.counts
    assert sum(there.changes.counts[kind] for kind in KINDS[1:]) > 0


def test_the_order_of_kgs_entities_and_groups_changes_no_score_no_test_and_no_change(
    pair: tuple[Alignment, Alignment], summaries: list[RunSummary]
) -> None:
    expected = compare(summaries)
    runs = [
        summary_of(run.name, shuffled_alignment(one, 3 + at))
        for at, (run, one) in enumerate(zip(summaries, pair, strict=True))
    ]
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


def test_the_outcome_by_rank_matches_a_loop_over_all_counterparts(pair: tuple[Alignment, Alignment]) -> None:
    alignment = pair[1]
    run = summary_of("", alignment)
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
