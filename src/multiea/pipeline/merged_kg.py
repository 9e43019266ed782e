"""Several KGs merged into one by an alignment: the members of a group become one entity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.foundation.offsets import offsets
from multiea.grouping.alignment import AlignmentResult


def merge_kgs(kgs: Sequence[KnowledgeGraph], alignment: AlignmentResult) -> tuple[KnowledgeGraph, list[np.ndarray]]:
    """One KG in which the members of a group are one entity, and for each KG the merged entity of each entity.

    kgs: those of the alignment, with triples. Entities and relations with equal names in two KGs stay apart: only
    groups decide what is the same.
    """
    starts = offsets(len(kg.entities) for kg in kgs)
    row, members = alignment.group_rows()
    by_name = sorted(range(len(kgs)), key=lambda kg: kgs[kg].name)
    first = (members[:, by_name] != ABSENT).argmax(axis=1)
    representative = members[np.arange(len(members)), np.array(by_name)[first]]
    merged_into = np.where(row == ABSENT, np.arange(starts[-1]), representative[row] if len(members) else row)
    distinct, node = np.unique(merged_into, return_inverse=True)
    nodes = np.split(node, starts[1:-1])
    relation_starts = offsets(len(kg.relations) for kg in kgs)
    triples = [
        np.column_stack([own[kg.triples[:, 0]], kg.triples[:, 1] + start, own[kg.triples[:, 2]]])
        for kg, own, start in zip(kgs, nodes, relation_starts, strict=False)
    ]
    entities, relations = (
        pl.concat([kg.name + "\t" + names for kg, names in zip(kgs, names_of_kgs, strict=True)])
        for names_of_kgs in ([kg.entities for kg in kgs], [kg.relations for kg in kgs])
    )
    name = " + ".join(kgs[kg].name for kg in by_name)
    distinct_triples = np.unique(np.concatenate(triples), axis=0).astype(np.int32)
    return KnowledgeGraph(name, entities.gather(distinct), relations, distinct_triples), nodes


def first_nodes(members: np.ndarray, nodes: Sequence[np.ndarray], kg_names: Sequence[str]) -> np.ndarray:
    """The merged entity of each group, (groups,): that of its first member by the name of the KG.

    members: (groups, KGs); nodes: for each KG the merged entity of each entity.
    """
    result = np.full(len(members), ABSENT)
    for kg in sorted(range(len(kg_names)), key=lambda kg: kg_names[kg], reverse=True):  # the first KG is written last
        present = members[:, kg] != ABSENT
        result[present] = nodes[kg][members[present, kg]]
    return result
