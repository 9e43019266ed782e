"""Statistics of a data set, and warnings about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
import polars as pl

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import ATTRIBUTE, NAME, attributes_of, names_of, properties_of
from multiea.data.task import Task
from multiea.foundation.errors import SettingError, counted

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
FEW_GROUPS = 10
GIVEN_NAMES, READABLE_IDS = "entities.tsv", "ids"  # where names come from, beside properties


@dataclass(frozen=True)
class NameSummary:
    """How many names there are, how many entities have one, their share, an example, and where names come from."""

    names: int
    entities: int
    coverage: float
    example: str | None
    sources: list[str]


@dataclass(frozen=True)
class PropertySummary:
    """A property or column: what it is taken as, how many entities have it, their share, and an example.

    by_values: whether it is a name because its values look like names.
    """

    property: str
    role: str
    entities: int
    coverage: float
    example: str | None
    by_values: bool = False


@dataclass(frozen=True)
class KgSummary:
    """Statistics of one KG; degree_quantiles maps each of QUANTILES, as text, to a degree.

    isolated: entities without a triple. without_evidence: those of them that have no name or attribute either.
    """

    name: str
    entities: int
    relations: int
    triples: int
    literals: int
    duplicates: int
    isolated: int
    degree_quantiles: dict[str, float]
    in_groups: int
    names: NameSummary
    properties: list[PropertySummary]
    without_evidence: int

    @property
    def has_values(self) -> bool:
        """Whether it has names or attributes to compare."""
        return self.names.entities > 0 or any(one.role == ATTRIBUTE for one in self.properties)


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
        tables = "for tables by name, multiea.inspect(multiea.load(tables))"
        hint = tables if isinstance(task, Mapping) else "multiea.load reads a Task from files or tables"
        raise SettingError(f"inspect takes a Task, got {type(task).__name__}; {hint}")
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
            *_group_warnings(summaries, known, len(task.seeds)),
        ],
    )


def _summary(kg: KnowledgeGraph, in_groups: int) -> KgSummary:
    quantiles = np.quantile(kg.degrees, QUANTILES)
    properties = [
        PropertySummary(**row, by_values=row["role"] == NAME and row["property"] == kg.name_by_values)
        for row in properties_of(kg).iter_rows(named=True)
    ]
    names, attributes = names_of(kg), attributes_of(kg)
    has_evidence = kg.degrees > 0
    has_evidence[names["entity"].to_numpy()] = True
    has_evidence[attributes["entity"].to_numpy()] = True
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
        names=_name_summary(kg, names, properties),
        properties=properties,
        without_evidence=int(np.count_nonzero(~has_evidence)),
    )


def _name_summary(kg: KnowledgeGraph, names: pl.DataFrame, properties: list[PropertySummary]) -> NameSummary:
    sources = [GIVEN_NAMES] if len(kg.given_names) else []
    sources += [one.property for one in properties if one.role == NAME]
    entities = names["entity"].n_unique()
    example = names["name"].min()
    return NameSummary(
        names=len(names),
        entities=entities,
        coverage=entities / len(kg.entities),
        example=None if example is None else str(example),
        sources=sources or ([READABLE_IDS] if entities else []),
    )


def _kg_warnings(kgs: list[KgSummary]) -> list[str]:
    warnings = []
    for kg in kgs:
        if kg.without_evidence == kg.entities:
            warnings.append(
                f"KG '{kg.name}' has no triples, names or attributes, so nothing can be compared: add relations, or a "
                "column of names (docs/data.md#records)"
            )
        elif kg.without_evidence:
            count = f"{counted(kg.without_evidence, 'entity')} ({kg.without_evidence / kg.entities:.1%})"
            warnings.append(f"KG '{kg.name}': {count} without a triple, a name or an attribute; nothing can align them")
        if kg.duplicates:
            warnings.append(f"KG '{kg.name}': {counted(kg.duplicates, 'duplicate triple')} counted once")
    largest, smallest = max(kgs, key=lambda kg: kg.entities), min(kgs, key=lambda kg: kg.entities)
    if largest.entities > 20 * smallest.entities:
        warnings.append(f"KG '{largest.name}' has over 20 times as many entities as '{smallest.name}'")
    return warnings


def _group_warnings(kgs: list[KgSummary], known: Groups, seeds: int) -> list[str]:
    names = known.kg_names
    without_values = [kg.name for kg in kgs if not kg.has_values]
    lacking = f"{', '.join(without_values)} {'has' if len(without_values) == 1 else 'have'} no names or attributes"
    if not len(known):
        return [f"no known groups, and {lacking}: add known groups as seeds.tsv"] if without_values else []
    warnings = []
    overlap = known.overlap()
    if not seeds and without_values:
        warnings.append(f"none of the known groups is a seed, and {lacking}: there is nothing to learn from")
    if len(known) < FEW_GROUPS and without_values:
        warnings.append(f"only {counted(len(known), 'known group')}: results are poor with so few, because {lacking}")
    unlinked = [name for name, count in zip(names, np.diagonal(overlap), strict=True) if not count]
    if unlinked:
        can = "cannot be aligned" if set(unlinked) & set(without_values) else "are aligned by names and attributes only"
        warnings.append(f"no known group has a member in {', '.join(unlinked)}: its entities {can}")
    linked = [i for i, name in enumerate(names) if name not in unlinked]
    apart = [f"{names[a]} and {names[b]}" for a, b in combinations(linked, 2) if not overlap[a, b]]
    if apart:
        more = f" and {len(apart) - 3:,} more pairs" if len(apart) > 3 else ""
        warnings.append(f"no known group joins {', '.join(apart[:3])}{more} directly")
    if not len(known.complete):
        warnings.append(f"no group is complete (in all {len(names)} KGs), so M-Hits@K cannot be computed")
    return warnings
