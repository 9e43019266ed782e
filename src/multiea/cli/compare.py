"""`multiea compare`: shows runs side by side and tests whether they differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multiea.cli.console import command, out, print_json, print_table
from multiea.cli.options import AsJson, Force, RandomState, ShowProgress
from multiea.foundation.atomic_files import refuse_existing_file
from multiea.foundation.errors import SettingError, check_random_state, counted

if TYPE_CHECKING:
    from multiea.evaluation.changes import Changes
    from multiea.evaluation.comparison import Comparison

SMALLEST_P = 1e-300  # smaller p-values are not exact in floating point


@command
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run folders.", show_default=False)],
    out_file: Annotated[
        Path | None, typer.Option("--out", help="A TSV file to write all changes between two runs to.")
    ] = None,
    random_state: RandomState = 0,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Show runs side by side, test each against the first, and list what changed between two runs."""
    from multiea.runs.comparing import compare_run_folders, write_changes  # deferred: imports torch

    if len(runs) < 2:
        raise SettingError("a comparison needs at least two run folders; give another one")
    if out_file is not None:
        if len(runs) > 2:
            raise SettingError(f"--out writes the changes between two runs, but {len(runs)} were given")
        if out_file.suffix.lower() != ".tsv":
            raise SettingError(f"--out must be a TSV file, ending in .tsv; got {out_file}")
        refuse_existing_file(out_file, force=force)
    check_random_state(random_state)
    comparison = compare_run_folders(runs, random_state=random_state)
    changes = 0 if out_file is None else write_changes(comparison, out_file, force=force)
    if as_json:
        print_json(comparison.to_dict() | {"out": None if out_file is None else str(out_file)})
        return
    show_comparison(comparison)
    if out_file is not None:
        out.print(f"\nall {counted(changes, 'change')} written to {out_file}, one row per member")


def show_comparison(comparison: Comparison) -> None:
    """Scores, tests and changes as tables; pairs and groups come before ranks."""
    runs = comparison.runs
    for number, run in enumerate(runs, start=1):
        out.print(f"{number}  {run.name}")
    for sentence in comparison.data_differences:
        out.print(sentence)
    header = ["", *(str(number) for number in range(1, len(runs) + 1))]
    rows: list[list[object]] = [
        ["KGs", *(len(run.kg_names) for run in runs)],
        ["seeds", *(run.seeds for run in runs)],
        ["held-out groups", *(run.held_out.height for run in runs)],
        ["groups found", *(run.found for run in runs)],
    ]
    for name in runs[0].scores:
        values = [run.scores[name] for run in runs]
        if all(value is None for value in values):
            continue
        digits = 1 if name == "seconds" else 4
        rows.append([name, *("-" if value is None else f"{value:.{digits}f}" for value in values)])
    out.print()
    print_table("Scores", header, rows)
    out.print()
    _show_tests(comparison)
    if len(runs) == 2:
        out.print()
        if comparison.changes is None:
            out.print("changes: none to show, because the two runs have fewer than two KGs in common")
        else:
            _show_changes(comparison.changes)


def _show_tests(comparison: Comparison) -> None:
    from multiea.evaluation.run_summary import OUTCOMES  # deferred: imports torch

    numbered = list(enumerate(comparison.tested, start=2))
    rows = [
        [number, test.outcome, test.groups, test.first, test.second, _p(test.p), _p(test.p_holm)]
        for number, one in numbered
        for test in one.tests
    ]
    if rows:
        header = ["run", "outcome", "groups", "1 alone", "run alone", "p", "p (Holm)"]
        title = "Against 1: exact McNemar tests on the groups for which one of the two runs alone has the outcome"
        print_table(title, header, rows, words=2)
        for outcome, meaning in OUTCOMES.items():
            out.print(f"{outcome}: {meaning}")
        compared = counted(sum(bool(one.tests) for one in comparison.tested), "run")
        out.print(f"{compared} tested against 1, {comparison.tests} tests in all: p (Holm) is corrected for this")
    for number, one in numbered:
        if one.why_not is not None:
            out.print(f"{number} is not tested against 1: {one.why_not}")
        if (f1 := one.pair_f1) is not None:
            out.print(
                f"pair F1 of {number} minus that of 1: {f1.difference:+.4f}, {f1.level:.0%} interval {f1.low:+.4f} to "
                f"{f1.high:+.4f} ({f1.resamples:,} bootstrap resamples of {counted(f1.groups, 'group')})"
            )


def _p(value: float) -> str:
    return f"{value:.3g}" if value > SMALLEST_P else f"<{SMALLEST_P:.0g}"


def _show_changes(changes: Changes) -> None:
    from multiea.evaluation.changes import KINDS  # deferred: imports torch

    counts = ", ".join(f"{changes.counts[kind]:,} {kind}" for kind in KINDS)
    out.print(f"Groups of 1 and 2 over {', '.join(changes.kg_names)}: {counts}")
    out.print(f"(not counted: {counted(changes.seeds, 'seed')} of both)")
    shown = changes.most_confident()
    if not shown:
        return
    rows = []
    for number, change in enumerate(shown, start=1):
        for group in change["groups"]:
            members = "; ".join(f"{member['kg']}: {member['name']}" for member in group["members"])
            run = {"first": "1", "second": "2"}[group["run"]]
            rows.append([number, change["what"], run, members, f"{group['confidence']:.2f}", group["right"]])
    out.print()
    total = counted(changes.table["change"].n_unique(), "change")
    title = f"The most confident of {total}; right: according to the held-out groups"
    print_table(title, ["", "what", "run", "group", "confidence", "right"], rows, words=4)
