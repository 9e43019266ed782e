"""Pages of results, made from the stored runs: published values, ours, differences, and the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from multiea.reproduction.accuracy_pages import accuracy_page, gold_order_page, pairs_page
from multiea.reproduction.cells import Cell
from multiea.reproduction.efficiency_page import efficiency_page
from multiea.reproduction.page_parts import QUICK, footer
from multiea.reproduction.sensitivity import sensitivity_page
from multiea.reproduction.stored_results import stored_rows


def pages(names: Sequence[str], cells: Mapping[str, Cell], results: Path, *, quick: bool = False) -> dict[str, str]:
    """The page of each table and figure that is made from stored runs, by name; in quick mode with a note."""
    rows = {name: stored_rows(results, cell) for name, cell in cells.items()}
    makers = {
        "table-2": lambda: accuracy_page(cells, rows),
        "table-3": lambda: efficiency_page("table-3", "dbp-4", cells, rows),
        "table-4": lambda: efficiency_page("table-4", "dwy-3", cells, rows),
        "table-5": lambda: pairs_page("table-5", "1", 0, cells, rows),
        "table-6": lambda: pairs_page("table-6", "10", 1, cells, rows),
        "figure-sensitivity": lambda: sensitivity_page(cells, rows),
        "gold-order": lambda: gold_order_page(cells, rows),
    }
    made = {name: makers[name]() for name in names if name in makers}
    if quick:
        made = {name: text.replace("\n", f"\n\n{QUICK}\n", 1) for name, text in made.items()}
    return {name: text + footer(name, rows, quick=quick) for name, text in made.items()}
