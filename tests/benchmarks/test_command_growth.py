"""The table of measured growth is made from stored rows, and a row is what a real command took."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import command_growth
from command_growth import Row, measured, part, read
from multiea.data.synthetic import Synthesis

ROW = Row(3, 100_000, 500_000, None, 2, 60.0, 100.0, 2 << 30, 0.8, 0.85)


def test_the_page_has_what_the_stored_rows_give() -> None:
    text = command_growth.PAGE.read_text(encoding="utf-8")
    assert text.split(command_growth.BEGIN)[1].split(command_growth.END)[0] == part(read())
    assert read()


def test_growth_is_told_from_large_sizes_without_a_limit_of_memory() -> None:
    million = replace(ROW, entities=1_000_000, cpu_seconds=1_000.0, peak=4 << 30)
    limited = replace(million, memory="4GiB", cpu_seconds=9_000.0)
    small = replace(ROW, entities=10_000, cpu_seconds=90.0)
    text = part([small, ROW, million, limited])
    assert "CPU seconds grow with entities ** 1.00, the peak with entities ** 0.30." in text
    assert "| 3 x 1,000,000 | 500,000 | 4GiB | 60 | 9,000 | 4.0 | 80.0% | 0.850 |" in text
    assert "grow with" not in part([small, ROW, limited])


def test_a_row_is_what_a_command_took() -> None:
    row = measured(Synthesis(kgs=2, entities=150), None)
    assert (row.kgs, row.entities, row.memory) == (2, 150, None)
    assert row.triples > 150
    assert 0 < row.cpu_seconds < 600
    assert row.peak > 100 << 20
    assert 0 <= row.m_hits_at_1 <= 1


@pytest.mark.parametrize("words", [["--entities", "3"], ["--entities", "1000", "--memory", "lots"]])
def test_what_cannot_be_measured_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["command_growth.py", "run", *words])
    monkeypatch.setattr(command_growth, "STORED", tmp_path / "rows.json")
    with pytest.raises(SystemExit) as ended:
        command_growth.main()
    assert ended.value.code == 2
    assert "must be" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
