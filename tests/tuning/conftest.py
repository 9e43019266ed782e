"""Fixtures of the tests of tuning: a task that aligns in less than a tenth of a second."""

from __future__ import annotations

from pathlib import Path

import pytest

import multiea
from multiea import AlignSettings, Propagation, Task
from multiea.data.synthetic import Synthesis, write_synthetic


@pytest.fixture(scope="session")
def little_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three generated KGs of 100 entities; tests only read it."""
    folder = tmp_path_factory.mktemp("little")
    write_synthetic(Synthesis(kgs=3, entities=100, relations=6, overlap=0.9, triple_share=0.9), folder)
    return folder


@pytest.fixture(scope="session")
def little(little_folder: Path) -> Task:
    """These KGs with about 40 seeds."""
    return multiea.load(little_folder, train_ratio=0.4)


@pytest.fixture(scope="session")
def quick() -> AlignSettings:
    """Structure alone, one round, short marks."""
    return AlignSettings.default(bootstrap="none", evidence="structure", propagation=Propagation(dimensions=64))
