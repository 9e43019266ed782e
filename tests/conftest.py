"""Fixtures of all tests."""

from __future__ import annotations

import numpy as np
import pytest

import multiea
from multiea.data.groups import Groups
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.task import Task


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Three generated KGs with partial groups, 135 seeds of them."""
    folder = tmp_path_factory.mktemp("small")
    write_synthetic(Synthesis(kgs=3, entities=400, relations=20, overlap=0.8), folder)
    return multiea.load(folder)


@pytest.fixture(scope="session")
def other_answers(small: Task) -> Groups:
    """The same entities held out, but tied together at random."""
    rng = np.random.default_rng(0)
    members = small.held_out.members.copy()
    for column in members.T:
        present = column >= 0
        column[present] = rng.permutation(column[present])
    return Groups(small.kg_names, members)
