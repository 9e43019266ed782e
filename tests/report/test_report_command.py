"""The command `multiea report`: the page it writes, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from support.html_pages import checked_text, headings
from support.report_sections import SECTIONS


def report(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["report", *map(str, words)])
    return result.exit_code, result.output


def test_the_page_of_a_run_has_all_sections(run_folder: Path) -> None:
    code, output = report(run_folder, "--no-progress")
    assert code == 0, output
    assert re.search(r"written to .*report.html: [1-9][0-9.]* (kB|MB), in", output)
    text = checked_text(run_folder / "report.html")
    assert headings(run_folder / "report.html") == list(SECTIONS)
    task = multiea.open(run_folder, with_triples=True).task
    for words in (
        "M-Hits", "Marks by round", "Precision and recall of pairs", "Reliability diagram", "Shared neighbours",
        "multiea align", "--bootstrap none", "--random-state 0", f"{len(task.kgs[0].triples):,}", str(run_folder),
    ):  # fmt: skip
        assert words in text


def test_an_existing_page_is_replaced_only_with_force(run_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine", encoding="utf-8")
    code, output = report(run_folder, "--out", page)
    assert code == 2
    assert "--force" in output
    assert page.read_text(encoding="utf-8") == "mine"
    assert "Traceback" not in output
    for wrong in (tmp_path, run_folder / "config.toml"):
        code, output = report(run_folder, "--out", wrong, "--force")
        assert code == 2
        assert "ending in .html" in output
    code, output = report(tmp_path / "nowhere")
    assert code == 2
    assert "expected a run folder" in output
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("metrics.json", "{"),
        ("metrics.json", '{"hits": {"all": 3}}'),
        ("metrics.json", "[]"),
        ("manifest.json", '{"rounds": [1]}'),
    ],
)
def test_a_damaged_run_is_an_error_that_names_the_file(
    run_folder: Path, tmp_path: Path, file: str, content: str
) -> None:
    shutil.copytree(run_folder, tmp_path / "run")
    (tmp_path / "run" / "report.html").unlink(missing_ok=True)
    if file == "manifest.json":
        whole = json.loads((run_folder / file).read_text(encoding="utf-8"))
        content = json.dumps(whole | {"history": json.loads(content)})
    (tmp_path / "run" / file).write_text(content, encoding="utf-8")
    code, output = report(tmp_path / "run", "--no-progress")
    assert code == 2
    assert f"{file}: damaged" in output
    assert "Traceback" not in output
    assert not (tmp_path / "run" / "report.html").exists()


def test_a_run_whose_data_set_is_missing_has_a_page_without_triples(run_folder: Path, tmp_path: Path) -> None:
    moved = run_folder.parent / "moved"
    (run_folder.parent / "data").rename(moved)
    try:
        code, answer = report(run_folder, "--out", tmp_path / "page.html", "--json", "--no-progress")
    finally:
        moved.rename(run_folder.parent / "data")
    assert code == 0, answer
    answer_json = json.loads(answer)
    assert list(answer_json["missing"]) == ["triples"]
    assert answer_json["sections"] == list(SECTIONS)
    assert answer_json["bytes"] == (tmp_path / "page.html").stat().st_size
    assert answer_json["out"] == str(tmp_path / "page.html")
    text = checked_text(tmp_path / "page.html")
    assert "shared neighbours are not shown" in text
    assert "Shared neighbours" not in text
    assert headings(tmp_path / "page.html") == list(SECTIONS)
