"""The example scripts run without changes and print what their docstrings promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.places import PROJECT

EXAMPLES = PROJECT / "examples"
PRINTED = {
    "align_two_files": r"(?:.* = .*\n)*Finland = Suomi\n(?:.* = .*\n)*",
    "merge_and_export": r"800 entities of 4 KGs became [2-4]\d\d\n[1-3]\d\d of these have facts from more .*\n",
    "compare_engines": r"engine .*seconds\n(?:(?:propagation|multiea|gcn-align|propagation\+multiea) +[\d. ]+\n){4}",
}
MOST_LINES = 40


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    script = EXAMPLES / f"{name}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) < MOST_LINES
    paths = os.pathsep.join([str(PROJECT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONWARNINGS": "error"}
    result = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(PRINTED[name], result.stdout), result.stdout


def test_every_example_is_tested() -> None:
    assert {script.stem for script in EXAMPLES.glob("*.py")} == set(PRINTED)
