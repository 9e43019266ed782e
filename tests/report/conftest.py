"""A run to report on."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder next to its data set, the folder `data`."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "data").mkdir()
    write_synthetic(Synthesis(kgs=3, entities=100, relations=6, overlap=0.8), folder / "data")
    options = ("--bootstrap", "none", "--no-progress")
    result = CliRunner().invoke(app, ["align", str(folder / "data"), "--out", str(folder / "run"), *options])
    assert result.exit_code == 0, result.output
    return folder / "run"
