"""What differs between the data of two runs: KGs, their entities, their triples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from multiea.evaluation.run_summary import RunSummary
from multiea.foundation.errors import counted

MOST_SHOWN = 5  # KGs that are named; others are counted


def data_differences(runs: Sequence[RunSummary]) -> tuple[str, ...]:
    """One sentence for each run over other data than the first; runs are called by their numbers, from 1."""
    sentences = []
    for number, other in enumerate(runs[1:], start=2):
        found = list(_differences(runs[0], other, number))
        if found:
            more = f"; and {counted(len(found) - MOST_SHOWN, 'KG')} more" if len(found) > MOST_SHOWN else ""
            sentences.append(
                f"the data of 1 and {number} differ, so their scores are not directly comparable: "
                f"{'; '.join(found[:MOST_SHOWN])}{more}"
            )
    return tuple(sentences)


def _differences(first: RunSummary, other: RunSummary, number: int) -> Iterator[str]:
    """One phrase for each KG that is not the same."""
    for kg in sorted({*first.entities, *other.entities}):
        own, others = first.entities.get(kg), other.entities.get(kg)
        if own is None or others is None:
            only, size = (1, len(own)) if own is not None else (number, 0 if others is None else len(others))
            yield f"KG '{kg}' ({counted(size, 'entity')}) is in {only} only"
        elif (common := int(own.is_in(others.implode()).sum())) < max(len(own), len(others)):
            yield f"'{kg}' has {counted(len(own), 'entity')} in 1 and {len(others):,} in {number}, {common:,} in both"
        elif kg in first.contents and kg in other.contents and first.contents[kg] != other.contents[kg]:
            yield f"'{kg}' has the same {counted(len(own), 'entity')} but other triples in {number}"
