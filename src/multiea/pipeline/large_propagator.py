"""LargePropagator: the embeddings and signatures of a round of large KGs, as shards that tasks write."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import torch

from multiea.data.groups import Groups
from multiea.data.properties import attributes_of, names_of
from multiea.data.task import Task
from multiea.engines.devices import resolve_device
from multiea.engines.embeddings import Embeddings, tensor_of
from multiea.evidence.evidence import STRUCTURE
from multiea.kernels.edges import Edges
from multiea.pipeline.propagator import mark_weights, state_of_round
from multiea.settings.tree import AlignSettings
from multiea.similarity.large_candidates import EMBEDDINGS_OF_ALL, LargeCandidates
from multiea.similarity.pools import EmbedPair
from multiea.similarity.search import is_exact
from multiea.similarity.signatures import write_candidates
from multiea.tasks import runner as tasks
from multiea.tasks.shards import MemoryShards, let_go

POOLS, FINAL = "pools", "final"
ROWS_AT_ONCE = 1 << 16
BYTES_PER_ENTITY = 8 << 10  # of all shards that are there at the same time


class LargePropagator:
    """Embeds a task from any set of marks; pools: for each KG the entities that are embedded in rounds."""

    is_fused = False
    device = torch.device("cpu")

    def __init__(self, task: Task, settings: AlignSettings, pools: Sequence[np.ndarray], runner: tasks.Runner) -> None:
        self._settings, self._runner, self._kgs = settings, runner, range(len(task.kgs))
        self._sizes = [*map(len, pools)]
        for kg, (graph, pool) in enumerate(zip(task.kgs, pools, strict=True)):
            if f"edges/{kg}" not in runner.shards:
                edges = Edges.of(graph.triples, len(graph.entities), len(graph.relations))
                runner.shards.put(f"edges/{kg}", edges.arrays())
            runner.shards.put(f"{POOLS}/{kg}", {"entities": pool})

    @property
    def edges(self) -> list[Edges]:
        """The edges of all KGs."""
        return [Edges(**self._runner.shards.get(f"edges/{kg}")) for kg in self._kgs]

    def embed_candidates(self, marks: Groups, seeds: int, number: int) -> LargeCandidates:
        """The candidates of a round, with their embeddings and signatures."""
        prefix = _round(number)
        found = LargeCandidates(self._runner, prefix, self._sizes, [f"{prefix}/embedding/{kg}" for kg in self._kgs])
        if not found.are_compared:
            self._embed(prefix, self._kgs, marks, number, mark_weights(marks, seeds, self._partial_weight))
            signing = [
                tasks.Task(f"{prefix}/candidates/{kg}", write_candidates, (prefix, kg, kg, POOLS)) for kg in self._kgs
            ]
            self._runner.run("signing", signing)
        return found

    def embed(self, marks: Groups, seeds: int, number: int) -> list[Embeddings]:
        """For each KG the embeddings of a round from marks, of which the first are seeds."""
        prefix = _round(number)
        self._embed(prefix, self._kgs, marks, number, mark_weights(marks, seeds, self._partial_weight))
        return [self._embeddings(f"{prefix}/embedding/{kg}") for kg in self._kgs]

    def embed_pairs(self, marks: Groups, number: int) -> EmbedPair:
        """Embeddings of each pair of KGs from the marks that both have."""

        def of_pair(a: int, b: int) -> tuple[Embeddings, Embeddings]:
            both = marks.present[:, a] & marks.present[:, b]
            shared = Groups((marks.kg_names[a], marks.kg_names[b]), marks.members[both][:, [a, b]])
            prefix = f"{_round(number)}/{a}-{b}"
            self._embed(prefix, (a, b), shared, number, None)
            left, right = (self._embeddings(f"{prefix}/embedding/{kg}") for kg in (a, b))
            for kg in (a, b):
                self._runner.shards.drop(f"{prefix}/embedding/{kg}")
            return left, right

        return of_pair

    def embed_all(self, marks: Groups, seeds: int, number: int) -> Embeddings:
        """The embeddings of all entities, KG after KG, from marks, of which the first are seeds."""
        if EMBEDDINGS_OF_ALL not in self._runner.shards:
            weights = mark_weights(marks, seeds, self._partial_weight)
            self._embed(FINAL, self._kgs, marks, number, weights, entities=None)
            self._join([f"{FINAL}/embedding/{kg}" for kg in self._kgs], EMBEDDINGS_OF_ALL)
        return self._embeddings(EMBEDDINGS_OF_ALL)

    def forget(self, number: int) -> None:
        """Drops what only this round needed."""
        prefix, shards = _round(number), self._runner.shards
        for kg in self._kgs:
            shards.drop(f"{prefix}/embedding/{kg}")
            shards.drop(f"{prefix}/candidates/{kg}")
        shards.drop(f"{prefix}/marks")
        if isinstance(shards, MemoryShards):  # in a folder, an interrupted run goes on with them
            for a, b in combinations(self._kgs, 2):
                shards.drop(f"{prefix}/scores/{a}-{b}")

    def _embed(
        self,
        prefix: str,
        kgs: Sequence[int],
        marks: Groups,
        number: int,
        weights: np.ndarray | None,
        entities: str | None = POOLS,
    ) -> None:
        from multiea.engines.large_flow import embed, put_marks  # deferred: numba takes a second

        put_marks(self._runner.shards, prefix, marks, weights)
        random_state = state_of_round(self._settings, number)
        embed(self._runner, prefix, kgs, self._settings.propagation, random_state, entities=entities)

    def _join(self, names: Sequence[str], joint: str) -> None:
        """Embeddings of all KGs in one shard; those of single KGs are dropped on the way, so that memory suffices."""
        shards = self._runner.shards
        counts = [len(shards.get(name)["scales"]) for name in names]
        width = shards.get(names[0])["numbers"].shape[1]
        forms = {"numbers": ((sum(counts), width), np.int8), "scales": ((sum(counts),), np.float32)}
        with shards.writing(joint, forms) as to:
            begin = 0
            for name, count in zip(names, counts, strict=True):
                for start in range(0, count, ROWS_AT_ONCE):
                    stop = min(start + ROWS_AT_ONCE, count)
                    for key in forms:
                        to[key][begin + start : begin + stop] = shards.rows(name, key, start, stop)
                    let_go(to["numbers"])
                begin += count
                shards.drop(name)

    def _embeddings(self, name: str) -> Embeddings:
        found = self._runner.shards.get(name)
        return Embeddings(tensor_of(found["numbers"]), tensor_of(found["scales"]))

    @property
    def _partial_weight(self) -> float:
        return self._settings.bootstrap.partial_weight


def is_made_of_tasks(task: Task, settings: AlignSettings) -> bool:
    """Whether KGs are so large that tasks embed and compare them, by structure alone."""
    if settings.encoder is not None or settings.enhancement.candidates is None:
        return False
    others = any(not of_kg(kg).is_empty() for kg in task.kgs for of_kg in (names_of, attributes_of))
    if others and settings.evidence_kinds != (STRUCTURE,):
        return False
    known = task.seeds.joined(task.open_seeds.groups).present.sum(axis=0)
    sizes = [len(kg.entities) - int(count) for kg, count in zip(task.kgs, known, strict=True)]
    device = resolve_device(settings.device)
    return device.type == "cpu" and not is_exact(sizes, device)


def fitting(runner: tasks.Runner | None, task: Task) -> tasks.Runner:
    """The same runner, or one that keeps shards in memory where all of them fit there."""
    runner = tasks.LocalRunner() if runner is None else runner
    needed = BYTES_PER_ENTITY * int(task.entity_offsets[-1])
    if isinstance(runner, tasks.LocalRunner) and needed <= runner.memory:
        return tasks.LocalRunner(MemoryShards(), runner.memory)
    return runner


def _round(number: int) -> str:
    return f"round{number}"
