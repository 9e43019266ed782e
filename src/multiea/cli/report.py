"""`multiea report`: one HTML page about a run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, out, print_json
from multiea.cli.options import AsJson, Force, MovedData, ShowProgress
from multiea.foundation.atomic_files import refuse_existing_file
from multiea.foundation.errors import SettingError


@command
def report(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="The page to write; by default report.html in the run folder.", show_default=False),
    ] = None,
    data: MovedData = None,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Write one HTML page about a run: scores, curves, a map, and the groups with their evidence."""
    start = time.perf_counter()
    file = run / "report.html" if out_file is None else out_file
    if file.suffix.lower() not in (".html", ".htm"):
        raise SettingError(f"--out must be an HTML file, ending in .html; got {file}")
    refuse_existing_file(file, force=force)
    from multiea.report.checked_run import checked_run  # deferred: imports torch
    from multiea.report.page import write_report
    from multiea.report.subject import Subject
    from multiea.report.tsne import HOW_TO_GET_IT, has_tsne
    from multiea.runs.opening import open_run_with_triples_if_possible

    subject = Subject(checked_run(open_run_with_triples_if_possible(run, data)))
    sections = write_report(subject.run, file, force=force)
    missing = {} if subject.missing_triples is None else {"triples": subject.missing_triples}
    missing |= {} if has_tsne() else {"map": f"needs openTSNE: {HOW_TO_GET_IT}"}
    size, seconds = file.stat().st_size, time.perf_counter() - start
    if as_json:
        titles = [section.title for section in sections]
        answer = {"out": str(file), "bytes": size, "seconds": seconds, "sections": titles, "missing": missing}
        print_json(answer | {"groups": len(subject.found)})
        return
    shown = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size, 1000) / 1e3:.0f} kB"
    out.print(f"written to {file}: {shown}, in {seconds:.1f} s; open it in a browser")
    for what, why in missing.items():
        out.print(f"without the {what}: {why}")
