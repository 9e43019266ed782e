"""Parts that several result pages share: titles of data sets, table rows, the note of quick mode, the footer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from multiea.reproduction.contents import NEEDS

Rows = Mapping[str, Sequence[Mapping[str, Any]]]  # the stored rows of each cell
DATA_TITLES = {"dbp-4": "DBP-4", "dwy-3": "DWY-3"}
QUICK = "**Quick mode: small generated KGs, hardly trained. These numbers say nothing about any method.**"


def data_title(data: str, rows: Rows) -> str:
    """The name of a data set in the paper, and that of ours if it is another one."""
    own = sorted({row["data"] for name, of_cell in rows.items() if name.startswith(data) for row in of_cell} - {data})
    return DATA_TITLES[data] + (f" (ours: {', '.join(own)})" if own else "")


def is_data_of_paper(rows: Sequence[Mapping[str, Any]], data: str) -> bool:
    """Whether all rows were run on the data set of the paper, so that differences mean something."""
    return {row["data"] for row in rows} == {data}


def table_row(cells: Iterable[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cells) + " |\n"


def table_header(titles: Sequence[str]) -> str:
    """The first two lines of a Markdown table."""
    return table_row(titles) + "|---" * len(titles) + "|\n"


def made_by(name: str, *, quick: bool) -> str:
    """The sentence that names the command of a page."""
    return f"Made by `multiea reproduce {name} {'--quick' if quick else '--source FOLDER'}`."


def footer(name: str, rows: Rows, *, quick: bool) -> str:
    """The devices and versions of the runs behind a page, and the command that made it."""
    used = [row for cell in NEEDS[name] for row in rows[cell]]
    devices = ", ".join(sorted({row["device"] for row in used})) or "nothing"
    versions = ", ".join(sorted({f"torch {row['versions']['torch']}" for row in used}))
    where = "; ".join(part for part in (devices, versions) if part)
    return f"\nRun on: {where}. {made_by(name, quick=quick)}\n"
