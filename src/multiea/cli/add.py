"""`multiea add`: a new KG joins a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.align import align_as_set
from multiea.cli.console import command
from multiea.cli.options import AsJson, Device, Force, Lenient, Out, RandomState, ShowProgress
from multiea.foundation.atomic_files import refuse_existing


@command
def add(
    run: Annotated[Path, typer.Argument(help="The run folder to add a KG to.", show_default=False)],
    kg_file: Annotated[Path, typer.Argument(help="The triples of the new KG.", metavar="KG-FILE", show_default=False)],
    seeds: Annotated[
        Path,
        typer.Option(
            "--seeds",
            help="A file of known groups over the new KG and some of the run: TSV, CSV, SSSOM or owl:sameAs.",
            show_default=False,
        ),
    ],
    out_folder: Out,
    name: Annotated[str | None, typer.Option(help="What the new KG is called; by default as its file.")] = None,
    held_out: Annotated[Path | None, typer.Option("--held-out", help="A file of known groups to score with.")] = None,
    random_state: RandomState = 0,
    device: Device = "auto",
    lenient: Lenient = False,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Let a new KG join a run, without aligning the others from scratch; old groups keep their ids."""
    from multiea.runs.files import folders_grown_from
    from multiea.settings.configuration import Settings, from_file
    from multiea.settings.parsing import Given

    refuse_existing(out_folder, "run", force=force)
    folders_grown_from(run)  # an error that says what is no run
    given = [one for one in from_file(run) if one.key == "duplicates"]
    values = {
        "data.grown_from": (str(run), "RUN"),
        "data.source": ((str(kg_file),), "KG-FILE"),
        "data.seeds": (str(seeds), "--seeds"),
        "data.kg_name": (name, "--name"),
        "data.held_out": (None if held_out is None else str(held_out), "--held-out"),
        "data.lenient": (lenient, "--lenient"),
        "random_state": (random_state, "--random-state"),
        "device": (device, "--device"),
    }
    given += [Given(key, value, option) for key, (value, option) in values.items()]
    align_as_set(Settings.of(given), out_folder, force=force, as_json=as_json)
