"""The page about the default engine, made from the stored results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

from default_engine_cases import ABLATED, CASES, DANGLING, PARTS, RELIABLE
from stored_rows import Row

Cells = dict[tuple[str, str], list[Row]]  # the rows by kind of run and case


def page(rows: list[Row], results: str) -> str:
    """The page; results: the name of the file of stored results."""
    cells: Cells = {}
    for row in rows:
        cells.setdefault((row["what"], row["case"]), []).append(row)
    reliability = [_reliability(name, cells["command", name]) for name in RELIABLE]
    return TEXT.format(
        commands=_commands(cells),
        parts=_parts(cells),
        reliability="\n\n".join(reliability),
        dangling=_dangling(cells),
        devices=_devices(row for row in rows if row["what"] == "command"),
        other_devices=_devices(row for row in rows if row["what"] != "command"),
        results=results,
    )


def _commands(cells: Cells) -> str:
    lines = ["| data | pool | pairs: precision / recall / F1 | M-Hits@1 / 10 / 20 | ECE | seconds | memory | runs |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for name, case in CASES.items():
        cell = cells["command", name]
        pairs = " / ".join(f"{_mean(cell, 'pairs', key):.3f}" for key in ("precision", "recall", "f1"))
        ece, seconds = _mean(cell, "confidence", "ece"), _mean(cell, "seconds")
        memory = max(row["peak_rss_mb"] for row in cell) / 1024
        scores = _m_hits(cell, case.pool)
        measured = f"{ece:.3f} | {seconds:.0f} | {memory:.1f} GiB | {len(cell)}"
        lines.append(f"| {case.title} | `{case.pool}` | {pairs} | {scores} | {measured} |")
    return "\n".join(lines)


def _parts(cells: Cells) -> str:
    titles = [f"{CASES[name].title}, `{pool}`" for name in ABLATED for pool in ("test", "all")]
    lines = ["| | " + " | ".join(titles) + " | what it is | runs |", "|---" * (len(titles) + 3) + "|"]
    for part, meaning in PARTS.items():
        scores = [_m_hits(cells[part, name], pool) for name in ABLATED for pool in ("test", "all")]
        runs = " and ".join(str(len(cells[part, name])) for name in ABLATED)
        lines.append(f"| {part} | " + " | ".join(scores) + f" | {meaning} | {runs} |")
    return "\n".join(lines)


def _reliability(name: str, cell: list[Row]) -> str:
    tenths: dict[int, list[dict[str, float]]] = {}
    for row in cell:
        for part in row["confidence"]["reliability"]:
            tenths.setdefault(min(int(part["predicted"] * 10), 9), []).append(part)
    lines = [f"{CASES[name].title}:", "", "| predicted | observed | pairs |", "|---|---|---|"]
    for _, parts in sorted(tenths.items()):
        count = sum(part["pairs"] for part in parts)
        predicted, observed = (
            sum(part[key] * part["pairs"] for part in parts) / count for key in ("predicted", "observed")
        )
        lines.append(f"| {predicted:.2f} | {observed:.2f} | {count:,.0f} |")
    return "\n".join(lines)


def _dangling(cells: Cells) -> str:
    lines = ["| data | entities without counterpart | unmatched | unmatched among those with one | pairs F1 |"]
    lines.append("|---|---|---|---|---|")
    for name in DANGLING:
        cell = cells["alone", name]
        shares = f"{_mean(cell, 'left_alone'):.1%} | {_mean(cell, 'others_left_alone'):.1%}"
        lines.append(
            f"| {CASES[name].title} | {_mean(cell, 'lonely'):,.0f} | {shares} | {_mean(cell, 'pairs', 'f1'):.3f} |"
        )
    return "\n".join(lines)


def _mean(cell: Sequence[Row], *keys: str) -> float:
    values = []
    for row in cell:
        value: Any = row
        for key in keys:
            value = value[key]
        values.append(value)
    return float(mean(values))


def _m_hits(cell: list[Row], pool: str) -> str:
    return " / ".join(f"{100 * _mean(cell, 'm_hits', pool, k):.1f}" for k in ("1", "10", "20"))


def _devices(rows: Iterator[Row]) -> str:
    return ", ".join(sorted({row["device"] for row in rows}))


TEXT = """# The default engine: scores, parts, confidences

`multiea align --evidence structure` with default settings, except for the options in the first column: names and
attributes are not compared ([evidence](evidence.md) has results with them). 30% of the groups are seeds. Pool `test`
ranks among the held-out entities, as in the literature; pool `all` among all non-seed entities. M-Hits is in percent;
for two KGs it is Hits. Scores are means over random states. Seconds and memory are those of the whole command; memory
is the maximum over the runs.

{commands}

Run on: {devices}.

## What each part adds
M-Hits@1 / 10 / 20 in percent, means over random states. Each row includes the parts of all rows above it.

{parts}

## What confidences are worth
Pairs of members of found groups that can be judged by the held-out groups, in bins of confidence. Predicted is the mean
confidence of a bin, observed the share of its pairs that are right. Confidences are calibrated on validation seeds; the
held-out groups are not used.

{reliability}

## Entities without a counterpart
From a fifth of the held-out groups all members but one are removed, so that the remaining entity has no counterpart. A
good engine leaves many of these entities unmatched, and few of those with a counterpart.

{dangling}

The parts and the entities without a counterpart were run on: {other_devices}.
Made by `python experiments/default_engine.py`; stored results: `experiments/results/{results}`.
"""
