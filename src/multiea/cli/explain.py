"""`multiea explain`: why entities are, or are not, in one group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, out, print_json, print_table
from multiea.cli.options import AsJson, MovedData, ShowProgress

ENTITY_HELP = "An entity: its id, kg/id, kg:id, or a name that one entity has."


@command
def explain(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    entity: Annotated[str, typer.Argument(help=ENTITY_HELP, show_default=False)],
    other: Annotated[
        str | None, typer.Argument(help="An entity of another KG, to explain the two.", show_default=False)
    ] = None,
    data: MovedData = None,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Show why two entities are in one group or not, or why one entity has its group or none."""
    from multiea.explain.explainer import Explainer  # deferred: imports torch
    from multiea.explain.text import heading, notes, text_tables
    from multiea.runs.opening import open_run_with_triples_if_possible

    opened = open_run_with_triples_if_possible(run, data)
    explanation = Explainer(opened.alignment, opened.no_triples).explain(entity, other)
    if as_json:
        print_json(explanation.as_dict())
        return
    first, *others = heading(explanation)
    out.print(first, style="bold")
    for line in others:
        out.print(line)
    for table in text_tables(explanation):
        out.print()
        print_table(table.title, table.header, table.rows, words=table.words)
    for note in notes(explanation):
        out.print(f"\n{note}")
