"""The evidence of a run beside structure, as tensors and JSON: what an opened run needs to score as before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from multiea.data.task import Task
from multiea.evidence.evidence import CONFLICTS, IDENTIFIERS, STRUCTURE, Evidence, EvidenceOfKind, Pair
from multiea.grouping.alignment import AlignmentResult
from multiea.similarity.weights import Mixing, Weights

PREFIX = "\tevidence\t"  # no KG has a tab in its name
PARTS = ("row", "column", "value")


def evidence_tensors(alignment: AlignmentResult) -> dict[str, torch.Tensor]:
    """Row, column and similarity of each pair of entities, by kind and pair of KGs; and which entities have any."""
    evidence, tensors = alignment.evidence, dict[str, torch.Tensor]()
    if evidence is None:
        return tensors
    names = alignment.order.canonical.kg_names
    for name, has in zip(names, evidence.has_structure, strict=True):
        tensors[_key(STRUCTURE, name)] = torch.from_numpy(has)
    for kind, one in evidence.kinds.items():
        for name, has in zip(names, one.has_any, strict=True):
            tensors[_key(kind, name)] = torch.from_numpy(has)
        of_kg = {(kg, kg): matrix for kg, matrix in one.inside.items()}
        for (a, b), matrix in (dict(one.similarity) | of_kg).items():
            tensors |= _matrix_tensors(matrix, kind, names[a], names[b])
    for kind, said in ((CONFLICTS, evidence.conflicts), (IDENTIFIERS, evidence.identifiers)):
        for (a, b), matrix in said.items():
            tensors |= _matrix_tensors(matrix, kind, names[a], names[b])
    return tensors


def _matrix_tensors(matrix: sp.csr_array, *key: str) -> dict[str, torch.Tensor]:
    entries = matrix.tocoo()
    parts = (entries.row.astype(np.int32), entries.col.astype(np.int32), entries.data.astype(np.float16))
    return {_key(*key, part): torch.from_numpy(values) for part, values in zip(PARTS, parts, strict=True)}


def read_evidence(tensors: Mapping[str, torch.Tensor], task: Task) -> Evidence | None:
    """The evidence among the tensors of a run; None where it compared structure alone."""
    keys = [key.removeprefix(PREFIX).split("\t") for key in tensors if key.startswith(PREFIX)]
    if not keys:
        return None
    kgs = sorted(task.kgs, key=lambda kg: kg.name)
    has_any = {
        kind: [tensors[_key(kind, kg.name)].numpy() for kg in kgs]
        for kind in dict.fromkeys(key[0] for key in keys)
        if kind not in (CONFLICTS, IDENTIFIERS)
    }
    kinds, said = {}, dict[str, dict[Pair, sp.csr_array]]()
    for kind in dict.fromkeys(key[0] for key in keys if len(key) > 2):
        similarity = {}
        for (a, one), (b, other) in combinations_with_replacement(enumerate(kgs), 2):
            if _key(kind, one.name, other.name, PARTS[0]) not in tensors:  # most KGs are not compared with themselves
                continue
            row, column, value = (tensors[_key(kind, one.name, other.name, part)].numpy() for part in PARTS)
            shape = (len(one.entities), len(other.entities))
            similarity[a, b] = sp.csr_array((value.astype(np.float32), (row, column)), shape=shape)
        if kind not in has_any:
            said[kind] = similarity
            continue
        inside = {a: similarity.pop((a, a)) for a in range(len(kgs)) if (a, a) in similarity}
        kinds[kind] = EvidenceOfKind(similarity, has_any[kind], inside)
    return Evidence(kinds, has_any[STRUCTURE], said.get(CONFLICTS, {}), said.get(IDENTIFIERS, {}))


def recorded_weights(alignment: AlignmentResult) -> dict[str, Any]:
    """The weights of the evidence by pair of KGs, and from how many examples they were learned."""
    if alignment.evidence is None:
        return {}
    names = alignment.order.canonical.kg_names
    of_pair = [
        {"kgs": [names[a], names[b]], "weights": dict(weights)} for (a, b), weights in alignment.weights.of_pair.items()
    ]
    weights = alignment.weights
    recorded = {"examples": weights.examples, "mixing": asdict(weights.mixing), "pairs": of_pair}
    if weights.by_chance is not None:
        levels = weights.by_chance.items()
        recorded["by_chance"] = [{"kgs": [names[a], names[b]], "similarity": level} for (a, b), level in levels]
    return recorded


def read_weights(recorded: Mapping[str, Any], task: Task) -> Weights:
    """The weights that a manifest records."""
    if not recorded:
        return Weights()
    place = {name: number for number, name in enumerate(sorted(task.kg_names))}
    of_pair = {(place[one["kgs"][0]], place[one["kgs"][1]]): one["weights"] for one in recorded["pairs"]}
    levels = recorded.get("by_chance")
    by_chance = None
    if levels is not None:
        by_chance = {(place[one["kgs"][0]], place[one["kgs"][1]]): one["similarity"] for one in levels}
    return Weights(of_pair, recorded["examples"], Mixing(**recorded["mixing"]), by_chance)


def _key(*parts: str) -> str:
    return PREFIX + "\t".join(parts)
