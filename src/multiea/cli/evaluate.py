"""`multiea evaluate`: scores a run against its held-out groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, print_json
from multiea.cli.options import AsJson, ShowProgress
from multiea.cli.tables import show_metrics

NO_SCORES = {
    "held_out": 0,
    "why": "no scores: there are no held-out groups. Add held_out.tsv or groups.tsv to the data set, and align again",
}


@command
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Score a run against its held-out groups."""
    from multiea.evaluation.evaluate import evaluate as scores_of  # deferred: imports torch
    from multiea.runs.opening import open_run

    metrics = scores_of(open_run(run).alignment)
    if as_json:
        print_json(metrics or NO_SCORES)
    else:
        show_metrics(metrics)
