"""evaluate: all scores of an alignment against held-out groups, as in metrics.json."""

from __future__ import annotations

from typing import Any

from multiea.data.groups import Groups
from multiea.data.task import Task
from multiea.evaluation.reliability import scores_of_confidence
from multiea.evaluation.scores import ranks_of_groups, scores_by_rank
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.judging import scores_of_groups, scores_of_pairs
from multiea.similarity.pools import POOLS
from multiea.tasks.runner import Runner


def evaluate(
    alignment: AlignmentResult, held_out: Groups | None = None, runner: Runner | None = None
) -> dict[str, Any]:
    """Scores against held-out groups (the task's own by default); nothing where there are none.

    runner: that of the alignment, for its own held-out groups only: what its tasks have written is found again.
    """
    task = alignment.task
    held_out = task.held_out if held_out is None else held_out
    Task(task.kgs, task.seeds, held_out, open_seeds=task.open_seeds)  # refuses entities that are in seeds
    if not len(held_out):
        return {}
    by_score: dict[str, dict[str, Any]] = {}
    for pool in POOLS:
        scores, pools = alignment.similarities(pool, held_out, runner)
        for name, value in scores_by_rank(ranks_of_groups(scores, pools, held_out), task.kg_names).items():
            by_score.setdefault(name, {})[pool] = value
    return by_score | {
        "confidence": scores_of_confidence(alignment.found, held_out),
        "pairs": scores_of_pairs(alignment.found.groups, held_out),
        "groups": scores_of_groups(alignment.found.groups, held_out),
    }
