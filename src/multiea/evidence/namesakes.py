"""Namesakes: about which share of the anchors of two KGs have an equal name by chance.

If two KGs had no entity in common, a name that exactly two entities bear would be as often inside either KG as between
them, in proportion to the pairs of entities. What is more often between them are entities that are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.evidence.anchors import Anchors
from multiea.evidence.names import plain_names

Pair = tuple[int, int]
FEWEST_REPEATED = 4  # names inside the two KGs: fewer say nothing
DEVIATIONS = 2.0  # standard deviations by which a KG may repeat more names than the other: more are repeated entities
MOST_BY_CHANCE = 0.95


def share_of_namesakes(kgs: Sequence[KnowledgeGraph], anchors: Anchors) -> dict[Pair, float]:
    """For each pair of KGs the share of anchors that are probably wrong because chance explains their equal names."""
    counts = [_counts(kg) for kg in kgs]
    return {pair: _by_chance(counts[pair[0]], counts[pair[1]], len(ends[0])) for pair, ends in anchors.items()}


def _counts(kg: KnowledgeGraph) -> pl.DataFrame:
    """How many entities of a KG bear each name: text, count."""
    names = plain_names(kg).filter(pl.col("length") == 1.0)
    return names.group_by("text").agg(pl.col("entity").n_unique().cast(pl.Int64).alias("count"))


def _by_chance(left: pl.DataFrame, right: pl.DataFrame, anchors: int) -> float:
    both = left.join(right, on="text", how="full", coalesce=True, suffix="_right")
    one, other = (both[name].fill_null(0) for name in ("count", "count_right"))
    between = int(((one == 1) & (other == 1)).sum())
    inside = [int(((mine == 2) & (their == 0)).sum()) for mine, their in ((one, other), (other, one))]
    sizes = [int(side.sum()) for side in (one, other)]
    pairs = [size * (size - 1) / 2 for size in sizes]
    if not between or min(pairs) == 0 or sum(inside) < FEWEST_REPEATED:
        return 0.0
    most = [(count + DEVIATIONS * count**0.5 + DEVIATIONS) / total for count, total in zip(inside, pairs, strict=True)]
    rate = min(sum(inside) / sum(pairs), *most)
    return float(min(rate * (sizes[0] * sizes[1]) / max(between, anchors), MOST_BY_CHANCE))
