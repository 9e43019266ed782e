"""Alignment: the groups found, how sure they are, the embeddings behind them, and how it was made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor

from multiea.data.groups import Groups
from multiea.data.task import Task
from multiea.evaluation.found import scores_of_groups, scores_of_pairs
from multiea.evaluation.scores import POOLS, pool_of_candidates, ranks_of_groups, scores_by_rank
from multiea.graph import places_by_name
from multiea.grouping.mutual import FoundGroups, group_mutual_matches
from multiea.similarity.enhancement import Enhancement, Pairs, similarities


@dataclass(frozen=True)
class Alignment:
    """What `align` returns.

    task: the KGs, seeds and held-out groups it was made from. found: the groups found among what is not seeds.
    embeddings: (N, d) of all entities, KG after KG. settings: everything needed to make it again.
    """

    task: Task
    found: FoundGroups
    embeddings: Tensor
    enhancement: Enhancement
    settings: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def groups(self) -> pl.DataFrame:
        """All groups, seeds first, a row a member: group_id, kg, entity, confidence, status (seed or found)."""
        parts = [(self.task.seeds, np.ones(self.task.seeds.members.shape), "seed")]
        parts.append((self.found.groups, self.found.confidence, "found"))
        return pl.concat([self._long_table(groups, confidence, status) for groups, confidence, status in parts])

    def similarities(self, pool: str, held_out: Groups | None = None) -> tuple[Pairs, list[np.ndarray]]:
        """The scores of all pairs of KGs among a pool of candidates, and that pool, KG by KG."""
        held_out = self.task.held_out if held_out is None else held_out
        return pool_similarities(self.task, self.embeddings, self.enhancement, pool, held_out)

    def evaluate(self, held_out: Groups | None = None) -> dict[str, Any]:
        """Scores against held-out groups (the task's own unless others are given), as in metrics.json."""
        held_out = self.task.held_out if held_out is None else held_out
        Task(self.task.kgs, self.task.seeds, held_out)  # refuses other KGs, and groups with seeds: those never count
        if not len(held_out):
            return {}
        by_score: dict[str, dict[str, Any]] = {}
        for pool in POOLS:
            scores, pools = self.similarities(pool, held_out)
            for name, value in scores_by_rank(ranks_of_groups(scores, pools, held_out), self.task.kg_names).items():
                by_score.setdefault(name, {})[pool] = value
        return by_score | {
            "pairs": scores_of_pairs(self.found.groups, held_out),
            "groups": scores_of_groups(self.found.groups, held_out),
        }

    def with_enhancement(self, enhancement: Enhancement) -> Alignment:
        """The same embeddings, compared and grouped in another way."""
        scores, pools = pool_similarities(self.task, self.embeddings, enhancement, "all", self.task.held_out)
        found = group_mutual_matches(scores, pools, self.task.kg_names, places_by_name(self.task))
        settings = {**self.settings, "enhancement": asdict(enhancement)}
        return replace(self, found=found, enhancement=enhancement, settings=settings)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Writes a run folder; multiea.open brings it back."""
        from multiea.outputs.run_folder import save

        save(self, Path(folder), force=force)

    def _long_table(self, groups: Groups, confidence: np.ndarray, status: str) -> pl.DataFrame:
        names = groups.names(self.task.kgs)
        ids = group_ids(names)
        rows = []
        for column, kg in enumerate(self.task.kg_names):
            of_kg = pl.DataFrame({"group_id": ids, "kg": [kg] * len(ids), "entity": names.get_column(kg)}).with_columns(
                confidence=pl.Series(confidence[:, column], dtype=pl.Float64), order=pl.int_range(len(ids))
            )
            rows.append(of_kg.filter(pl.col("entity").is_not_null()))
        table = pl.concat(rows).sort("order", "kg").drop("order")
        return table.with_columns(status=pl.lit(status))

    def __repr__(self) -> str:
        return f"Alignment('{self.task.name}': {len(self.task.seeds):,} seeds, {len(self.found.groups):,} groups found)"


def pool_similarities(
    task: Task, embeddings: Tensor, enhancement: Enhancement, pool: str, held_out: Groups
) -> tuple[Pairs, list[np.ndarray]]:
    """The scores of all pairs of KGs among a pool of candidates, and that pool, KG by KG."""
    sizes = [len(kg.entities) for kg in task.kgs]
    pools = pool_of_candidates(pool, sizes, task.seeds, held_out)
    starts = np.cumsum([0, *sizes])
    of_kgs = [embeddings[start:stop] for start, stop in pairwise(starts)]
    candidates = [of_kg[torch.from_numpy(chosen).to(of_kg.device)] for of_kg, chosen in zip(of_kgs, pools, strict=True)]
    return similarities(candidates, enhancement), pools


def group_ids(names: pl.DataFrame) -> list[str]:
    """An id for each group that depends on its members alone: the same group has the same id in every run."""
    kgs = sorted(names.columns)
    ids = []
    for row in zip(*(names.get_column(kg) for kg in kgs), strict=True):
        text = "\n".join(f"{kg}\t{entity}" for kg, entity in zip(kgs, row, strict=True) if entity is not None)
        ids.append("g" + hashlib.blake2b(text.encode(), digest_size=8).hexdigest())
    return ids
