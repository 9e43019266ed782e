"""The part of docs/scale.md about Wikidata's size is made from the stored measured tasks."""

from __future__ import annotations

import pytest

import capacity_page
from measured_stages import MeasuredRun
from simulated_cluster import measured_again


@pytest.fixture(scope="module")
def run() -> MeasuredRun:
    return MeasuredRun.read(capacity_page.STORED)


def test_the_page_has_what_the_stored_tasks_give(run: MeasuredRun) -> None:
    text = capacity_page.PAGE.read_text(encoding="utf-8")
    assert text.count(capacity_page.BEGIN) == 1
    inside = text.split(capacity_page.BEGIN)[1].split(capacity_page.END)[0]
    assert inside == capacity_page.part(run, MeasuredRun.read(capacity_page.SMALLER))


def test_the_stored_runs_differ_in_their_size_only(run: MeasuredRun) -> None:
    smaller = MeasuredRun.read(capacity_page.SMALLER)
    assert (smaller.kgs, smaller.dimensions, smaller.width) == (run.kgs, run.dimensions, run.width)
    assert run.entities == 2 * smaller.entities
    density, other = (one.triples / one.entities for one in (run, smaller))
    assert density == pytest.approx(other, rel=0.02)
    assert density == pytest.approx(capacity_page.WIKIDATA.triples / capacity_page.WIKIDATA.entities, rel=0.05)


def test_the_stored_run_is_simulated_about_as_long_as_it_took(run: MeasuredRun) -> None:
    assert measured_again(run) == pytest.approx(run.seconds - run.waited, rel=0.3)
