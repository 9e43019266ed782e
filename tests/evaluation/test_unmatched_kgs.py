"""A KG, or a pair of KGs, in which hardly anything was matched is mentioned where others were matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

import multiea
from multiea import Alignment
from multiea.evaluation.self_check import doubts


def aligned_tables(rows: Mapping[str, Sequence[int]], seeds: int = 0) -> Alignment:
    """Tables of which each has some of the same names, given by their numbers; seeds: of those of the first."""
    letters = np.random.default_rng(0).integers(0, 26, (200, 2, 7)) + ord("a")
    names = [" ".join("".join(map(chr, word)) for word in name) for name in letters.tolist()]
    tables = {
        kg: pl.DataFrame({"id": [f"{kg}{row}" for row in of_kg], "name": [names[row] for row in of_kg]})
        for kg, of_kg in rows.items()
    }
    known = [{kg: f"{kg}{row}" for kg in rows if row in rows[kg]} for row in next(iter(rows.values()))[:seeds]]
    return multiea.align(multiea.load(tables, seeds=known or None))


def test_a_kg_that_stays_nearly_unmatched_is_mentioned_with_what_helps() -> None:
    (doubt,) = doubts(aligned_tables({"a": range(40), "b": range(40), "c": range(100, 140)}))
    assert "hardly any non-seed entity of 'c' (0 of 40) was matched, although many others were" in doubt
    assert "What helps: seeds that have members there, names or attributes" in doubt
    assert "multiea inspect" in doubt


def test_the_same_with_seeds_and_the_seeds_do_not_count() -> None:
    words = " ".join(doubts(aligned_tables({"a": range(60), "b": range(60), "c": [0, 1, *range(100, 140)]}, seeds=20)))
    assert "hardly any non-seed entity of 'c' (0 of 40) was matched" in words


def test_of_many_kgs_a_few_are_named() -> None:
    many = {f"kg{kg}": range(kg * 20, kg * 20 + 20) for kg in range(8)}
    (doubt,) = doubts(aligned_tables({"a": range(160, 200), "b": range(160, 200)} | many))
    assert "'kg4' (0 of 20) and 3 more was matched" in doubt


def test_a_pair_of_kgs_without_matches_is_mentioned_where_there_are_few_kgs() -> None:
    (doubt,) = doubts(aligned_tables({"a": range(40), "b": range(80), "c": range(40, 80)}))
    assert "hardly any entity was matched between 'a' and 'c' (0 pairs), although many elsewhere were" in doubt


def test_a_large_kg_that_holds_all_of_a_small_one_is_not_doubted() -> None:
    assert not doubts(aligned_tables({"a": range(200), "b": range(15)}))


def test_where_nothing_is_matched_at_all_one_warning_is_enough() -> None:
    aligned = aligned_tables({"a": range(40), "b": range(40)})
    nothing = replace(aligned, found=aligned.found.take(np.zeros(len(aligned.found.groups), dtype=bool)))
    (doubt,) = doubts(nothing)
    assert "nothing matched" in doubt
