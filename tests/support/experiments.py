"""The experiments of the project: their cells, and their scripts as modules."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from multiea.reproduction.cells import Cell, read_cells
from support.places import PROJECT

EXPERIMENTS = PROJECT / "experiments"
PAGES = PROJECT / "docs" / "results"


def project_cells() -> dict[str, Cell]:
    return read_cells(EXPERIMENTS / "cells")


def experiment(name: str) -> ModuleType:
    """A script of the folder `experiments`, imported."""
    spec = importlib.util.spec_from_file_location(name, EXPERIMENTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module
