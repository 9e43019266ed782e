"""Numbers of stored runs, and how pages write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

KS = ("1", "10", "20")
NOT_RUN = "not run yet"


def mean_of(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    """The mean of something measured in each run."""
    return float(mean(row[key] for row in rows))


def m_hits(rows: Sequence[Mapping[str, Any]], mode: str, pool: str) -> list[float] | None:
    """Mean M-Hits over runs, in percent, by K."""
    return means([row["scores"][mode]["m_hits"][pool] for row in rows])


def means(scores: Sequence[Mapping[str, float]]) -> list[float] | None:
    """In percent, by K."""
    return [100 * mean(one[k] for one in scores) for k in KS] if scores else None


def spread_of(rows: Sequence[Mapping[str, Any]], mode: str, pool: str) -> list[float] | None:
    """Standard deviations over random states, in percent, by K."""
    if len(rows) < 2:
        return None
    return [100 * stdev(row["scores"][mode]["m_hits"][pool][k] for row in rows) for k in KS]


def triple(scores: Sequence[float] | None, spread: Sequence[float] | None = None) -> str:
    """The three scores of a method, with their standard deviations where there are some."""
    if scores is None:
        return NOT_RUN
    return " / ".join(
        f"{score:.2f}" + (f" ±{spread[place]:.2f}" if spread else "") for place, score in enumerate(scores)
    )


def said(published: Sequence[float] | None) -> str:
    """Published scores, where there are some."""
    return "" if published is None else triple(published)


def difference(ours: Sequence[float] | None, published: Sequence[float] | None) -> str:
    """Ours less published."""
    if ours is None or published is None:
        return ""
    return " / ".join(f"{one - other:+.2f}" for one, other in zip(ours, published, strict=True))


def both(
    published: float | None, rows: Sequence[Mapping[str, Any]], key: str, scale: float = 1.0, digits: int = 2
) -> str:
    """What is published, where it is, and the mean of ours, with its standard deviation where it has one."""
    ours = f"{scale * mean_of(rows, key):.{digits}f}" if rows else NOT_RUN
    varied = len({row[key] for row in rows}) > 1
    ours += f" ±{scale * stdev(row[key] for row in rows):.{digits}f}" if varied else ""
    return ours if published is None else f"{published:.2f}, {ours}"
