"""AlignmentResult: the groups of an alignment with their confidences, the embeddings behind them, how it was made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import Evidence
from multiea.graph.canonical_order import CanonicalOrder
from multiea.grouping.calibration import Calibration
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.found_groups import FoundGroups
from multiea.grouping.lineage import Ancestor, GroupIds, follow, group_ids
from multiea.grouping.tables import duplicate_pair_table, duplicate_table, member_table, pair_table
from multiea.settings.enhancement import Enhancement
from multiea.settings.tree import AlignSettings
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.enhancement import Pairs
from multiea.similarity.large_scores import LargeScores
from multiea.similarity.pools import Comparable, candidate_pools, pool_similarities
from multiea.similarity.signatures import Signatures
from multiea.similarity.weights import Weights
from multiea.tasks.runner import Runner


@dataclass(frozen=True)
class AlignmentResult:
    """The result of an alignment, in the order of the given task.

    task: the KGs, seeds and held-out groups it was made from. found: the groups among non-seed entities.
    canonical_embeddings: of all entities, KG after KG, in canonical order. settings: everything needed to make it
    again. calibration: how scores became confidences. signatures: of all entities, where large KGs are searched by
    blocking. evidence, weights: what was compared beside structure, in canonical order; None for structure alone.
    duplicates: further members of found groups, in KGs that contain duplicates. ids: of its groups, where they carry on
    those of a previous run; otherwise they depend on the members only. peak_rss_mb: of the process that made it, where
    it was opened from a run folder. completed_seeds: open seeds with the members that were found for them.
    """

    task: Task
    found: FoundGroups
    canonical_embeddings: Embeddings
    settings: AlignSettings
    calibration: Calibration = field(default_factory=Calibration)
    signatures: Signatures | None = None
    evidence: Evidence | None = None
    weights: Weights = field(default_factory=Weights)
    history: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    duplicates: Duplicates = field(default_factory=Duplicates)
    ids: GroupIds | None = None
    completed_seeds: FoundGroups | None = None
    peak_rss_mb: int | None = None
    _scores_of_all: tuple[Pairs, list[np.ndarray]] | None = field(default=None, repr=False, compare=False)

    @property
    def embeddings(self) -> Tensor:
        """The embeddings of all entities, (N, d), KG after KG."""
        return self.embeddings_of(np.arange(int(self.task.entity_offsets[-1])))

    def embeddings_of(self, entities: np.ndarray) -> Tensor:
        """The embeddings of some entities, given by their joint ids, (n, d)."""
        rows = torch.from_numpy(self.order.canonical_ids()[entities])
        return self.canonical_embeddings[rows.to(self.canonical_embeddings.device)].float()

    @property
    def enhancement(self) -> Enhancement:
        """How the embeddings were compared."""
        return self.settings.enhancement

    @property
    def groups(self) -> pl.DataFrame:
        """All groups, seeds first, one row per member: group_id, kg, entity, name, confidence, status.

        status: seed, found, or duplicate (of a KG that already has a member in the group). Open seeds come after the
        seeds; their known members have status seed, the others found.
        """
        known_ids, found_ids = self.group_ids()
        nothing_known = np.zeros(self.found.groups.members.shape, dtype=bool)
        return pl.concat(
            [
                member_table(self.known, known_ids, self._is_known_member(), self.task.kgs),
                member_table(self.found, found_ids, nothing_known, self.task.kgs),
                duplicate_table(self.duplicates, found_ids, self.task.kgs),
            ]
        )

    @property
    def pairs(self) -> pl.DataFrame:
        """All pairs of members: group_id, left_kg, left, right_kg, right, confidence, matched, status.

        confidence: the probability that the two are the same. matched: whether they are each other's best match;
        otherwise the pair follows from other pairs of its group. duplicate_pairs has those of duplicates.
        """
        known_ids, found_ids = self.group_ids()
        nothing_known = np.zeros(self.found.groups.members.shape, dtype=bool)
        return pl.concat(
            [
                pair_table(self.known, known_ids, self._is_known_member(), self.task.kgs),
                pair_table(self.found, found_ids, nothing_known, self.task.kgs),
            ]
        )

    @property
    def duplicate_pairs(self) -> pl.DataFrame:
        """All pairs with one or two duplicates, inside a KG and between KGs; columns as in pairs."""
        return duplicate_pair_table(self.groups, self.task.kg_names)

    @property
    def known(self) -> FoundGroups:
        """The seeds, and after them open seeds with the members that were found for them."""
        seeds = FoundGroups.from_members(self.task.seeds, self.task.seeds.present.astype(float))
        return seeds if self.completed_seeds is None else seeds.joined(self.completed_seeds)

    def _is_known_member(self) -> np.ndarray:
        """Which members of known groups were given, (groups, M); the others were found for open seeds."""
        return self.known.groups.members_in(self.task.seeds.joined(self.task.open_seeds.groups))

    def group_ids(self) -> tuple[list[str], list[str]]:
        """The ids of known groups (seeds and open seeds), and of found groups, in their order."""
        known = self.known.groups
        if self.ids is not None:
            if (len(self.ids.known), len(self.ids.found)) != (len(known), len(self.found.groups)):
                raise ValueError("the ids belong to other groups; set ids to None, or follow the previous run again")
            return self.ids.known, self.ids.found
        of_known, of_found = self._ids_by_members
        return of_known.to_list(), of_found.to_list()

    @cached_property
    def _ids_by_members(self) -> tuple[pl.Series, pl.Series]:
        """The ids of known and of found groups that depend on their members only."""
        parts = (group_ids(some.to_table(self.task.kgs)) for some in (self.known.groups, self.found.groups))
        of_known, of_found = (pl.Series(part, dtype=pl.String) for part in parts)
        return of_known, of_found

    def group_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The group of each entity, (N,), -1 without one, and the members of all groups in the joint id space.

        Rows count known groups first, then found ones; duplicates belong to the group of their member.
        """
        starts = self.task.entity_offsets
        known = self.known.groups
        members = known.joined(self.found.groups).members.astype(np.int64)
        joint = np.where(members == ABSENT, ABSENT, members + starts[:-1])
        row = np.full(starts[-1], ABSENT, dtype=np.int64)
        for column in joint.T:
            present = column != ABSENT
            row[column[present]] = np.flatnonzero(present)
        row[self.duplicates.entity + starts[self.duplicates.kg]] = self.duplicates.group + len(known)
        return row, joint

    def as_ancestor(self) -> Ancestor:
        """What another run needs to carry on the ids of this one."""
        groups = self.groups.select("group_id", "kg", "entity")
        if self.ids is None:
            return Ancestor(groups, self.task.kg_names)
        return Ancestor(groups, self.task.kg_names, self.ids.lineage["group_id"])

    def following(self, ancestor: Ancestor) -> Self:
        """The same groups, with ids that carry on those of a previous run."""
        by_members = replace(self, ids=None)
        ids, lineage = follow(ancestor, by_members.groups)
        carried = dict(ids.iter_rows())
        known, found = ([carried[one] for one in some] for some in by_members.group_ids())
        return replace(self, ids=GroupIds(known, found, lineage, ancestor.lacks(self.task.kg_names)))

    @cached_property
    def order(self) -> CanonicalOrder:
        """The canonical order of the task."""
        return CanonicalOrder.of(self.task)

    def similarities(
        self, pool: str, held_out: Groups | None = None, runner: Runner | None = None
    ) -> tuple[Pairs, list[np.ndarray]]:
        """The scores of all pairs of KGs between their pools (`test` or `all`), and these pools, KG by KG.

        runner: runs tasks where KGs are large, that of this very alignment; in this process and in memory by default.
        """
        held_out = self.task.held_out if held_out is None else held_out
        if pool == "all" and self._scores_of_all is not None:
            return self._scores_of_all
        order = self.order
        seeds = self.task.seeds.joined(self.task.open_seeds.groups)
        pools = candidate_pools(
            pool, order.canonical, order.groups_to_canonical(seeds), order.groups_to_canonical(held_out)
        )
        if self._scores_of_all is not None and all(
            map(np.array_equal, self._scores_of_all[1], pools_in_given_order(pools, order))
        ):
            return self._scores_of_all  # every non-seed entity is in a held-out group
        compared = replace(self.compared(), runner=runner, stage=pool)
        scores = pool_similarities(order.canonical, compared, pools, self.enhancement)
        return scores_in_given_order(scores, pools, order)

    def compared(self) -> Comparable:
        """What the entities were compared by, in canonical order."""
        order = self.order
        signatures = None if self.signatures is None else self.signatures[order.given_ids()]
        return Comparable(self.canonical_embeddings, signatures, self.evidence, self.weights)

    @property
    def fingerprint(self) -> str:
        """A hash of the groups: the same groups over the same KGs have the same fingerprint."""
        digest = hashlib.blake2b("\n".join(sorted(self.task.kg_names)).encode(), digest_size=8)
        for group in pl.concat(self._ids_by_members).unique().sort():
            digest.update(f"\n{group}".encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        seeds, found = len(self.task.seeds), len(self.found.groups)
        return f"{type(self).__name__}('{self.task.name}': {seeds:,} seeds, {found:,} groups found)"


def scores_in_given_order(
    scores: Pairs, pools: list[np.ndarray], order: CanonicalOrder
) -> tuple[Pairs, list[np.ndarray]]:
    """Scores by the given numbers of KGs, and pools by the given positions of entities."""
    given, positions = order.given_columns, pools_in_given_order(pools, order)
    if isinstance(scores, BlockScores | LargeScores):
        return scores.renumbered([given.index(kg) for kg in range(len(pools))]), positions
    return {(given[a], given[b]): matrix for (a, b), matrix in scores.items()}, positions


def pools_in_given_order(pools: list[np.ndarray], order: CanonicalOrder) -> list[np.ndarray]:
    """Pools by the given numbers of KGs and the given positions of entities."""
    by_given = {order.given_columns[kg]: order.given_positions[kg][pool] for kg, pool in enumerate(pools)}
    return [by_given[kg] for kg in range(len(pools))]
