"""The waterfall of a group in the report."""

from __future__ import annotations

import re
from pathlib import Path

from multiea.report.waterfall import waterfall
from support.handmade import chain_alignment
from support.html_pages import checked_text


def test_each_bar_begins_where_the_one_before_it_ends() -> None:
    drawn = waterfall("g1", {"names": 10.0, "competition": -6.0})
    bars = [(float(x), float(width)) for x, width in re.findall(r'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', drawn)]
    (names, competition, total) = bars
    assert names[0] == total[0]
    assert names[0] + names[1] == competition[0] + competition[1]
    assert total[1] == names[1] - competition[1]
    assert "Log-odds of group g1. names +10.0, competition -6.0, sum +4.0" in drawn


def test_every_group_that_the_page_shows_has_a_waterfall(tmp_path: Path) -> None:
    alignment = chain_alignment(3, 30)
    alignment.report(tmp_path / "page.html")
    text = checked_text(tmp_path / "page.html")
    assert text.count('aria-label="Log-odds of group ') == 20
    assert "nan" not in "".join(re.findall(r"Log-odds of group [^\"]*", text))
