"""`multiea reproduce`: the tables and figures of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, err, out, print_json
from multiea.cli.options import AsJson, Device, ShowProgress
from multiea.foundation.errors import resolve
from multiea.reproduction.contents import NEEDS

ALL = "all"
PROJECT = Path(__file__).resolve().parents[3]


@command
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help=f"What to make: {', '.join(NEEDS)}, or all (the default).", show_default=False),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--source", help="A folder or an archive with DBP15K and DWY100K (or DWY15K).")
    ] = None,
    experiments: Annotated[
        Path | None, typer.Option(help="The folder of experiments; by default the project's.", show_default=False)
    ] = None,
    out_folder: Annotated[
        Path, typer.Option("--out", help="The folder for data sets and figures, and for the results of a quick run.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small part of every experiment on generated KGs; its numbers mean nothing."),
    ] = False,
    device: Device = "auto",
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Run the experiments of the paper, and write its tables and figures with the published values next to ours.

    Runs that are stored in experiments/results are not repeated; after an interruption the same command continues.
    """
    from multiea.engines.devices import resolve_device  # deferred: imports torch
    from multiea.reproduction.reproduce import Places  # deferred: imports torch
    from multiea.reproduction.reproduce import reproduce as make

    resolve_device(device)
    chosen = list(dict.fromkeys(names or (ALL,)))
    for name in chosen:
        resolve(name, dict.fromkeys((*NEEDS, ALL)), what="table or figure")
    chosen = list(NEEDS) if ALL in chosen else chosen
    places = Places.of(PROJECT / "experiments" if experiments is None else experiments, out_folder, quick=quick)
    try:
        runs, files = make(chosen, places, source, quick=quick, device=device)
    except KeyboardInterrupt:
        err.print(
            f"interrupted; finished runs are stored in {places.results}, and the same command continues",
            style="bold red",
        )
        raise typer.Exit(130) from None
    if as_json:
        print_json({"runs": runs, "written": list(map(str, files))})
        return
    out.print(f"{runs} experiments run; written:")
    for file in files:
        out.print(f"  {file}")
