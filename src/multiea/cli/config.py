"""`multiea config`: writes a file with all settings, and shows the settings of a file or run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import tomli_w
import typer

from multiea.cli.console import command, out, print_json
from multiea.cli.options import AsJson, Force, ShowProgress
from multiea.foundation.atomic_files import new_file, refuse_existing_file
from multiea.settings.config_file import config_template, read_settings
from multiea.settings.engines import PROPAGATION
from multiea.settings.fields import without_none

app = typer.Typer(help="Write and show the settings of a run.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
@command
def init(
    out_file: Annotated[Path, typer.Option("--out", help="The file to write.")] = Path("multiea.toml"),
    engine: Annotated[str, typer.Option(help="The engine the settings are for.")] = PROPAGATION,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Write a TOML file with all settings, their defaults and explanations."""
    refuse_existing_file(out_file, force=force)
    text = config_template(engine)
    with new_file(out_file, force=force) as draft:
        draft.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"out": str(out_file), "engine": engine})
        return
    out.print(f"written to {out_file}; next: multiea align DATASET --config {shlex.quote(str(out_file))} --out RUN")


@app.command()
@command
def show(
    file: Annotated[Path, typer.Argument(help="A TOML file of settings, or a run folder.", show_default=False)],
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Show all settings of a file or run folder, including the defaults of those that it does not set."""
    settings = read_settings(file).recorded()
    if as_json:
        print_json(settings)
    else:
        out.print(tomli_w.dumps(without_none(settings)), end="")
