"""Pools: the candidates among which counterparts are searched, and the similarities between pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import Evidence
from multiea.settings.enhancement import Enhancement
from multiea.similarity.direct_scores import Comparison, KnownPairs
from multiea.similarity.enhancement import Pairs, similarities, sparse_similarities
from multiea.similarity.large_candidates import LargeCandidates
from multiea.similarity.search import is_exact
from multiea.similarity.signatures import Signatures
from multiea.similarity.weights import Weights
from multiea.tasks.runner import LocalRunner, Runner

POOLS = ("test", "all")
EmbedPair = Callable[[int, int], tuple[Embeddings, Embeddings]]


@dataclass(frozen=True)
class Comparable:
    """What the entities of a task are compared by, in canonical order.

    embeddings: of all entities, (N, d), KG after KG; or a function that gives those of the candidates of two KGs, on
    the given device; or candidates of large KGs, in shards. runner: runs tasks where KGs are large; in this process by
    default. stage: names their shards. signatures: of all entities. evidence: beside structure, with its weights.
    """

    embeddings: Embeddings | EmbedPair | LargeCandidates
    signatures: Signatures | None = None
    evidence: Evidence | None = None
    weights: Weights = field(default_factory=Weights)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    runner: Runner | None = None
    stage: str = "final"


def candidate_pools(pool: str, task: Task, seeds: Groups, held_out: Groups) -> list[np.ndarray]:
    """For each KG the candidates: held-out members (`test`), or every non-seed entity (`all`)."""
    pools = []
    for kg, seed_members, members in zip(task.kgs, seeds.members.T, held_out.members.T, strict=True):
        inside = np.full(len(kg.entities), pool == "all")
        inside[members[members != ABSENT]] = True
        inside[seed_members[seed_members != ABSENT]] = False
        pools.append(np.flatnonzero(inside))
    return pools


def positions_in_pool(pool: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Where members are in the pool of their KG; -1 where they are not in it."""
    size = max(pool.max(initial=ABSENT), members.max(initial=ABSENT)) + 2  # the last place is for -1
    position = np.full(size, ABSENT, dtype=np.int64)
    position[pool] = np.arange(len(pool))
    return np.asarray(position[members])


def pool_similarities(
    task: Task,
    compared: Comparable,
    pools: Sequence[np.ndarray],
    enhancement: Enhancement,
    *,
    with_uncontested: bool = False,
) -> Pairs:
    """The scores of all ordered pairs of KGs between their pools; task: in canonical order.

    with_uncontested: whether uncontested scores are made as well, where structure and other evidence are compared.
    """
    enhancement = enhancement.for_entities(int(task.entity_offsets[-1]))
    if enhancement.candidates is None:
        assert isinstance(compared.embeddings, Embeddings)
        return similarities(_candidates(task, compared.embeddings, pools), enhancement)
    comparison = replace(_comparison(task, compared, pools), with_uncontested=with_uncontested)
    return sparse_similarities(comparison, enhancement)[0]


def pool_similarities_with_weights(
    task: Task,
    compared: Comparable,
    pools: Sequence[np.ndarray],
    enhancement: Enhancement,
    known: Groups,
    anchors: Groups,
    *,
    chooses_mixing: bool = True,
) -> tuple[Pairs, Weights]:
    """The same, with weights of the evidence that are learned from known groups among the candidates.

    anchors: groups that were found without structure; where no known ones are there, they teach its weight.
    chooses_mixing: whether the known groups also choose how direct scores and paths are mixed.
    """
    comparison = replace(
        _comparison(task, compared, pools),
        known=_known_pairs(known, pools),
        anchors=_known_pairs(anchors, pools),
        chooses_mixing=chooses_mixing,
    )
    return sparse_similarities(comparison, enhancement.for_entities(int(task.entity_offsets[-1])))


def _comparison(task: Task, compared: Comparable, pools: Sequence[np.ndarray]) -> Comparison:
    embeddings, ids = compared.embeddings, _joint_ids(task, pools)
    signatures = None if compared.signatures is None else [compared.signatures[part] for part in ids]
    large = _large(compared, pools, ids, signatures)
    if large is not None:
        return Comparison([*map(len, pools)], torch.device("cpu"), _not_as_pairs, large=large)
    assert not isinstance(embeddings, LargeCandidates)
    evidence = None if compared.evidence is None else compared.evidence.within(pools)
    sizes = [*map(len, pools)]
    device = embeddings.device if isinstance(embeddings, Embeddings) else compared.device
    prepared = (
        _prepared(embeddings, ids, is_kept=signatures is None) if isinstance(embeddings, Embeddings) else embeddings
    )
    return Comparison(sizes, device, prepared, signatures, evidence, compared.weights, all_evidence=compared.evidence)


def _large(
    compared: Comparable,
    pools: Sequence[np.ndarray],
    ids: Sequence[np.ndarray],
    signatures: Sequence[Signatures] | None,
) -> LargeCandidates | None:
    """The candidates for tasks, where they are compared by structure alone and are so many that kernels do it."""
    embeddings = compared.embeddings
    if isinstance(embeddings, LargeCandidates):
        return embeddings
    if signatures is None or compared.evidence is not None or not isinstance(embeddings, Embeddings):
        return None
    if embeddings.scale is None or is_exact([*map(len, pools)], embeddings.device):
        return None
    runner = LocalRunner() if compared.runner is None else compared.runner
    return LargeCandidates.put(runner, compared.stage, embeddings, ids, signatures)


def _not_as_pairs(a: int, b: int) -> tuple[Embeddings, Embeddings]:
    raise AssertionError(f"the embeddings of KGs {a} and {b} are in shards")


def _prepared(embeddings: Embeddings, ids: Sequence[np.ndarray], *, is_kept: bool) -> EmbedPair:
    """Gives the embeddings of the candidates of two KGs; ids: the candidates of each KG.

    is_kept: whether those of a KG are prepared once for all pairs; where KGs are large, that is too much memory.
    """

    def of_kg(kg: int) -> Embeddings:
        return embeddings.rows_in_8_bits(torch.from_numpy(ids[kg]).to(embeddings.device))

    prepared = cache(of_kg) if is_kept else of_kg
    return lambda a, b: (prepared(a), prepared(b))


def _rows(embeddings: Embeddings, ids: np.ndarray) -> Embeddings:
    return embeddings[torch.from_numpy(ids).to(embeddings.device)]


def _joint_ids(task: Task, pools: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [pool + start for pool, start in zip(pools, task.entity_offsets, strict=False)]


def _candidates(task: Task, embeddings: Embeddings, pools: Sequence[np.ndarray]) -> list[Tensor]:
    """For each KG the embeddings of its candidates."""
    return [_rows(embeddings, part).float() for part in _joint_ids(task, pools)]


def _known_pairs(known: Groups, pools: Sequence[np.ndarray]) -> KnownPairs | None:
    """The known pairs of each two KGs as places in their pools; pairs with an entity outside are left out.

    None if nothing is known.
    """
    if not len(known):
        return None
    places = [positions_in_pool(pool, members) for pool, members in zip(pools, known.members.T, strict=True)]
    pairs = {}
    for a, b in combinations(range(len(pools)), 2):
        both = (places[a] != ABSENT) & (places[b] != ABSENT)
        pairs[a, b] = (places[a][both], places[b][both])
    return pairs
