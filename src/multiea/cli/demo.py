"""`multiea demo`: aligns the embedded data set and shows the result."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multiea.cli.console import command, out, print_json, print_table
from multiea.cli.options import AsJson, Force, ShowProgress
from multiea.cli.tables import show_kgs, show_metrics, show_process
from multiea.foundation.atomic_files import refuse_existing
from multiea.settings.data import Data
from multiea.settings.tree import AlignSettings

if TYPE_CHECKING:
    from multiea.grouping.alignment import AlignmentResult

WORLD = "world"
EXAMPLES = 10
DEFAULT_FOLDER = Path("multiea-demo")


@command
def demo(
    out_folder: Annotated[
        Path, typer.Option("--out", help="The run folder to write; the default one is replaced.")
    ] = DEFAULT_FOLDER,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Align the embedded data set, three knowledge graphs of the world, and show the result."""
    from multiea.data.inspection import inspect  # deferred: imports polars
    from multiea.data.load import load

    force = force or out_folder == DEFAULT_FOLDER
    refuse_existing(out_folder, "run", force=force)
    settings, task = AlignSettings.default(data=Data(source=(WORLD,))), load(WORLD)
    if not as_json:
        show_kgs(inspect(task))
        out.print(f"\naligning by structure and names, from {len(task.seeds):,} seeds ...")
    from multiea.api import align_and_save  # deferred: imports torch

    run = align_and_save(settings, out_folder, force=force, task=task)
    if as_json:
        print_json(dict(run.metrics) | {"out": str(out_folder)})
        return
    show_process(run.alignment)
    out.print(f"{run.metrics['seconds']['total']:.1f} s in total")
    show_metrics(run.metrics)
    _show_examples(run.alignment)
    folder = shlex.quote(str(out_folder))
    out.print(f"\nThe run is in {folder}: groups.tsv, groups.parquet, metrics.json and how they were made. Next:")
    out.print(f"  multiea evaluate {folder}      its scores again")
    out.print(f"  multiea report {folder}        a page about it, to open in a browser")
    out.print("  multiea inspect FOLDER             what is in a data set of your own, and what is wrong with it")
    out.print("  multiea align FOLDER --out RUN     align it")


def _show_examples(alignment: AlignmentResult) -> None:
    from multiea.grouping.judging import judged_groups  # deferred: imports polars

    found, task = alignment.found, alignment.task
    complete = (found.groups.sizes == len(task.kgs)).nonzero()[0]
    shown = complete[:: max(1, len(complete) // EXAMPLES)][:EXAMPLES]
    groups = found.groups.take(shown)
    names = [kg.display(members) for kg, members in zip(task.kgs, groups.members.T, strict=True)]
    confidences = [f"{value:.2f}" for value in found.confidence[shown].mean(axis=1)]
    judged, right = judged_groups(groups, task.held_out)
    verdicts = ["no" if share and not good else "yes" if share == 1 else "not all known"
                for share, good in zip(judged, right, strict=True)]  # fmt: skip
    out.print()
    rows = list(zip(*names, confidences, verdicts, strict=True))
    title = "Ten of the complete groups found, by decreasing confidence; right: according to the held-out groups"
    print_table(title, [*task.kg_names, "confidence", "right"], rows, words=len(names))
