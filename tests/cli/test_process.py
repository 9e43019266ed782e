"""What align prints about how a result was made."""

from __future__ import annotations

from pathlib import Path

from support.command_line import succeeds
from support.datasets import write_files

FIRST_NAMES = ["Anna", "Ben", "Clara", "Dora", "Emil", "Frida", "Gustav", "Hanna"]


def test_where_nothing_is_found_no_confidence_is_spoken_of(tmp_path: Path) -> None:
    rows = {kg: "".join(f"{kg}{at},{one} Schmidt\n" for at, one in enumerate(FIRST_NAMES * 2)) for kg in ("a", "b")}
    files = {f"{kg}.csv": "id,name\n" + text for kg, text in rows.items()}
    result = succeeds("align", write_files(tmp_path / "data", files), "--out", tmp_path / "run")
    assert "found 0 groups" in result.output
    assert "confidences: none, since no group was found" in result.output
    assert "stay unmatched" not in result.output
