"""The blocks of the tutorials run in order and print what the tutorials show.

A block of `text` is the output of the block before it. There `...` stands for anything, on one line or, alone on a
line, for any lines; a number after ~ may differ between computers.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from multiea.engines.encoders.registry import ENCODERS
from multiea.settings.engines import TRAINING_DEFAULTS
from support.places import PROJECT
from support.shell import printed_by_shell

TUTORIALS = sorted((PROJECT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
NUMBER = r"-?[\d,]*\.?\d+"


class Block(NamedTuple):
    kind: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in BLOCK.finditer(text)]


def printed_by_python(text: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(text, "tutorial", "exec"), names)
    return output.getvalue()


def pattern_of(shown: str) -> str:
    """The output that a `text` block allows, as a regular expression."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        parts = re.split(rf"(\.\.\.|~{NUMBER})", line.rstrip())
        patterns = [".*" if part == "..." else NUMBER if part.startswith("~") else re.escape(part) for part in parts]
        lines.append("".join(patterns) + r"[ \t]*\n")
    return "".join(lines)


@pytest.fixture
def encoders_restored() -> Iterator[None]:
    """Removes the encoders that a tutorial registers."""
    registries: tuple[dict[str, Any], ...] = (ENCODERS, TRAINING_DEFAULTS)
    before = [dict(registry) for registry in registries]
    yield
    for registry, content in zip(registries, before, strict=True):
        registry.clear()
        registry.update(content)


def page_id(page: Path) -> str:
    return page.stem


def test_all_tutorials_are_there() -> None:
    assert {page.stem for page in TUTORIALS} >= {"rdf", "csv", "tables", "ontologies", "encoder", "exports", "adding"}


@pytest.mark.usefixtures("encoders_restored")
@pytest.mark.parametrize("page", TUTORIALS, ids=page_id)
def test_a_tutorial_prints_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed, names = "", {"__name__": "tutorial"}
    for block in blocks_of(page):
        place = f"{page.name}, line {block.line}"
        if block.kind == "bash":
            printed = printed_by_shell(block.text)
        elif block.kind == "python":
            printed = printed_by_python(block.text, names)
        elif block.kind == "text":
            matches = re.fullmatch(pattern_of(block.text), printed)
            assert matches, f"{place} shows\n{block.text}\nbut the output is\n{printed}"
        else:
            assert block.kind in ("turtle", "toml"), f"{place}: a block of {block.kind} is not run"


def test_a_shown_output_allows_what_it_marks_as_variable_and_nothing_else() -> None:
    shown = "found 3 groups in ~0.2 s\n...\nwritten to ...\n"
    assert re.fullmatch(pattern_of(shown), "found 3 groups in 1,204.7 s\nmore\nand more\nwritten to run\n")
    assert re.fullmatch(pattern_of(shown), "found 3 groups in 5 s\nwritten to \n")
    assert not re.fullmatch(pattern_of(shown), "found 4 groups in 0.2 s\nwritten to run\n")
