"""Changes from one run to another, group by group."""

from __future__ import annotations

from multiea.evaluation.changes import KINDS, Changes, changes_between
from multiea.evaluation.run_summary import RunSummary
from support.summaries import run_with_groups


def changed(first: RunSummary, second: RunSummary) -> Changes:
    changes = changes_between(first, second)
    assert changes is not None
    return changes


def test_every_kind_of_change_by_hand() -> None:
    first = run_with_groups(
        {"seed": "a0 b0", "same": "a1 b1 c1", "more": "a2 b2", "lost": "a3 b3", "apart": "a4 b4 c4 c6", "x": "a5 b5",
         "y": "c5 a6", "core": "a7 b7 c7 a8 c8", "join": "b9 c9"},
        seeds=("seed",), lost=0.9, apart=0.7,
    )  # fmt: skip
    second = run_with_groups(
        {"seed": "a0 b0", "other id": "c1 b1 a1", "m": "a2 b2 c2", "born": "a9 b6", "p": "a4 b4", "q": "c4 c6",
         "xy": "a5 b5 c5 a6", "new core": "a7 b7 c7 b9 c9", "off": "a8 c8"},
        seeds=("seed",), born=0.8, xy=0.95,
    )  # fmt: skip
    changes = changed(first, second)
    assert changes.counts == dict.fromkeys(KINDS, 1)
    assert changes.seeds == 1
    assert [change["what"] for change in changes.most_confident()] == [
        "merged", "only in first", "only in second", "split", "changed members", "mixed",
    ]  # fmt: skip
    merged = [(group["run"], group["group_id"]) for group in changes.most_confident()[0]["groups"]]
    assert merged == [("first", "x"), ("first", "y"), ("second", "xy")]
    assert set(changes.table["group_id"]) & {"seed", "same", "other id"} == set()
    assert len(changes.most_confident(2)) == 2


def test_groups_that_exchange_members_are_separate_changes_however_long_the_chain() -> None:
    first = run_with_groups({f"{i}": f"a{i} b{i} c{i}" for i in range(50)})
    second = run_with_groups({f"{i}": f"a{i} b{i} c{(i + 1) % 50}" for i in range(50)})
    changes = changed(first, second)
    assert changes.counts == dict.fromkeys(KINDS, 0) | {"changed members": 50}
    assert all(len(change["groups"]) == 2 for change in changes.most_confident())


def test_a_group_that_became_a_seed_counts_as_the_same() -> None:
    changes = changed(run_with_groups({"g": "a1 b1"}), run_with_groups({"g": "a1 b1"}, seeds=("g",)))
    assert (changes.counts["same"], changes.seeds) == (1, 0)


def test_only_kgs_of_both_runs_are_compared() -> None:
    changes = changed(run_with_groups({"g": "a1 b1 c1", "h": "a2 c2"}), run_with_groups({"k": "a1 b1 d1"}, kgs="abd"))
    assert changes.counts == dict.fromkeys(KINDS, 0) | {"same": 1}
    assert changes.kg_names == ("a", "b")
    assert changes_between(run_with_groups({"g": "a1 b1"}), run_with_groups({"g": "a1 d1"}, kgs="ad")) is None
