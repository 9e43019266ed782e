"""Runs experiments and writes the tables and figures made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from multiea.foundation.errors import SettingError
from multiea.reproduction.benchmark_tasks import benchmark_tasks
from multiea.reproduction.case_study import case_study, check_tsne_is_installed
from multiea.reproduction.cells import needed_cells, read_cells
from multiea.reproduction.pages import pages
from multiea.reproduction.running import run_cells
from multiea.reproduction.sensitivity import FIGURE, sensitivity_svg
from multiea.reproduction.statistics import statistics_page


@dataclass(frozen=True)
class Places:
    """The folders that are read and written."""

    cells: Path
    results: Path
    pages: Path
    figures: Path
    data: Path

    @classmethod
    def of(cls, experiments: Path, out: Path, *, quick: bool) -> Places:
        """The folders for a folder of experiments; quick mode writes everything below the output folder."""
        cells = experiments / "cells"
        if not cells.is_dir():
            raise SettingError(f"no experiments in {experiments}; give the project's folder with --experiments")
        if quick:
            folder = out / "quick"
            return cls(cells, folder / "results", folder, folder, folder)
        return cls(cells, experiments / "results", experiments.parent / "docs" / "results", out, out / "data")


def reproduce(
    names: Sequence[str], places: Places, source: Path | None, *, quick: bool, device: str
) -> tuple[int, list[Path]]:
    """Makes tables and figures; returns the number of runs that were not stored yet, and the written files.

    source: a folder or an archive with DBP15K and DWY100K (or DWY15K).
    """
    cells = read_cells(places.cells)
    if quick:
        cells = {name: cell.cut() for name, cell in cells.items()}
    if "figure-tsne" in names:
        check_tsne_is_installed()
    task_of, data_name = benchmark_tasks(source, places.data, quick=quick)
    runs = run_cells(needed_cells(names, cells), places.results, task_of, data_name, quick=quick, device=device)
    texts = {f"{name}.md": text for name, text in pages(names, cells, places.results, quick=quick).items()}
    if "table-1" in names:
        texts["table-1.md"] = statistics_page(task_of, quick=quick)
    if FIGURE in names:
        texts[f"{FIGURE}.svg"] = sensitivity_svg(cells, places.results)
    places.pages.mkdir(parents=True, exist_ok=True)
    files = []
    for name, text in texts.items():
        files.append(places.pages / name)
        files[-1].write_text(text, encoding="utf-8")
    if {"figure-case-study", "figure-tsne"} & set(names):
        files += case_study(task_of, places.figures, names, quick=quick, device=device)
    return runs, files
