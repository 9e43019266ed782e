"""Statistics of a data set, and warnings about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.task import Task
from multiea.foundation.errors import SettingError, counted

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
FEW_GROUPS = 10


@dataclass(frozen=True)
class KgSummary:
    """Statistics of one KG; degree_quantiles maps each of QUANTILES, as text, to a degree."""

    name: str
    entities: int
    relations: int
    triples: int
    literals: int
    duplicates: int
    isolated: int
    degree_quantiles: dict[str, float]
    in_groups: int


@dataclass(frozen=True)
class Inspection:
    """The content of `multiea inspect`."""

    name: str
    kgs: list[KgSummary]
    groups: int
    seeds: int
    validation: int
    held_out: int
    groups_by_size: dict[int, int]
    overlap: dict[str, dict[str, int]]
    warnings: list[str]

    def as_dict(self) -> dict[str, object]:
        """The same as a dictionary for JSON."""
        return asdict(self)


def inspect(task: Task) -> Inspection:
    """Statistics and warnings of a task."""
    if not isinstance(task, Task):
        raise SettingError(f"inspect takes a Task, got {task!r}; multiea.load reads one")
    known = task.known
    members = np.diagonal(known.overlap())
    summaries = [_summary(kg, int(count)) for kg, count in zip(task.kgs, members, strict=True)]
    overlap = known.overlap()
    return Inspection(
        name=task.name,
        kgs=summaries,
        groups=len(known),
        seeds=len(task.seeds),
        validation=len(task.validation),
        held_out=len(task.held_out),
        groups_by_size=known.by_size(),
        overlap={a: {b: int(overlap[i, j]) for j, b in enumerate(task.kg_names)} for i, a in enumerate(task.kg_names)},
        warnings=[
            *task.origin.warnings,
            *_kg_warnings(summaries),
            *_group_warnings(task.kg_names, known, len(task.seeds)),
        ],
    )


def _summary(kg: KnowledgeGraph, in_groups: int) -> KgSummary:
    quantiles = np.quantile(kg.degrees, QUANTILES)
    return KgSummary(
        name=kg.name,
        entities=len(kg.entities),
        relations=len(kg.relations),
        triples=len(kg.triples),
        literals=len(kg.literals),
        duplicates=kg.duplicates,
        isolated=int(np.count_nonzero(kg.degrees == 0)),
        degree_quantiles={str(at): float(value) for at, value in zip(QUANTILES, quantiles, strict=True)},
        in_groups=in_groups,
    )


def _kg_warnings(kgs: list[KgSummary]) -> list[str]:
    warnings = []
    for kg in kgs:
        if not kg.triples:
            warnings.append(f"KG '{kg.name}' has no triple between entities, so its structure cannot align anything")
        elif kg.isolated:
            count = f"{counted(kg.isolated, 'entity')} ({kg.isolated / kg.entities:.1%})"
            warnings.append(f"KG '{kg.name}': {count} without a triple; structure cannot align them")
        if kg.duplicates:
            warnings.append(f"KG '{kg.name}': {counted(kg.duplicates, 'duplicate triple')} counted once")
    largest, smallest = max(kgs, key=lambda kg: kg.entities), min(kgs, key=lambda kg: kg.entities)
    if largest.entities > 20 * smallest.entities:
        warnings.append(f"KG '{largest.name}' has over 20 times as many entities as '{smallest.name}'")
    return warnings


def _group_warnings(names: tuple[str, ...], known: Groups, seeds: int) -> list[str]:
    if not len(known):
        return ["no known groups: add some as seeds.tsv, because nothing can be learned without seeds"]
    warnings = []
    overlap = known.overlap()
    if not seeds:
        warnings.append("none of the known groups is a seed, so there is nothing to learn from")
    if len(known) < FEW_GROUPS:
        warnings.append(f"only {counted(len(known), 'known group')}: results are poor with so few")
    unlinked = [name for name, count in zip(names, np.diagonal(overlap), strict=True) if not count]
    if unlinked:
        warnings.append(f"no known group has a member in {', '.join(unlinked)}: its entities cannot be aligned")
    linked = [i for i, name in enumerate(names) if name not in unlinked]
    apart = [f"{names[a]} and {names[b]}" for a, b in combinations(linked, 2) if not overlap[a, b]]
    if apart:
        more = f" and {len(apart) - 3:,} more pairs" if len(apart) > 3 else ""
        warnings.append(f"no known group joins {', '.join(apart[:3])}{more} directly")
    if not len(known.complete):
        warnings.append(f"no group is complete (in all {len(names)} KGs), so M-Hits@K cannot be computed")
    return warnings
