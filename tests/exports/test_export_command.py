"""The command `multiea export`: what it writes, what it refuses, and that a failure leaves old files unchanged."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiea import Alignment, OutputError, SettingError
from multiea.cli.export import FORMAT_NAMES
from multiea.cli.export import export as export_command
from multiea.cli.main import app
from multiea.exports.choices import Choices
from multiea.exports.export import FORMATS, OPTIONS
from support.datasets import write_files


def test_the_command_exports_and_explains_what_it_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(
        tmp_path / "d",
        {"a.tsv": "x\tr\ty\ny\tr\tz\n", "b.tsv": "x\tr\ty\ny\tr\tz\n", "seeds.tsv": "a\tb\nx\tx\ny\ty\n"},
    )

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, [*arguments, "--no-progress"])
        return result.exit_code, result.output

    assert run("align", "d", "--out", "run")[0] == 0
    code, output = run("export", "run", "--to", "merged", "--out", "m.nq", "--json")
    assert code == 0, output
    answer = json.loads(output[output.index("{") :])
    assert answer["files"] == ["m.nq", "m.nq.undo-entities.parquet", "m.nq.undo-facts.parquet"]
    before = (tmp_path / "m.nq").read_bytes()
    for arguments, words in (
        (("--to", "merged", "--out", "m.nq"), "m.nq exists; choose another file, or replace it with --force"),
        (("--to", "rdf", "--out", "x"), "unknown format 'rdf'; choose one of: groups, sssom, same-as, alignment-rdf"),
        (
            ("--to", "groups", "--out", "x.xls"),
            "x.xls: a file of format groups must end in .tsv or .csv or .jsonl or .parquet",
        ),
        (
            ("--to", "sssom", "--out", "x.tsv", "--closure"),
            "--closure has no effect with --to sssom; it is for --to same-as",
        ),
        (
            ("--to", "sssom", "--out", "x.tsv", "--no-undo"),
            "--undo has no effect with --to sssom; it is for --to merged",
        ),
        (("--to", "sssom", "--out", "x.tsv", "--predicate", "owl:same"), "unknown predicate 'owl:same'"),
        (("--to", "same-as", "--out", "d"), "d is a folder"),
        (
            ("--to", "sssom", "--out", "x.csv"),
            "a file of format sssom must end in .tsv",
        ),
        (
            ("--to", "same-as", "--out", "x.nt.gz"),
            "a file of format same-as must end in .nt",
        ),
        (
            ("--to", "merged", "--out", "x.ttl"),
            "a file of format merged must end in .nq or .parquet",
        ),
        (("--to", "alignment-rdf", "--out", "d", "--force"), "d is not a folder of alignments"),
    ):
        code, output = run("export", "run", *arguments)
        assert code == 2, output
        assert words in output
        assert "Traceback" not in output
    assert (tmp_path / "m.nq").read_bytes() == before
    assert not list(tmp_path.glob("x*")), "nothing half-written"
    assert not list(tmp_path.glob(".*")), "nothing left behind"
    assert run("export", "run", "--to", "merged", "--out", "m.nq", "--force")[0] == 0


def test_a_failed_export_leaves_the_old_file_unchanged(
    three: Alignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.nt"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("multiea.exports.same_as.write_lines", full)
    with pytest.raises(OutputError, match="No space left"):
        three.to_same_as(path, force=True)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["s.nt"]


def test_the_help_text_lists_the_registered_formats() -> None:
    assert ", ".join(FORMATS) == FORMAT_NAMES


def test_every_option_of_a_format_is_a_choice_and_a_parameter_of_the_command() -> None:
    parameters = inspect.signature(export_command).parameters
    choices = {part.name for part in fields(Choices)}
    assert choices | {"data"} == set(OPTIONS)
    assert set(OPTIONS) <= set(parameters)


def test_choices_that_a_format_does_not_use_are_refused_in_python_too(aligned: Alignment, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="closure has no effect with --to groups; it is for --to same-as"):
        aligned.export("groups", tmp_path / "groups.tsv", closure=True)
    with pytest.raises(SettingError, match=r"unknown choice 'closur'.*Did you mean 'closure'"):
        aligned.export("same-as", tmp_path / "links.nt", closur=True)
    assert not list(tmp_path.iterdir())
