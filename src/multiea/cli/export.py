"""`multiea export`: a run in formats that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, out, print_json
from multiea.cli.options import AsJson, Force, MovedData, ShowProgress
from multiea.foundation.errors import counted, resolve

FORMAT_NAMES = "groups, sssom, same-as, alignment-rdf, merged, networkx, pyg"  # as in exports.export.FORMATS


@command
def export(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    to: Annotated[str, typer.Option("--to", help=f"The format: {FORMAT_NAMES}.", show_default=False)],
    out_path: Annotated[
        Path,
        typer.Option(
            "--out",
            help="The file to write; its extension selects the format (groups: .tsv .csv .jsonl .parquet; merged: .nq "
            ".parquet). For alignment-rdf, a folder.",
            show_default=False,
        ),
    ],
    closure: Annotated[
        bool, typer.Option("--closure", help="same-as: link all pairs of members, instead of one member to all others.")
    ] = False,
    predicate: Annotated[str, typer.Option(help="sssom: owl:sameAs or skos:exactMatch.")] = "owl:sameAs",
    prefer: Annotated[
        list[str] | None,
        typer.Option(
            help="The KG whose members name their groups; may be given several times, in order of preference.",
            metavar="<KG>",
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo/--no-undo", help="merged: also write the files that lead back to the original KGs.")
    ] = True,
    data: MovedData = None,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Write a run's groups, mappings or merged KG in a standard form."""
    from multiea.exports import export as exports  # deferred: imports torch
    from multiea.exports.choices import Choices
    from multiea.runs.opening import open_run

    chosen = resolve(to, exports.FORMATS, what="format")
    sources = {name: context.get_parameter_source(name) for name in exports.OPTIONS}
    exports.refuse_unused_options(
        to, [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    )
    exports.refuse_existing_output(to, out_path, force=force)
    opened = open_run(run, with_triples=chosen.needs_triples, data=data)
    choices = Choices(closure=closure, predicate=predicate, prefer=tuple(prefer or ()), undo=undo)
    written = exports.export(opened, to, out_path, choices, force=force)
    if as_json:
        answer = {"to": to, "files": [str(path) for path in written.files], "records": written.records}
        print_json(answer | {"encoded": written.encoded})
        return
    out.print(f"{counted(written.records, written.what)} written:")
    for path in written.files:
        out.print(f"  {path}")
