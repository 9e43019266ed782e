"""Generated tasks whose entities have names and attributes."""

from __future__ import annotations

from pathlib import Path

import pytest

import multiea
from multiea import Task
from multiea.data.synthetic import Synthesis, write_synthetic


def _generated(folder: Path, *, triples: bool) -> Task:
    what = Synthesis(kgs=3, entities=120, relations=10, overlap=0.8, names=True, attributes=True, triples=triples)
    write_synthetic(what, folder)
    return multiea.load(folder, train_ratio=0.6)  # enough seeds for validation seeds, which teach weights


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Three generated KGs with triples, names and attributes; some groups are seeds."""
    return _generated(tmp_path_factory.mktemp("described"), triples=True)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """The same without triples: three tables."""
    return _generated(tmp_path_factory.mktemp("tables"), triples=False)
