"""The command line reports invalid input in one line and exits with 2."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.foundation.errors import MultiEAError, SettingError
from support.bad_input import (
    DBP15K,
    GOOD,
    OTHER,
    TSV,
)
from support.datasets import write_files

RUNNER = CliRunner()
BAD: dict[str, dict[str, str | bytes]] = {
    "no file": {},
    "two fields": {"en.tsv": "a\tb\n", "fr.tsv": OTHER},
    "not UTF-8": {"en.tsv": b"a\tr\t\xff\n", "fr.tsv": OTHER},
    "cut off gzip": {"en.tsv.gz": gzip.compress(TSV.encode())[:-3], "fr.tsv": OTHER},
    "broken Turtle": {"en.ttl": ":a :b :c .", "fr.tsv": OTHER},
    "broken XML": {"en.rdf": '<?xml version="1.0" encoding="nonsense"?><a', "fr.tsv": OTHER},
    "no Parquet": {"en.parquet": b"PAR1", "fr.tsv": OTHER},
    "unknown seeds": {**GOOD, "seeds.tsv": "en\tfr\n[bold]q[/bold]\tx\n"},
    "invalid TOML": {**GOOD, "dataset.toml": "name = "},
}


@pytest.mark.parametrize("case", BAD)
def test_the_command_line_names_the_error_and_exits_with_2(tmp_path: Path, case: str) -> None:
    tmp_path.joinpath("data").mkdir()
    result = RUNNER.invoke(app, ["inspect", str(write_files(tmp_path / "data", BAD[case]))])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert str(tmp_path / "data") in result.stderr
    assert "Traceback" not in result.output
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / "data")
    assert result.stderr == f"error: {caught.value}\n"


@pytest.mark.parametrize("case", BAD)
def test_the_command_line_can_report_errors_as_json(tmp_path: Path, case: str) -> None:
    tmp_path.joinpath("data").mkdir()
    result = RUNNER.invoke(app, ["inspect", "--json", str(write_files(tmp_path / "data", BAD[case]))])
    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert list(answer) == ["error"]
    assert str(tmp_path / "data") in answer["error"]
    assert result.stderr.startswith("error: ")


def test_warnings_of_a_lenient_inspection_go_to_stderr_and_to_json(tmp_path: Path) -> None:
    write_files(tmp_path, {**GOOD, "seeds.tsv": "en\tfr\na\tx\nb\tgone\n"})
    result = RUNNER.invoke(app, ["inspect", "--json", "--lenient", str(tmp_path)])
    assert result.exit_code == 0
    assert any(
        "1 entity in the groups is not in the KG" in warning for warning in json.loads(result.stdout)["warnings"]
    )
    assert "warning: " in result.stderr


def test_the_command_line_does_not_change_the_logging_of_the_library(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_files(tmp_path, {**GOOD, "seeds.tsv": "en\tfr\na\tx\nb\tgone\n"})
    RUNNER.invoke(app, ["inspect", str(tmp_path), "--lenient"])
    multiea.load(tmp_path, lenient=True)
    assert "1 entity in the groups is not in the KG" in caplog.text


@pytest.mark.parametrize("json_option", [[], ["--json"]])
@pytest.mark.parametrize(
    "source",
    [
        {},
        {"fr_en/triples_1": "x"},
        {f"{pair}/{name}": text for pair in ("fr_en", "ja_en", "zh_en") for name, text in DBP15K.items()}
        | {"zh_en/ref_ent_ids": "0\t99\n"},
        {f"{pair}/{name}": text for pair in ("fr_en", "ja_en", "zh_en") for name, text in DBP15K.items()}
        | {"zh_en/triples_1": b"\xff"},
        {"dbp15k.zip": b"PK no zip"},
        {"dbp15k.tar.gz": gzip.compress(b"no tar")[:-5]},
        {"dbp15k.tar.xz": b"no xz"},
    ],
)
def test_a_failed_build_writes_nothing(tmp_path: Path, source: dict[str, str | bytes], json_option: list[str]) -> None:
    tmp_path.joinpath("source").mkdir()
    write_files(tmp_path / "source", source)
    out = tmp_path / "results" / "dbp-4"
    out.parent.mkdir()
    arguments = ["build", "dbp-4", "--source", str(tmp_path / "source"), "--out", str(out), *json_option]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    assert list(out.parent.iterdir()) == []
    assert (list(json.loads(result.stdout)) == ["error"]) if json_option else (result.stdout == "")


def test_a_failed_build_does_not_change_an_older_result(tmp_path: Path) -> None:
    write_files(tmp_path, {"out/old.txt": "old", "source/x": "y"})
    for options in ([], ["--force"]):
        source, out = str(tmp_path / "source"), str(tmp_path / "out")
        result = RUNNER.invoke(app, ["build", "dwy-3", "--source", source, "--out", out, *options])
        assert result.exit_code == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["old.txt"]


def run_multiea(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from multiea.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, env=os.environ | environment, check=False)


def test_the_installed_command_behaves_like_the_library(tmp_path: Path) -> None:
    write_files(tmp_path, {"en.tsv": "a\tr\tb\na\tb\n", "fr.tsv": OTHER})
    result = run_multiea("inspect", "--json", str(tmp_path))
    assert result.returncode == 2
    assert "line 2: 2 fields" in json.loads(result.stdout)["error"]
    assert result.stderr.startswith(b"error: ")
    assert b"Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such file names")
def test_a_path_that_is_not_unicode_can_be_reported(tmp_path: Path) -> None:
    for options in ([], ["--json"]):
        result = run_multiea("inspect", *options, os.fsencode(tmp_path) + b"/\xff", PYTHONIOENCODING="utf-8")
        assert result.returncode == 2
        assert result.stderr.startswith(b"error: ")
        assert b"Traceback" not in result.stderr
        assert not options or list(json.loads(result.stdout)) == ["error"]


@pytest.mark.parametrize("name", ['"x\ty"', '"x\ny"'])
def test_an_entity_id_with_a_line_break_is_refused_before_aligning(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.csv").write_text(f"head,relation,tail\n{name},r,z\n")
    (tmp_path / "b.tsv").write_text("x\tr\tz\n")
    (tmp_path / "seeds.tsv").write_text("a\tb\nz\tz\n")
    result = CliRunner().invoke(app, ["align", str(tmp_path), "--out", str(tmp_path / "run"), "--no-progress"])
    assert result.exit_code == 2
    assert "KG 'a': 1 id with a tab or a line break" in result.stderr
    assert not (tmp_path / "run").exists()


def test_align_refuses_anything_but_a_task() -> None:
    with pytest.raises(SettingError, match=r"align takes a Task or tables by name, .*, got str; multiea\.load reads"):
        multiea.align("mydata")  # type: ignore[arg-type]
