"""The command line: all commands and the entry point."""

from __future__ import annotations

import signal
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from multiea.cli import add, align, compare, config, data, demo, evaluate, explain, export, report, reproduce, tune
from multiea.cli.console import out
from multiea.foundation.memory import collect_all_garbage_seldom, keep_freed_blocks
from multiea.foundation.threads import let_waiting_threads_sleep
from multiea.foundation.version import __version__

COMMANDS = (
    demo.demo,
    data.inspect,
    data.build,
    data.synth,
    align.align,
    add.add,
    evaluate.evaluate,
    compare.compare,
    explain.explain,
    export.export,
    report.report,
    tune.tune,
    reproduce.reproduce,
)

app = typer.Typer(
    help="Align any number of knowledge graphs in a single pass.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"multiea {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


for one in COMMANDS:
    app.command()(one)
app.add_typer(config.app, name="config")


def main() -> None:
    """Starts the command line."""
    keep_freed_blocks()
    collect_all_garbage_seldom()
    let_waiting_threads_sleep()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # runs every `finally`, which removes temporary files
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names that the terminal cannot show
    app()
