"""The page of any alignment: complete, deterministic, safe against hostile names, and small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from multiea import Data, Groups, OutputError, Task
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.found_groups import FoundGroups
from multiea.report import embedding_map
from support.handmade import HOSTILE, chain_alignment
from support.html_pages import checked_text, headings
from support.report_sections import SECTIONS


def test_a_failure_or_an_interrupt_leaves_the_old_page_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_text("old", encoding="utf-8")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    alignment = chain_alignment(2, 20)
    for where, name, stop, expected in (
        (embedding_map, "project", interrupted, KeyboardInterrupt),
        (Path, "write_text", full, OutputError),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(where, name, stop)
            with pytest.raises(expected):
                alignment.report(page, force=True)
        assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
        assert page.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("kgs", [2, 5])
@pytest.mark.parametrize("held_out", [True, False])
def test_any_number_of_kgs_with_or_without_held_out_groups_gives_the_same_page_twice(
    tmp_path: Path, kgs: int, held_out: bool
) -> None:
    chain_alignment(kgs, 30, held_out=held_out).report(tmp_path / "page.html")
    chain_alignment(kgs, 30, held_out=held_out).report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()
    text = checked_text(tmp_path / "page.html")
    expected = [title for title in SECTIONS if title != "Learning curves" and (held_out or "held-out" not in title)]
    assert headings(tmp_path / "page.html") == expected
    assert ("the result cannot be scored" in text) is not held_out
    assert ("partial groups" in text) is (kgs > 2)
    for number in range(kgs):
        assert f"kg{number}" in text


def test_names_and_ids_cannot_become_markup(tmp_path: Path) -> None:
    alignment = chain_alignment(3, 40, hostile=True)
    data = Data(source=(HOSTILE[1],), name=HOSTILE[0])
    settings = replace(alignment.settings, engine=HOSTILE[0], data=data)
    history = {"pairs": {HOSTILE[1]: {"losses": [2.0, 1.0], "best_epoch": 1}}}
    further = Duplicates(np.array([0]), np.array([1]), np.array([44], dtype=np.int32), np.array([0.5]))
    alignment = replace(alignment, settings=settings, history=history, duplicates=further)
    metrics = {"hits": {HOSTILE[0]: {HOSTILE[1]: {"1": 0.5}}}, "mrr": {}, "m_hits": {HOSTILE[1]: {"1": None}}}
    alignment.report(tmp_path / "page.html", metrics=metrics)
    text = checked_text(tmp_path / "page.html")
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;" in text
    assert "default-src &#x27;none&#x27;" in text  # even markup could not run


def test_control_characters_and_very_long_names_are_harmless(tmp_path: Path) -> None:
    alignment = chain_alignment(2, 20)
    first, second = alignment.task.kgs
    names = pl.Series(["\x00\x1b[31mred" if at % 2 else "x" * 1_000_000 for at in range(len(first.entities))])
    task = alignment.task
    task = Task([replace(first, names=names), second], task.seeds, task.held_out, name="odd \udcff")
    replace(alignment, task=task).report(tmp_path / "page.html")
    text = checked_text(tmp_path / "page.html")
    assert "\x00" not in text
    assert "\x1b" not in text
    assert "x" * 200 not in text
    assert len(text) < 300_000


def test_an_alignment_without_found_groups_has_a_page(tmp_path: Path) -> None:
    alignment = chain_alignment(3, 1)
    names = alignment.task.kg_names
    replace(alignment, found=FoundGroups.from_members(Groups.empty(names), np.zeros((0, 3)))).report(
        tmp_path / "page.html"
    )
    assert "No group was found" in checked_text(tmp_path / "page.html")


def test_a_hundred_thousand_groups_make_a_small_page(tmp_path: Path) -> None:
    chain_alignment(4, 100_000).report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    assert "A sample: 225 of 100,000 groups" in checked_text(tmp_path / "page.html")
