"""How commands behave: exit codes, errors, progress, signals, and output that cannot be written or shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from multiea.foundation.atomic_files import new_folder
from multiea.foundation.errors import OutputError
from support.command_line import invoke


def multiea_process(*words: object) -> list[str]:
    return [sys.executable, "-m", "multiea", *map(str, words)]


def test_an_error_in_json_is_json(tmp_path: Path) -> None:
    outcome = invoke("inspect", tmp_path / "nowhere", "--json")
    assert outcome.code == 2
    assert "nowhere" in json.loads(outcome.stdout)["error"]
    assert outcome.stderr.startswith("error: ")


def test_the_demo_aligns_the_world_and_names_the_next_steps(tmp_path: Path) -> None:
    outcome = invoke("demo", "--out", tmp_path / "demo")
    assert outcome.code == 0
    for words in ("M-Hits", "precision", "Ten of the complete groups found", "Next:", "multiea align FOLDER"):
        assert words in outcome.output
    metrics = json.loads((tmp_path / "demo" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["m_hits"]["test"]["10"] > 0.5


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_a_real_process_exits_with_2_and_no_traceback(tmp_path: Path, tail: list[str]) -> None:
    command = multiea_process("inspect", tmp_path, *tail)
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr


def test_long_work_reports_its_progress_in_a_log_file(monkeypatch: pytest.MonkeyPatch, mixed: Path) -> None:
    monkeypatch.setattr("multiea.cli.console.QUIET_SECONDS", 0.0)
    assert "reading a.tsv ... 100%" in invoke("inspect", mixed).stderr
    assert "reading" not in invoke("inspect", mixed, "--no-progress").stderr


def test_training_reports_loss_and_validation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("multiea.cli.console.QUIET_SECONDS", 0.0)
    outcome = invoke("align", "world", "--engine", "multiea", "--epochs", 7, "--out", tmp_path / "run")
    assert outcome.code == 0, outcome.output
    assert re.search(r"training \.\.\. \d+% \(\d+ s\)  loss [\d,.]+, validation [\d.]+%", outcome.stderr)


def test_a_folder_that_appears_in_the_meantime_is_not_replaced(tmp_path: Path) -> None:
    def write() -> None:
        with new_folder(tmp_path / "out", "data set") as draft:
            (draft / "groups.tsv").write_text("ours", encoding="utf-8")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "thesis.tex").write_text("theirs", encoding="utf-8")

    with pytest.raises(OutputError, match="not empty"):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "thesis.tex").read_text(encoding="utf-8") == "theirs"


def test_force_replaces_only_folders_of_the_same_kind_and_follows_links(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.tex").write_text("precious", encoding="utf-8")
    outcome = invoke("synth", "--entities", 100, "--out", tmp_path / "theirs", "--force")
    assert outcome.code == 2
    assert "is not a data set" in outcome.output
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "groups.tsv").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "ours")
    outcome = invoke("synth", "--entities", 100, "--out", tmp_path / "link", "--force")
    assert outcome.code == 0, outcome.output
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "ours" / "kg1.tsv").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "ours", "theirs"]


def test_a_terminated_process_leaves_nothing_behind(tmp_path: Path) -> None:
    command = multiea_process("synth", "--entities", 300_000, "--out", tmp_path / "out")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(tmp_path.glob(".out.*")) and process.poll() is None:
        time.sleep(0.01)
    process.terminate()
    assert process.wait(timeout=30) == 143
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_output_that_cannot_be_written_is_an_error_without_a_traceback(tail: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = multiea_process("inspect", "world", *tail)
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "No space left" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_names_that_the_terminal_cannot_show_do_not_stop_a_command(tmp_path: Path, tail: list[str]) -> None:
    for name in ("日本", "ö"):
        (tmp_path / f"{name}.tsv").write_text("a\tr\tb\n", encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    command = multiea_process("inspect", tmp_path, *tail)
    result = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    if tail:
        assert [kg["name"] for kg in json.loads(result.stdout)["kgs"]] == ["ö", "日本"]
