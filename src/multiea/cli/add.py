"""`multiea add`: adds a new KG to a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from multiea.cli.align import align_and_show
from multiea.cli.console import command
from multiea.cli.options import AsJson, Force, Out, ShowProgress
from multiea.cli.settings_options import ROLE_OPTIONS, given_options, with_settings_options
from multiea.foundation.atomic_files import refuse_existing
from multiea.settings.config_file import values_in_file
from multiea.settings.parsing import GivenValue
from multiea.settings.tree import AlignSettings

CARRIED_ON = ("duplicates",)  # settings of the old run that also apply to the new one


@command
@with_settings_options(only=("--random-state", "--device", "--lenient", *ROLE_OPTIONS))
def add(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="The run folder to add a KG to.", show_default=False)],
    kg_file: Annotated[Path, typer.Argument(help="The triples of the new KG.", metavar="KG-FILE", show_default=False)],
    seeds: Annotated[
        Path,
        typer.Option(
            "--seeds",
            help="A file of known groups over the new KG and KGs of the run: TSV, CSV, SSSOM or owl:sameAs.",
            show_default=False,
        ),
    ],
    out_folder: Out,
    name: Annotated[str | None, typer.Option(help="The name of the new KG; by default that of its file.")] = None,
    held_out: Annotated[Path | None, typer.Option("--held-out", help="A file of known groups for evaluation.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
    **options: Any,
) -> None:
    """Add a new KG to a run, without aligning the others from scratch; old groups keep their ids."""
    from multiea.runs.files import folders_grown_from  # deferred: imports polars

    refuse_existing(out_folder, "run", force=force)
    folders_grown_from(run)  # refuses what is not a run
    given = [one for one in values_in_file(run) if one.key in CARRIED_ON]
    given += [
        GivenValue("data.grown_from", str(run), "RUN"),
        GivenValue("data.source", (str(kg_file),), "KG-FILE"),
        GivenValue("data.kg_name", name, "--name"),
        GivenValue("data.held_out", None if held_out is None else str(held_out), "--held-out"),
    ]
    given += given_options(context)
    given += [GivenValue("data.seeds", str(seeds), "--seeds")]
    align_and_show(AlignSettings.from_given(given), out_folder, force=force, as_json=as_json)
