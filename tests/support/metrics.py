"""Scores of an alignment by name, comparable whatever the order of its KGs."""

from __future__ import annotations

from typing import Any

from multiea import Alignment


def flat_scores(alignment: Alignment) -> dict[str, float]:
    """M-Hits, Hits, MRR and mean rank by pool and pair of KGs, F1 of pairs and groups, and the calibration error."""
    result = alignment.evaluate()
    scores = {f"m_hits {pool} {k}": value for pool, by_k in result["m_hits"].items() for k, value in by_k.items()}
    for name in ("mrr", "mean_rank", "hits"):
        for pool, by_pair in result[name].items():
            for pair, value in by_pair.items():
                scores |= _by_k(f"{name} {pool} {' '.join(sorted(pair.split('-')))}", value)
    for what in ("pairs", "groups"):
        scores |= {f"{what} {score}": value for score, value in result[what].items()}
    return scores | {"ece": result["confidence"]["ece"]}


def _by_k(name: str, value: Any) -> dict[str, float]:
    return {f"{name} {k}": one for k, one in value.items()} if isinstance(value, dict) else {name: value}
