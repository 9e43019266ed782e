"""`multiea reproduce`: the paper's tables and figures, by one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, err, out, print_json
from multiea.cli.options import AsJson, Device, ShowProgress
from multiea.foundation.errors import SettingError, resolve
from multiea.reproduction.cells import NEEDS

ALL = "all"
PROJECT = Path(__file__).resolve().parents[3]


@command
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help=f"What to make: {', '.join(NEEDS)}, or all (the default).", show_default=False),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--source", help="Where DBP15K and DWY100K (or DWY15K) lie: a folder or an archive.")
    ] = None,
    experiments: Annotated[
        Path | None, typer.Option(help="The folder of experiments; by default the project's.", show_default=False)
    ] = None,
    out_folder: Annotated[
        Path, typer.Option("--out", help="Where data sets, figures and, of a quick run, results go.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A cut of every experiment on small generated KGs; its numbers say nothing."),
    ] = False,
    device: Device = "auto",
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Run the paper's experiments and write its tables and figures, beside what was published.

    What is stored in experiments/results is not run again; an interrupted run goes on where it stopped.
    """
    from multiea.engines.devices import resolve_device  # deferred: imports torch
    from multiea.reproduction.cells import read_cells, wanted
    from multiea.reproduction.figures import case_study, need_tsne, statistics
    from multiea.reproduction.pages import pages, sensitivity_svg
    from multiea.reproduction.running import run_cells, tasks

    resolve_device(device)
    chosen = list(dict.fromkeys(names or (ALL,)))
    for name in chosen:
        resolve(name, dict.fromkeys((*NEEDS, ALL)), what="table or figure")
    chosen = list(NEEDS) if ALL in chosen else chosen
    experiments = PROJECT / "experiments" if experiments is None else experiments
    if not (experiments / "cells").is_dir():
        raise SettingError(f"no experiments in {experiments}; --experiments names the project's folder `experiments`")
    cells = read_cells(experiments / "cells")
    cells = {name: cell.cut() for name, cell in cells.items()} if quick else cells
    results = out_folder / "quick" / "results" if quick else experiments / "results"
    written_to = out_folder / "quick" if quick else experiments.parent / "docs" / "results"
    figures = out_folder / "quick" if quick else out_folder
    if {"figure-tsne"} & set(chosen):
        need_tsne()
    task_of, data_name = tasks(source, out_folder / ("quick" if quick else "data"), quick=quick)
    try:
        done = run_cells(wanted(chosen, cells), results, task_of, data_name, quick=quick, device=device)
    except KeyboardInterrupt:
        err.print(
            f"interrupted; what was finished is kept in {results}, and the same command goes on", style="bold red"
        )
        raise typer.Exit(130) from None
    texts = pages(chosen, cells, results, quick=quick)
    written_to.mkdir(parents=True, exist_ok=True)
    if "table-1" in chosen:
        texts["table-1"] = statistics(task_of, quick=quick)
    files = []
    if "figure-sensitivity" in chosen:
        files.append(str(written_to / "figure-sensitivity.svg"))
        Path(files[-1]).write_text(sensitivity_svg(cells, results), encoding="utf-8")
    for name, text in texts.items():
        (written_to / f"{name}.md").write_text(text, encoding="utf-8")
        files.append(str(written_to / f"{name}.md"))
    if {"figure-case-study", "figure-tsne"} & set(chosen):
        files += map(str, case_study(task_of, figures, chosen, quick=quick, device=device))
    if as_json:
        print_json({"runs": done, "written": files})
        return
    out.print(f"{done} experiments run; written:")
    for file in files:
        out.print(f"  {file}")
