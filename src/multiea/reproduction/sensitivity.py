"""The sensitivity figure: a page of tables, and the curves as SVG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from multiea.reproduction.cells import Cell
from multiea.reproduction.contents import NEEDS
from multiea.reproduction.curves import panels
from multiea.reproduction.numbers import KS, m_hits, triple
from multiea.reproduction.page_parts import DATA_TITLES, Rows, data_title, table_header, table_row
from multiea.reproduction.stored_results import stored_rows

FIGURE = "figure-sensitivity"
TEXT = """# Figure: sensitivity

MultiEA+each with one setting varied at a time. M-Hits@1 / 10 / 20 in percent, pool `test`, means over the random
states. The paper shows curves without numbers. gamma: the weight of direct similarities; lambda: the margin; eta: the
number of negative groups; ratio: the share of the groups that are seeds.

![Curves of M-Hits with enhancement sharpened](figure-sensitivity.svg)
"""


def sensitivity_page(cells: Mapping[str, Cell], rows: Rows) -> str:
    """One table per data set and varied setting."""
    text = TEXT
    for data in DATA_TITLES:
        title = data_title(data, rows)
        for name in (name for name in NEEDS[FIGURE] if name.startswith(data)):
            cell, own = cells[name], rows[name]
            modes = [f"`{mode}`" for mode in cell.enhancements]
            text += f"\n## {title}: {cell.title}\n" + table_header(["value", *modes, "runs"])
            for value in (value for values in cell.vary.values() for value in values):
                of_value = [row for row in own if row["value"] == value]
                scores = [triple(m_hits(of_value, mode, "test")) for mode in cell.enhancements]
                text += table_row([str(value), *scores, str(len(of_value))])
    return text


def sensitivity_svg(cells: Mapping[str, Cell], results: Path) -> str:
    """The curves as a figure, one row of panels per data set; empty if nothing has been run."""
    figure = []
    for data in DATA_TITLES:
        row = []
        for cell in (cells[name] for name in NEEDS[FIGURE] if name.startswith(data)):
            by_value: dict[float, list[dict[str, Any]]] = {}
            for own in stored_rows(results, cell):
                by_value.setdefault(own["value"], []).append(own)
            points = {value: m_hits(own, "sharpened", "test") or [] for value, own in sorted(by_value.items())}
            curves = {
                f"M-Hits@{k}": [(value, of_value[place]) for value, of_value in points.items()]
                for place, k in enumerate(KS)
            }
            if points:
                row.append((f"{stored_rows(results, cell)[0]['data']}: {cell.title}", curves))
        figure.append(row)
    return panels(figure) if any(figure) else ""
