"""Fixtures of the tests of comparisons."""

from __future__ import annotations

import pytest

import multiea
from multiea import Alignment, Enhancement, Task
from multiea.evaluation.run_summary import RunSummary
from support.summaries import summary_of


@pytest.fixture(scope="session")
def pair(small: Task) -> tuple[Alignment, Alignment]:
    """Two alignments of one task, the second a little worse."""
    first = multiea.align(small)
    return first, first.with_enhancement(Enhancement("none"))


@pytest.fixture(scope="session")
def summaries(pair: tuple[Alignment, Alignment]) -> list[RunSummary]:
    return [summary_of(name, alignment) for name, alignment in zip(("one", "two"), pair, strict=True)]
