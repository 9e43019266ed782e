"""Lineage: which ids groups inherit from a previous run, and what becomes of each id."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest

from multiea.grouping.lineage import Ancestor, follow, hashed_id

Fate = tuple[str, int, int, str]


def table(groups: dict[str, str]) -> pl.DataFrame:
    """Groups as 'a1 b1': the letter is the KG, the whole the entity."""
    rows = [(name, member[0], member) for name, members in groups.items() for member in members.split()]
    return pl.DataFrame(rows, schema=["group_id", "kg", "entity"], orient="row")


def followed(
    old: dict[str, str], new: dict[str, str], once_used: tuple[str, ...] = ()
) -> tuple[dict[str, str], dict[str, Fate]]:
    ancestor = Ancestor(table(old), ("a", "b", "c", "d"), pl.Series(once_used, dtype=pl.String))
    ids, lineage = follow(ancestor, table(new))
    return dict(ids.iter_rows()), {
        name: (became, before, after, into) for name, became, before, after, into in lineage.iter_rows()
    }


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
        pytest.param(  # o shares most with n, but p shares more with it
            {"o": "a1 b1", "p": "c1 d1 a9"}, {"n": "a1 c1 d1 a9", "m": "b1 c2"}, {"n": "p", "m": "o"},
            {"o": ("changed", 2, 2, "o p"), "p": ("grown", 3, 4, "p")}, id="an id goes where it is not outbid",
        ),
    ],
)  # fmt: skip
def test_fates_of_groups_made_by_hand(
    old: dict[str, str], new: dict[str, str], ids: dict[str, str], fates: dict[str, Fate]
) -> None:
    assert followed(old, new) == (ids, fates)


def test_an_id_once_used_for_other_members_is_never_used_again() -> None:
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
    """The same choice, one by one: all overlaps in order, each taken if both groups are still free."""
    before: dict[str, set[tuple[str, str]]] = {}
    after: dict[str, set[tuple[str, str]]] = {}
    for groups, rows in ((before, old), (after, new)):
        for name, kg, entity in rows.iter_rows():
            groups.setdefault(name, set()).add((kg, entity))
    pairs = [(-len(one & other), -len(one), o, n) for o, one in before.items() for n, other in after.items()]
    ids: dict[str, str] = {}
    for shared, _, o, n in sorted(pairs):
        if shared and o not in ids.values() and n not in ids:
            ids[n] = o
    return ids


def test_ids_equal_a_greedy_choice_over_all_overlaps_and_do_not_depend_on_order() -> None:
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
