"""A plain reference for ranks."""

from __future__ import annotations

from collections.abc import Sequence


def literal_rank(scores: Sequence[float], true: int) -> float:
    """The mean rank of the true candidate over all orders of those that tie with it, counted one by one."""
    better = sum(score > scores[true] for score in scores)
    ties = sum(score == scores[true] for score in scores)
    return better + sum(range(1, ties + 1)) / ties
