"""Means and standard deviations of stored runs, and how pages print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

KS = ("1", "10", "20")
NOT_RUN = "not run yet"


def mean_of(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    """The mean of one measured value over runs."""
    return float(mean(row[key] for row in rows))


def m_hits(rows: Sequence[Mapping[str, Any]], mode: str, pool: str) -> list[float] | None:
    """Mean M-Hits@1, @10 and @20 over runs, in percent."""
    return means([row["scores"][mode]["m_hits"][pool] for row in rows])


def means(scores: Sequence[Mapping[str, float]]) -> list[float] | None:
    """Mean scores at 1, 10 and 20, in percent; None without runs."""
    return [100 * mean(one[k] for one in scores) for k in KS] if scores else None


def spread_of(rows: Sequence[Mapping[str, Any]], mode: str, pool: str) -> list[float] | None:
    """Standard deviations over random states of M-Hits@1, @10 and @20, in percent; None for fewer than two runs."""
    if len(rows) < 2:
        return None
    return [100 * stdev(row["scores"][mode]["m_hits"][pool][k] for row in rows) for k in KS]


def triple(scores: Sequence[float] | None, spread: Sequence[float] | None = None) -> str:
    """The three scores of a method, with their standard deviations if known."""
    if scores is None:
        return NOT_RUN
    return " / ".join(
        f"{score:.2f}" + (f" ±{spread[place]:.2f}" if spread else "") for place, score in enumerate(scores)
    )


def published_triple(published: Sequence[float] | None) -> str:
    """The published scores, empty if there are none."""
    return "" if published is None else triple(published)


def difference(ours: Sequence[float] | None, published: Sequence[float] | None) -> str:
    """Our scores minus the published ones."""
    if ours is None or published is None:
        return ""
    return " / ".join(f"{one - other:+.2f}" for one, other in zip(ours, published, strict=True))


def both(
    published: float | None, rows: Sequence[Mapping[str, Any]], key: str, scale: float = 1.0, digits: int = 2
) -> str:
    """The published value, if any, and our mean with its standard deviation, if the runs differ."""
    ours = f"{scale * mean_of(rows, key):.{digits}f}" if rows else NOT_RUN
    varied = len({row[key] for row in rows}) > 1
    ours += f" ±{scale * stdev(row[key] for row in rows):.{digits}f}" if varied else ""
    return ours if published is None else f"{published:.2f}, {ours}"
