"""Pages of results, made from what is stored: published, ours, difference, command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from multiea.reproduction.cells import BASELINES, MEASURED, NEEDS, OURS, STRATEGIES, Cell
from multiea.reproduction.running import stored

Rows = Mapping[str, list[dict[str, Any]]]
KS = ("1", "10", "20")
DATA_TITLES = {"dbp-4": "DBP-4", "dwy-3": "DWY-3 (ours: dwy-3-15k)"}
NOT_RUN = "not run yet"


def pages(names: Sequence[str], cells: Mapping[str, Cell], results: Path) -> dict[str, str]:
    """The page of each table and of the figure of curves, by name."""
    rows = {name: stored(results, cell) for name, cell in cells.items()}
    makers = {
        "table-2": lambda: _accuracy(cells, rows),
        "table-3": lambda: _efficiency("table-3", "dbp-4", cells, rows),
        "table-4": lambda: _efficiency("table-4", "dwy-3", cells, rows),
        "table-5": lambda: _pairs("table-5", "1", 0, cells, rows),
        "table-6": lambda: _pairs("table-6", "10", 1, cells, rows),
        "figure-sensitivity": lambda: _curves(cells, rows),
    }
    return {name: makers[name]() + _footer(name, rows) for name in names if name in makers}


def _accuracy(cells: Mapping[str, Cell], rows: Rows) -> str:
    text = """# Table 2: accuracy

M-Hits@1 / 10 / 20 in percent, pool `test` beside the published values, and pool `all`, which the paper does not have.
`*`: each pair of KGs alone, results joined. Difference: ours less published, pool `test`.
"""
    lines_of = [(f"{name}-pairwise", ["none"]) for name in BASELINES]
    lines_of += [(f"multiea-{name}", ["none", "product", "sharpened"]) for name in STRATEGIES]
    lines_of += [(name, ["sharpened"]) for name in OURS]
    for data, title in DATA_TITLES.items():
        text += f"\n## {title}\n| method | enhancement | published | ours | difference | ours, pool `all` | runs |\n"
        text += "|---" * 7 + "|\n"
        for name, modes in lines_of:
            cell, own = cells[f"{data}/{name}"], rows[f"{data}/{name}"]
            for mode in modes:
                published = cell.published.get("table-2", {}).get(mode)
                ours = {pool: _m_hits(own, mode, pool) for pool in ("test", "all")}
                parts = [cell.title, f"`{mode}`", _triple(published), _triple(ours["test"])]
                parts += [_difference(ours["test"], published), _triple(ours["all"]), str(len(own))]
                text += "| " + " | ".join(parts) + " |\n"
    return text


def _efficiency(name: str, data: str, cells: Mapping[str, Cell], rows: Rows) -> str:
    text = f"""# Table {name[-1]}: efficiency on {DATA_TITLES[data]}

A method pair by pair (`*`) and as encoder of all KGs at once. Each number: published, then ours. Parameter megabytes
are four bytes a parameter, as in the paper; peak memory is what training really took at most; seconds are of training.

| method | enhancement | M-Hits@1/10/20 published | ours | parameters (M) | parameter MB | peak MB | seconds | runs |
|---|---|---|---|---|---|---|---|---|
"""
    ratios = []
    for method in MEASURED:
        for way in ("-pairwise", ""):
            cell, own = cells[f"{data}/{method}{way}"], rows[f"{data}/{method}{way}"]
            said = cell.published.get("efficiency", {})
            for mode in cell.enhancements:
                published = cell.published.get("table-2", {}).get(mode)
                parts = [cell.title, f"`{mode}`", _triple(published), _triple(_m_hits(own, mode, "test"))]
                parts += [_both(said.get("parameters"), own, "parameters", 1e-6)]
                parts += [_both(said.get("megabytes"), own, "parameter_mb")]
                parts += [
                    _both(None, own, "peak_memory_mb", digits=0),
                    _both(said.get("seconds"), own, "training_seconds"),
                ]
                text += "| " + " | ".join([*parts, str(len(own))]) + " |\n"
        apart, joint = rows[f"{data}/{method}-pairwise"], rows[f"{data}/{method}"]
        if apart and joint:
            shares = [_mean(joint, key) / _mean(apart, key) for key in ("parameters", "training_seconds")]
            title = cells[f"{data}/{method}"].title
            ratios.append(
                f"- {title}: {shares[0]:.2f} of the parameters and {shares[1]:.2f} of the seconds of pair by pair"
            )
    return text + ("\nAll KGs at once take, by these runs:\n" + "\n".join(ratios) + "\n" if ratios else "")


def _pairs(name: str, k: str, place: int, cells: Mapping[str, Cell], rows: Rows) -> str:
    text = f"""# Table {name[-1]}: Hits@{k} of pairs of KGs

