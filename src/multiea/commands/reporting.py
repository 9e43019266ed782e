"""Commands that tell about a run: report."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from multiea.commands.options import AsJson, Force, ShowProgress
from multiea.console import command, out, print_json
from multiea.errors import InputError, SettingError
from multiea.writing import refuse_existing_file


@command
def report(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="The page to write; by default report.html in the run folder.", show_default=False),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Write one HTML page about a run: scores, curves, a map, the groups and what speaks for them."""
    start = time.perf_counter()
    file = run / "report.html" if out_file is None else out_file
    if file.suffix.lower() not in (".html", ".htm"):
        raise SettingError(f"--out must be an HTML file, ending in .html; got {file}")
    refuse_existing_file(file, force=force)
    from multiea.outputs.report.embedding_map import HOW_TO_GET_IT, has_tsne
    from multiea.outputs.report.page import write_report
    from multiea.outputs.run_folder import open_run

    missing = {} if has_tsne() else {"map": f"needs openTSNE: {HOW_TO_GET_IT}"}
    try:
        alignment = open_run(run, with_triples=True)
    except InputError as error:
        alignment = open_run(run)
        missing["triples"] = str(error)
    sections = write_report(
        alignment, file, run=str(run), metrics=_metrics(run), no_triples=missing.get("triples"), force=force
    )
    size, seconds = file.stat().st_size, time.perf_counter() - start
    if as_json:
        titles = [section.title for section in sections]
        answer = {"out": str(file), "bytes": size, "seconds": seconds, "sections": titles, "missing": missing}
        print_json(answer | {"groups": len(alignment.found.groups)})
        return
    out.print(f"written to {file}: {size / 1e6:.1f} MB, in {seconds:.1f} s; open it in a browser")
    for what, why in missing.items():
        out.print(f"without the {what}: {why}")


def _metrics(run: Path) -> dict[str, Any]:
    """What a run was scored with; nothing where it was not."""
    path = run / "metrics.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError):
        raise InputError("damaged: no JSON object", path=path, hint="Remove it, or align again") from None
