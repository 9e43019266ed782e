"""The command line: its commands, and how it starts."""

from __future__ import annotations

import signal
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from multiea.cli import add, align, compare, config, data, demo, evaluate, export, report, reproduce
from multiea.cli.console import out

COMMANDS = (
    demo.demo,
    data.inspect,
    data.build,
    data.synth,
    align.align,
    add.add,
    evaluate.evaluate,
    compare.compare,
    export.export,
    report.report,
    reproduce.reproduce,
)

app = typer.Typer(
    help="Aligns any number of knowledge graphs in a single pass.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from multiea.foundation.version import __version__

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
    """The entry point."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leaves through every `finally`, so that nothing is left
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no reason to stop
    app()