In percent, both directions averaged, pool `test`: published, then ours. Every pair is trained alone. For two KGs there
is no third to infer through, and MultiEA's strategy `each` is a method's usual loss here; only PSR has one of its own,
so that MultiEA(X) differs from X for it alone.
"""
    for data, title in DATA_TITLES.items():
        pairs = list(cells[f"{data}/mtranse-pairwise"].published["hits"])
        text += f"\n## {title}\n| method | " + " | ".join(pairs) + " | runs |\n" + "|---" * (len(pairs) + 2) + "|\n"
        for method in (*BASELINES, "psr-each"):
            cell, own = cells[f"{data}/{method}-pairwise"], rows[f"{data}/{method}-pairwise"]
            parts = []
            for pair in pairs:
                published = cell.published["hits"][pair][place]
                ours = [row["scores"]["none"]["hits"]["test"] for row in own]
                found = [100 * (score.get(pair) or score["-".join(reversed(pair.split("-")))])[k] for score in ours]
                parts.append(f"{published:.2f}, " + (f"{mean(found):.2f}" if found else NOT_RUN))
            text += f"| {cell.title} | " + " | ".join(parts) + f" | {len(own)} |\n"
    return text


def _curves(cells: Mapping[str, Cell], rows: Rows) -> str:
    text = """# Figure: sensitivity

MultiEA+each, one setting varied at a time; M-Hits@1 / 10 / 20 in percent, pool `test`. The paper shows curves without
numbers. gamma: the weight of direct similarities; lambda: the margin; eta: negative groups; ratio: the share of seeds.
"""
    for data, title in DATA_TITLES.items():
        for name in (cell.split("/")[1] for cell in NEEDS["figure-sensitivity"] if cell.startswith(data)):
            cell, own = cells[f"{data}/{name}"], rows[f"{data}/{name}"]
            text += f"\n## {title}: {cell.title}\n| value | " + " | ".join(f"`{mode}`" for mode in cell.enhancements)
            text += " |\n" + "|---" * (len(cell.enhancements) + 1) + "|\n"
            for value in (value for values in cell.vary.values() for value in values):
                same = [row for row in own if row["value"] == value]
                scores = [_triple(_m_hits(same, mode, "test")) for mode in cell.enhancements]
                text += f"| {value} | " + " | ".join(scores) + " |\n"
    return text


def _footer(name: str, rows: Rows) -> str:
    used = [row for cell in NEEDS[name] for row in rows[cell]]
    devices = ", ".join(sorted({row["device"] for row in used})) or "nothing"
    versions = ", ".join(sorted({f"torch {row['versions']['torch']}" for row in used}))
    where = "; ".join(part for part in (devices, versions) if part)
    return f"\nRun on: {where}. Made by `multiea reproduce {name} --source FOLDER`.\n"


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    return float(mean(row[key] for row in rows))


def _m_hits(rows: Sequence[Mapping[str, Any]], mode: str, pool: str) -> list[float] | None:
    if not rows:
        return None
    return [100 * mean(row["scores"][mode]["m_hits"][pool][k] for row in rows) for k in KS]


def _triple(scores: Sequence[float] | None) -> str:
    return NOT_RUN if scores is None else " / ".join(f"{score:.2f}" for score in scores)


def _difference(ours: Sequence[float] | None, published: Sequence[float] | None) -> str:
    if ours is None or published is None:
        return ""
    return " / ".join(f"{one - other:+.2f}" for one, other in zip(ours, published, strict=True))


def _both(
    published: float | None, rows: Sequence[Mapping[str, Any]], key: str, scale: float = 1.0, digits: int = 2
) -> str:
    ours = f"{scale * _mean(rows, key):.{digits}f}" if rows else NOT_RUN
    return ours if published is None else f"{published:.2f}, {ours}"
