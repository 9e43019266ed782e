"""KGs, and pairs of KGs, in which hardly anything was matched although much was matched elsewhere."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from multiea.foundation.errors import counted
from multiea.grouping.alignment import AlignmentResult

FEW_MATCHED = 0.1  # share of the entities of a KG
MANY_MATCHED = 0.3  # where others reach this, few are worth a warning
FEWEST_ENTITIES = 20  # that could be matched; of fewer a share says little
MOST_KGS = 4  # up to here pairs of KGs are judged as well
MOST_NAMED = 5  # KGs or pairs in one warning


def doubts_of_kgs(alignment: AlignmentResult) -> list[str]:
    """Where hardly any entity of a KG, or of two of few KGs, found a counterpart although many of others did."""
    rest = _non_seed_entities(alignment)
    pairs, possible = _pairs_found(alignment), _pairs_possible(rest)
    matched, most = np.diagonal(pairs), np.diagonal(possible)
    share = matched / np.maximum(most, 1)
    if share.max(initial=0) < MANY_MATCHED:
        return []
    names = alignment.task.kg_names
    weak = np.flatnonzero((share < FEW_MATCHED) & (most >= FEWEST_ENTITIES)).tolist()
    advice = "seeds that have members there, names or attributes that the other KGs have as well, or multiea inspect"
    advice = f"What helps: {advice}, which shows what was read"
    words = []
    if weak:
        counts = [f"'{names[kg]}' ({matched[kg]:,} of {rest[kg]:,})" for kg in weak]
        words.append(
            f"hardly any non-seed entity of {_listed(counts)} was matched, although many others were. {advice}"
        )
    apart = [
        f"'{names[a]}' and '{names[b]}' ({counted(int(pairs[a, b]), 'pair')})"
        for a, b in combinations(range(len(names)), 2)
        if not {a, b} & {*weak} and possible[a, b] >= FEWEST_ENTITIES and pairs[a, b] < FEW_MATCHED * possible[a, b]
    ]
    if apart and len(names) <= MOST_KGS:
        words.append(f"hardly any entity was matched between {_listed(apart)}, although many elsewhere were. {advice}")
    return words


def _pairs_found(alignment: AlignmentResult) -> np.ndarray:
    """How many entities of two KGs were found to be the same, (M, M); diagonal: how many were matched at all."""
    given = alignment.task.seeds.joined(alignment.task.open_seeds.groups).overlap()
    pairs = alignment.found.groups.overlap() + alignment.known.groups.overlap() - given
    repeated = np.bincount(alignment.duplicates.kg, minlength=len(pairs))
    return np.asarray(pairs + np.diag(repeated))


def _non_seed_entities(alignment: AlignmentResult) -> np.ndarray:
    """The number of entities of each KG that are in no seed, (M,)."""
    task = alignment.task
    given = task.seeds.joined(task.open_seeds.groups).present.sum(axis=0)
    return np.asarray(np.array([len(kg.entities) for kg in task.kgs]) - given)


def _pairs_possible(rest: np.ndarray) -> np.ndarray:
    """How many entities of two KGs could be the same at most, (M, M); diagonal: of each KG and all others."""
    possible = np.asarray(np.minimum(rest[:, None], rest[None, :]))
    np.fill_diagonal(possible, np.minimum(rest, rest.sum() - rest))
    return possible


def _listed(parts: list[str]) -> str:
    more = len(parts) - MOST_NAMED
    return ", ".join(parts[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
