"""`multiea tune`: searches settings on validation seeds and writes a study folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiea.cli.console import command, err, out, print_json
from multiea.cli.options import DATASET_HELP, AsJson, ShowProgress
from multiea.cli.settings_options import given_options, with_settings_options
from multiea.foundation.errors import counted
from multiea.settings.config_file import values_in_file, values_in_option
from multiea.settings.parsing import GivenValue, toml_value
from multiea.settings.tree import AlignSettings, option_keys

if TYPE_CHECKING:
    from multiea.tuning.tuning import Tuning

OPTIONS = [option for option in option_keys() if option != "--previous"]  # ids of groups say nothing about settings


@command
@with_settings_options(only=OPTIONS)
def tune(
    context: typer.Context,
    out_folder: Annotated[
        Path,
        typer.Option(
            "--out",
            help="The study folder to write; a study of the same data and settings goes on.",
            show_default=False,
        ),
    ],
    dataset: Annotated[
        list[str] | None, typer.Argument(help=f"{DATASET_HELP} May be left out where --config names it.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="The number of trials in all.")] = 30,
    search: Annotated[
        Path | None,
        typer.Option("--search", help="A TOML file of the settings to search, instead of the default ones."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", help="A TOML file of settings, or a run folder, to start from.")
    ] = None,
    settings_words: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting that stays as given; may be given several times.", metavar="KEY=VALUE"),
    ] = None,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
    **options: Any,
) -> None:
    """Search settings that find more right pairs on validation seeds; held-out groups are not used.

    Trial 0 has the default settings. What --set and options give stays as it is; what --config gives is where the
    search starts. The same command again goes on, up to --trials in all.
    """
    given = [] if config is None else values_in_file(config)
    kept = [one for words in settings_words or () for one in values_in_option(words)] + list(given_options(context))
    source = [GivenValue("data.source", tuple(dataset), "DATASET")] if dataset else []
    settings = AlignSettings.from_given([*given, *source, *kept])
    from multiea.runs.loading import load_task  # deferred: imports torch
    from multiea.tuning.study_folder import check_study_folder
    from multiea.tuning.trials import require_optuna
    from multiea.tuning.tune import tune as tune_task

    require_optuna()
    check_study_folder(out_folder)
    keep = [one.key for one in kept]
    try:
        result = tune_task(load_task(settings), settings, trials=trials, out=out_folder, search=search, keep=keep)
    except KeyboardInterrupt:
        err.print(f"interrupted; the same command goes on with the finished trials in {out_folder}", style="bold red")
        raise typer.Exit(130) from None
    if as_json:
        print_json(_as_json(result, out_folder))
    else:
        _show(result, out_folder)


def _as_json(result: Tuning, out_folder: Path) -> dict[str, Any]:
    difference = result.difference
    compared = None
    if difference is not None:
        compared = vars(difference) | {"difference": difference.difference, "is_better": difference.is_better}
    return {
        "out": str(out_folder),
        "trials": result.trials.height,
        "failed": result.trials["error"].count(),
        "default": {"trial": 0, "f1": result.default_value},
        "best": {"trial": result.best_trial, "f1": result.best_value, "changes": result.changes()},
        "compared": compared,
        "recommended": "best" if result.is_better else "default",
        "seconds": result.trials["seconds"].sum(),
    }


def _show(result: Tuning, out_folder: Path) -> None:
    failed = result.trials["error"].count()
    out.print(
        f"{counted(result.trials.height, 'trial')}" + (f", {failed:,} failed (why: trials.tsv)" if failed else "")
    )
    out.print("pair F1 on the seeds that judge all trials:")
    out.print(f"  defaults  {result.default_value:.3f}")
    out.print(f"  best      {result.best_value:.3f}  (trial {result.best_trial}; the best of many is flattered)")
    for key, value in result.changes().items():
        out.print(f"    {key} = {toml_value(value)}")
    out.print(result.verdict())
    out.print(f"\nwritten to {out_folder}: trials.tsv has all trials, best.toml the settings of the best")
    if result.is_better:
        out.print(f"next: multiea align --config {shlex.quote(str(out_folder / 'best.toml'))} --out RUN")
