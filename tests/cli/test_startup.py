"""What starts fast: importing multiea, help, version and `config init` come without the heavy libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"torch", "polars", "numpy", "scipy", "pyoxigraph", "safetensors"}
SECONDS = 0.3
ATTEMPTS = 5  # the fastest counts: other processes may slow down some of them


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["align", "--help"], ["config", "init", "--out", "OUT"]], ids=" ".join
)
def test_a_light_command_imports_no_heavy_library(words: list[str], tmp_path: Path) -> None:
    words = [str(tmp_path / "my.toml") if word == "OUT" else word for word in words]
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom multiea.cli.main import app\n"
        f"result = CliRunner().invoke(app, {words!r})\n"
        "assert result.exit_code == 0, result.output\n"
        f"assert '--version' not in {words!r} or 'multiea 0' in result.output\n"
        f"heavy = {HEAVY!r} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_importing_multiea_imports_no_heavy_library() -> None:
    script = (
        "import sys, multiea\n"
        "multiea.AlignSettings.default(); multiea.SettingError; multiea.__version__; dir(multiea)\n"
        f"heavy = {HEAVY!r} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def cpu_seconds(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, timeout=60, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@pytest.mark.parametrize(
    "command", [["-c", "import multiea"], ["-m", "multiea", "--help"]], ids=["import multiea", "multiea --help"]
)
def test_starting_takes_less_than_a_third_of_a_second(command: list[str]) -> None:
    subprocess.run([sys.executable, *command], check=True, timeout=60, stdout=subprocess.DEVNULL)  # writes bytecode
    assert min(cpu_seconds([sys.executable, *command]) for _ in range(ATTEMPTS)) < SECONDS
