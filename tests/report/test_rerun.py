"""The command on the page repeats the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.report.rerun import align_command, settings_without_option
from multiea.report.subject import Subject
from multiea.runs.opening import open_run


def test_the_command_on_the_page_repeats_the_run(run_folder: Path, tmp_path: Path) -> None:
    run = open_run(run_folder)
    alignment = run.alignment
    words = align_command(Subject(replace(run, folder=str(tmp_path / "run"))))
    assert words[0] == "multiea"
    result = CliRunner().invoke(app, [*words[1:], "--no-progress"])
    assert result.exit_code == 0, result.output
    again = multiea.open(tmp_path / "run-again")
    assert again.groups.equals(alignment.groups)
    assert again.settings == alignment.settings
    assert settings_without_option(alignment.settings) == []
    changed = alignment.settings.changed(propagation=replace(alignment.settings.propagation, hops=3))
    assert settings_without_option(changed) == ["propagation.hops"]
