"""The tutorials do what they say: their blocks run in order, and print what stands below them.

A block of `text` is what the block before it prints. There `...` stands for anything, on one line or, alone on a line,
for any lines; a number after ~ varies from one computer to another.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from multiea.cli.main import app
from multiea.engines.encoder_embeddings import ENCODERS

TUTORIALS = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
NUMBER = r"-?[\d,]*\.?\d+"


class Block(NamedTuple):
    kind: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in BLOCK.finditer(text)]


def printed_by_shell(text: str) -> str:
    """Runs a block of bash: `multiea` in this process, which is quick, all other lines by bash."""
    output = ""
    for part in re.split(r"^(multiea (?:.*\\\n)*.*\n)", text, flags=re.MULTILINE):
        if part.startswith("multiea "):
            result = CliRunner().invoke(app, shlex.split(part)[1:], catch_exceptions=False)
            assert result.exit_code == 0, f"{part}{result.output}"
            output += result.stdout
        elif part.strip():
            output += subprocess.run(["bash", "-ec", part], check=True, capture_output=True, text=True).stdout
    return output


def printed_by_python(text: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(text, "tutorial", "exec"), names)
    return output.getvalue()


def pattern_of(shown: str) -> str:
    """What a shown output allows, as a regular expression."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        parts = re.split(rf"(\.\.\.|~{NUMBER})", line.rstrip())
        of_parts = [".*" if part == "..." else NUMBER if part.startswith("~") else re.escape(part) for part in parts]
        lines.append("".join(of_parts) + r"[ \t]*\n")
    return "".join(lines)


@pytest.fixture
def encoders_restored() -> Iterator[None]:
    before = dict(ENCODERS)
    yield
    ENCODERS.clear()
    ENCODERS.update(before)


def test_there_are_tutorials() -> None:
    assert {page.stem for page in TUTORIALS} >= {"rdf", "csv", "reproduce", "encoder", "exports", "adding"}


@pytest.mark.usefixtures("encoders_restored")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed, names = "", {"__name__": "tutorial"}
    for block in blocks_of(page):
        where = f"{page.name}, line {block.line}"
        if block.kind == "bash":
            printed = printed_by_shell(block.text)
        elif block.kind == "python":
            printed = printed_by_python(block.text, names)
        elif block.kind == "text":
            assert re.fullmatch(pattern_of(block.text), printed), f"{where} shows\n{block.text}\nbut it is\n{printed}"
        else:
            assert block.kind in ("turtle", "toml"), f"{where}: a block of {block.kind} is not run"


def test_a_shown_output_allows_what_it_marks_and_nothing_else() -> None:
    shown = "found 3 groups, in ~0.2 s\n...\nwritten to ...\n"
    assert re.fullmatch(pattern_of(shown), "found 3 groups, in 1,204.7 s\nmore\nand more\nwritten to run\n")
    assert re.fullmatch(pattern_of(shown), "found 3 groups, in 5 s\nwritten to \n")
    assert not re.fullmatch(pattern_of(shown), "found 4 groups, in 0.2 s\nwritten to run\n")
