"""Comparing run folders: opens them and scores those that have not been scored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multiea.evaluation.comparison import Comparison, compare
from multiea.evaluation.evaluate import evaluate
from multiea.evaluation.run_summary import RunSummary, summarise
from multiea.foundation import progress
from multiea.foundation.atomic_files import new_file
from multiea.foundation.errors import SettingError
from multiea.runs.files import read_manifest
from multiea.runs.opening import open_run


def compare_run_folders(folders: Sequence[str | Path], *, random_state: int = 0) -> Comparison:
    """Each run against the first; of two runs also what changed from group to group."""
    summaries = []
    with progress.stage("reading runs", len(folders)) as advance:
        for folder in folders:
            summaries.append(_summary(folder))  # its embeddings are not needed any more
            advance(1)
    return compare(summaries, random_state=random_state)


def write_changes(comparison: Comparison, out: Path, *, force: bool = False) -> int:
    """Writes all changes between two runs as TSV, one row per member; returns their number."""
    if comparison.changes is None:
        raise SettingError(f"no changes to write to {out}: the two runs have fewer than two KGs in common")
    table = comparison.changes.table
    with new_file(out, force=force) as draft:
        table.write_csv(draft, separator="\t")
    return table["change"].n_unique()


def _summary(folder: str | Path) -> RunSummary:
    run = open_run(folder)
    alignment, metrics = run.alignment, dict(run.metrics)
    if len(alignment.task.held_out) and "m_hits" not in metrics:
        metrics = evaluate(alignment) | metrics
    return summarise(str(folder), alignment, metrics, read_manifest(Path(folder)).get("input"))
