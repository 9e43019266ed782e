"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATASET_HELP = "A folder, a dataset.toml, 'world', or several files, one per KG."
Dataset = Annotated[list[str], typer.Argument(help=DATASET_HELP, show_default=False)]
Seeds = Annotated[
    Path | None, typer.Option("--seeds", help="A file of known groups to learn from: TSV, CSV, SSSOM or owl:sameAs.")
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Drop members of groups that their KG does not have.")]
Out = Annotated[Path, typer.Option("--out", help="The folder to write.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ShowProgress = Annotated[bool, typer.Option("--progress/--no-progress", help="Show the progress of long work.")]
RandomState = Annotated[
    int, typer.Option(help="The seed of all random numbers; the same number gives the same result.")
]
MovedData = Annotated[
    list[str] | None,
    typer.Option("--data", help="Where the run's data set is now, if it has moved.", metavar="<DATASET>"),
]
Device = Annotated[str, typer.Option(help="The device for tensors: auto, cpu or cuda.")]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="The memory to use, on each machine of a cluster, such as 8GiB. Default: 60% of what is free.",
        metavar="SIZE",
    ),
]
WorkFolder = Annotated[
    Path | None,
    typer.Option(
        "--work-folder",
        help="A folder for large arrays, in which an interrupted command goes on. Default: a temporary folder.",
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Run on a Ray cluster: auto (the one of this machine), local (this machine alone), or HOST:PORT.",
        metavar="ADDRESS",
    ),
]
