"""Runs the command line in this process and checks how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from multiea.cli.main import app
from support.datasets import write_files


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code and what it printed."""

    code: int
    stdout: str
    stderr: str
    output: str


def invoke(*words: object) -> Outcome:
    result = CliRunner().invoke(app, [str(word) for word in words])
    return Outcome(result.exit_code, result.stdout, result.stderr, result.output)


def succeeds(*words: object) -> Outcome:
    """Runs a command that must end with exit code 0; progress is not shown."""
    outcome = invoke(*words, "--no-progress")
    assert outcome.code == 0, outcome.output
    return outcome


def align(*words: object) -> None:
    succeeds("align", *words)


def refused(*words: object) -> str:
    """The error of a command that exits with code 2: one line, and nothing on standard output."""
    outcome = invoke(*words)
    assert outcome.code == 2, outcome.output
    assert outcome.stdout == "", outcome.stdout
    assert outcome.stderr.startswith("error: ")
    assert outcome.stderr.count("\n") == 1
    return outcome.stderr.removeprefix("error: ").rstrip()


def refused_config(folder: Path, text: str | bytes, *words: str) -> str:
    """The error about a config file with this text, from the name of the file on."""
    write_files(folder, {"my.toml": text})
    message = refused("align", "world", "--config", folder / "my.toml", "--out", folder / "run", *words)
    assert [path.name for path in folder.iterdir()] == ["my.toml"]
    assert message.startswith(f"{folder / 'my.toml'}: ")
    return message.removeprefix(f"{folder / 'my.toml'}: ")
