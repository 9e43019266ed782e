"""Alignments to explain: graphs with names and attributes, tables, and structure alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import multiea
from multiea import Alignment
from multiea.data.synthetic import Synthesis, write_synthetic
from support.quick import align


@pytest.fixture(scope="session")
def named_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of three KGs with names, attributes and triples."""
    folder = tmp_path_factory.mktemp("named")
    write_synthetic(Synthesis(kgs=3, entities=150, relations=8, overlap=0.8, names=True, attributes=True), folder)
    return folder


@pytest.fixture(scope="session")
def named(named_folder: Path) -> Alignment:
    return align(multiea.load(named_folder))


@pytest.fixture(scope="session")
def named_run(named: Alignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "named"
    named.save(folder)
    return folder


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Alignment:
    """Two KGs without triples and seeds."""
    folder = tmp_path_factory.mktemp("tables")
    settings = Synthesis(kgs=2, entities=150, overlap=0.8, names=True, attributes=True, triples=False)
    write_synthetic(settings, folder)
    return align(multiea.load(folder).split(0.0))


@pytest.fixture(scope="session")
def structure_alone(tmp_path_factory: pytest.TempPathFactory) -> Alignment:
    """Three KGs without names and attributes."""
    folder = tmp_path_factory.mktemp("structure")
    write_synthetic(Synthesis(kgs=3, entities=200, relations=10, overlap=0.8), folder)
    return align(multiea.load(folder), bootstrap="none")
