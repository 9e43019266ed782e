"""`multiea align`: aligns a data set and writes a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiea.cli.console import command, out, print_json
from multiea.cli.options import DATASET_HELP, AsJson, ClusterAddress, Force, Memory, Out, ShowProgress, WorkFolder
from multiea.cli.settings_options import given_options, with_settings_options
from multiea.cli.tables import show_lineage, show_metrics, show_open_seeds, show_process
from multiea.foundation.atomic_files import refuse_existing
from multiea.foundation.errors import counted
from multiea.settings.config_file import values_in_file, values_in_option
from multiea.settings.parsing import GivenValue
from multiea.settings.tree import AUTO, AlignSettings
from multiea.tasks.resources import Resources

if TYPE_CHECKING:
    from multiea.runs.run import Run


@command
@with_settings_options()
def align(
    context: typer.Context,
    out_folder: Out,
    dataset: Annotated[
        list[str] | None, typer.Argument(help=f"{DATASET_HELP} May be left out where --config names it.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", help="A TOML file of settings, or a run folder to run again.")
    ] = None,
    settings_words: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting, such as random_state=1; may be given several times.", metavar="KEY=VALUE"
        ),
    ] = None,
    memory: Memory = None,
    work_folder: WorkFolder = None,
    cluster: ClusterAddress = None,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
    **options: Any,
) -> None:
    """Align the KGs of a data set and write the result to a run folder.

    Options override --set, and --set overrides --config. `multiea config init` writes a file of all settings.
    """
    refuse_existing(out_folder, "run", force=force)
    resources = Resources(memory, work_folder, cluster)
    given = [] if config is None else values_in_file(config)
    given += [one for words in settings_words or () for one in values_in_option(words)]
    given += [GivenValue("data.source", tuple(dataset), "DATASET")] if dataset else []
    given += given_options(context)
    settings = AlignSettings.from_given(given)
    rerun_of = None if dataset else config
    align_and_show(settings, out_folder, force=force, as_json=as_json, rerun_of=rerun_of, resources=resources)


def align_and_show(
    settings: AlignSettings,
    out_folder: Path,
    *,
    force: bool,
    as_json: bool,
    rerun_of: Path | None = None,
    resources: Resources | None = None,
) -> None:
    """Aligns, writes the run folder and prints the result."""
    from multiea.api import align_and_save  # deferred: imports torch

    run = align_and_save(settings, out_folder, force=force, rerun_of=rerun_of, resources=resources)
    if as_json:
        print_json(_as_json(run, out_folder))
    else:
        _show(run, out_folder)


def _as_json(run: Run, out_folder: Path) -> dict[str, Any]:
    alignment, ids = run.alignment, run.alignment.ids
    answer = dict(run.metrics) | {
        "out": str(out_folder),
        "found": len(alignment.found.groups),
        "duplicates": len(alignment.duplicates),
    }
    if open_seeds := run.new_open_seeds():
        answer["open_seeds"] = open_seeds
    return answer if ids is None else answer | {"lineage": ids.fates(), "new_kgs": list(ids.new_kgs)}


def _show(run: Run, out_folder: Path) -> None:
    alignment, task = run.alignment, run.alignment.task
    out.print(f"{task.name}: {len(task.kgs)} KGs, {counted(len(alignment.known.groups), 'seed')}")
    found, seconds = counted(len(alignment.found.groups), "group"), run.metrics["seconds"]["total"]
    out.print(f"found {found} among non-seed entities in {seconds:.1f} s")
    show_open_seeds(run)
    if alignment.settings.duplicates:
        repeating = alignment.history.get("duplicates", alignment.settings.duplicates)
        if repeating:
            chosen = " (chosen by auto)" if AUTO in alignment.settings.duplicates else ""
            count = counted(len(alignment.duplicates), "duplicate")
            out.print(f"{count} in these groups, of {', '.join(repeating)}{chosen}")
        else:
            out.print("no duplicates: auto found no KG that repeats entities")
    show_lineage(alignment)
    show_process(alignment)
    show_metrics(run.metrics)
    out.print(f"\nwritten to {out_folder}: groups.tsv has the groups found; groups.parquet also has the seeds,")
    out.print("with the confidence of each member")
    if len(alignment.duplicates):
        out.print("duplicates.tsv has the duplicates, each with the member of groups.tsv that it repeats")
