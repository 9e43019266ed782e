"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import multiea
from multiea.data.groups import Groups
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.task import Task


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Three generated KGs with partial groups, 135 of them seeds."""
    folder = tmp_path_factory.mktemp("small")
    write_synthetic(Synthesis(kgs=3, entities=400, relations=20, overlap=0.8), folder)
    return multiea.load(folder)


@pytest.fixture(scope="session")
def three_kgs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three generated KGs, named kg1, kg2 and kg3, with their known groups; tests only read it."""
    folder = tmp_path_factory.mktemp("three_kgs")
    write_synthetic(Synthesis(kgs=3, entities=200, relations=10, overlap=0.8), folder)
    return folder


@pytest.fixture(scope="session")
def other_answers(small: Task) -> Groups:
    """The held-out entities of `small`, grouped at random instead."""
    rng = np.random.default_rng(0)
    members = small.held_out.members.copy()
    for column in members.T:
        present = column >= 0
        column[present] = rng.permutation(column[present])
    return Groups(small.kg_names, members)
