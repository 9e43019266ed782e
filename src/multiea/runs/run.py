"""Run: an alignment with its scores, timings and memory; what a run folder holds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from multiea.evaluation.evaluate import evaluate
from multiea.evaluation.self_check import confidence_basis, evidence_used, validation_scores
from multiea.foundation.memory import peak_rss_mb
from multiea.grouping.alignment import AlignmentResult
from multiea.tasks.runner import Runner

STAGES = ("engine", "similarity", "grouping")


@dataclass(frozen=True)
class Run:
    """metrics: the content of metrics.json. folder: as the user named it, where the run was opened from one.

    no_triples: why the triples are not available, where they are not.
    """

    alignment: AlignmentResult
    metrics: Mapping[str, Any] = field(default_factory=dict)
    folder: str | None = None
    no_triples: str | None = None

    @classmethod
    def of(cls, alignment: AlignmentResult, runner: Runner | None = None) -> Run:
        """The run of an alignment, scored against its held-out groups; runner: the one that has aligned."""
        start = time.perf_counter()
        metrics = evaluate(alignment, runner=runner)
        seconds = dict(alignment.seconds)
        if "total" not in seconds:  # an alignment opened from a run folder has the timings of that run
            read, stages = alignment.task.origin.seconds, {name: seconds[name] for name in STAGES if name in seconds}
            total = read + seconds.get("align", 0.0) + time.perf_counter() - start
            seconds = {"read": read, **stages, "total": total}
        memory = peak_rss_mb() if alignment.peak_rss_mb is None else alignment.peak_rss_mb
        metrics |= {"engine": alignment.settings.engine, "evidence": evidence_used(alignment)}
        metrics |= {"calibration": confidence_basis(alignment), "validation": validation_scores(alignment)}
        metrics |= {name: alignment.history.get(name) for name in ("bootstrap", "search")}
        return cls(alignment, metrics | {"seconds": seconds, "peak_rss_mb": memory})

    def new_open_seeds(self) -> dict[str, dict[str, int]]:
        """For each new KG the number of open seeds whose member there was looked for, and found."""
        ids, counts = self.alignment.ids, self.alignment.history.get("open_seeds", {})
        return {} if ids is None else {kg: count for kg, count in counts.items() if kg in ids.new_kgs}

    @property
    def sources(self) -> tuple[str, ...]:
        """The places of the data set; none where they are unknown."""
        return self.alignment.settings.data.source

    def path(self, name: str) -> Path:
        """A file of the run folder."""
        assert self.folder is not None
        return Path(self.folder) / name
