"""Pages of results, made from what is stored: published, ours, difference, command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from multiea.data.benchmarks import RECIPES
from multiea.reproduction.cells import BASELINES, MEASURED, NEEDS, Cell
from multiea.reproduction.curves import panels
from multiea.reproduction.gold_order import WAYS
from multiea.reproduction.numbers import KS, NOT_RUN, both, difference, m_hits, mean_of, means, said, spread_of, triple
from multiea.reproduction.running import stored

Rows = Mapping[str, list[dict[str, Any]]]
DATA_TITLES = {"dbp-4": "DBP-4", "dwy-3": "DWY-3"}
QUICK = "**A quick look on small generated KGs, hardly trained: its numbers say nothing about any method.**"


def pages(names: Sequence[str], cells: Mapping[str, Cell], results: Path, *, quick: bool = False) -> dict[str, str]:
    """The page of each table and of the figure of curves, by name; that of a quick look says what it is."""
    rows = {name: stored(results, cell) for name, cell in cells.items()}
    makers = {
        "table-2": lambda: _accuracy(cells, rows),
        "table-3": lambda: _efficiency("table-3", "dbp-4", cells, rows),
        "table-4": lambda: _efficiency("table-4", "dwy-3", cells, rows),
        "table-5": lambda: _pairs("table-5", "1", 0, cells, rows),
        "table-6": lambda: _pairs("table-6", "10", 1, cells, rows),
        "figure-sensitivity": lambda: _curves(cells, rows),
        "gold-order": lambda: _gold_order(cells, rows),
    }
    made = {name: makers[name]() for name in names if name in makers}
    if quick:
        made = {name: text.replace("\n", f"\n\n{QUICK}\n", 1) for name, text in made.items()}
    return {name: text + _footer(name, rows, quick=quick) for name, text in made.items()}


def _accuracy(cells: Mapping[str, Cell], rows: Rows) -> str:
    text = """# Table 2: accuracy

M-Hits@1 / 10 / 20 in percent: the share of complete groups all of whose counterparts rank so high among the candidates,
mean over each KG as target. Candidates are the held-out entities (pool `test`), as published, or all entities that are
no seeds (pool `all`), which the paper does not have.
`*`: each pair of KGs alone, results joined. The published values with inference stand beside `product`, the paper's
equation to the letter; `sharpened` and all methods without published values are extra. Ours: mean and standard
deviation over as many random states as there are runs, each with a split of its own. Difference: ours less published,
pool `test`, where the groups are the paper's; the KGs of DBP-4 have fewer triples here ([table 1](table-1.md)).
"""
    for data in DATA_TITLES:
        text += f"\n## {_data_title(data, rows)}\n"
        text += (
            "| method | enhancement | published | ours | difference | ours, pool `all` | runs |\n" + "|---" * 7 + "|\n"
        )
        for name in (cell for cell in NEEDS["table-2"] if cell.startswith(data)):
            cell, own = cells[name], rows[name]
            for mode in cell.enhancements:
                published = cell.published.get("table-2", {}).get(mode)
                ours = {pool: m_hits(own, mode, pool) for pool in ("test", "all")}
                parts = [cell.title, f"`{mode}`", said(published), triple(ours["test"], spread_of(own, mode, "test"))]
                same = {row["data"] for row in own} == {data}
                parts += [difference(ours["test"], published) if same else "", triple(ours["all"]), str(len(own))]
                text += "| " + " | ".join(parts) + " |\n"
    return text


def _efficiency(name: str, data: str, cells: Mapping[str, Cell], rows: Rows) -> str:
    text = f"""# Table {name[-1]}: efficiency on {_data_title(data, rows)}

A method pair by pair (`*`) and as encoder of all KGs at once. Where a cell holds two numbers, the first is published.
Parameter megabytes are four bytes a parameter, as in the paper; peak memory is what training really took at most;
seconds are of training, which goes on until validation says stop; `±` is the standard deviation over the runs. The
published parameters of `*` are those of the pairs with the hub KG alone; ours are of all pairs, since without the
others M-Hits has nothing to rank by. PSR* learns by its own loss, MultiEA(PSR) by `each`. The last lines compare both.

| method | enhancement | M-Hits published | ours | parameters (M) | parameter MB | peak MB | seconds | runs |
|---|---|---|---|---|---|---|---|---|
"""
    for cell_name in NEEDS[name]:
        cell, own = cells[cell_name], rows[cell_name]
        claimed = cell.published.get("efficiency", {})
        for mode in cell.enhancements:
            published = claimed["m_hits"] if mode == "product" else cell.published.get("table-2", {}).get(mode)
            parts = [cell.title, f"`{mode}`", said(published), triple(m_hits(own, mode, "test"))]
            parts += [both(claimed.get("parameters"), own, "parameters", 1e-6)]
            parts += [both(claimed.get("megabytes"), own, "parameter_mb")]
            parts += [both(None, own, "peak_memory_mb", digits=0)]
            parts += [both(claimed.get("seconds"), own, "training_seconds")]
            text += "| " + " | ".join([*parts, str(len(own))]) + " |\n"
    ratios = [line for method in MEASURED if (line := _ratios(data, method, cells, rows))]
    return text + ("\nAll KGs at once take, by these runs:\n\n" + "\n".join(ratios) + "\n" if ratios else "")


def _ratios(data: str, method: str, cells: Mapping[str, Cell], rows: Rows) -> str:
    apart, joint = rows[f"{data}/{method}-pairwise"], rows[f"{data}/{method}"]
    if not apart or not joint:
        return ""
    hub = RECIPES[data].hub
    claimed = [cells[f"{data}/{method}{way}"].published["efficiency"] for way in ("", "-pairwise")]
    parts = []
    for key, of_row in (("parameters", "parameters"), ("seconds", "training_seconds")):
        own = mean_of(joint, of_row)
        with_hub = mean(
            sum(part[key] for pair, part in row["pairs"].items() if hub in pair.split("-")) for row in apart
        )
        published = claimed[0][key] / claimed[1][key]
        parts.append(
            f"{own / mean_of(apart, of_row):.2f} of the {key} of all pairs, {own / with_hub:.2f} of pairs with {hub} "
            f"(published: {published:.2f})"
        )
    return f"- {cells[f'{data}/{method}'].title}: " + "; ".join(parts)


def _pairs(name: str, k: str, place: int, cells: Mapping[str, Cell], rows: Rows) -> str:
    text = f"""# Table {name[-1]}: Hits@{k} of pairs of KGs

In percent, both directions averaged, pool `test`: published, ours (mean over the random states, as many as there are
runs), and the difference where the data are the paper's. Every pair is trained alone. For two KGs there is no third to
infer through, and MultiEA's strategy `each` is a method's usual loss here; only PSR has one of its own. MultiEA(X) is
therefore the same run as X for all others.
"""
    for data in DATA_TITLES:
        pairs = list(cells[f"{data}/mtranse-pairwise"].published["hits"])
        text += f"\n## {_data_title(data, rows)}\n| method | " + " | ".join(pairs) + " | runs |\n"
        text += "|---" * (len(pairs) + 2) + "|\n"
        for method in BASELINES:
            for kind in ("hits", "hits-multiea"):
                joint = kind != "hits"
                run = f"{data}/{method}-each-pairwise" if joint and method == "psr" else f"{data}/{method}-pairwise"
                published, own = cells[f"{data}/{method}-pairwise"].published[kind], rows[run]
                title = cells[f"{data}/{method}"].title if joint else cells[run].title.rstrip("*")
                same = {row["data"] for row in own} == {data}
                parts = [_pair_cell(published[pair][place], _hits(own, pair, k), same=same) for pair in pairs]
                text += f"| {title} | " + " | ".join(parts) + f" | {len(own)} |\n"
    return text


def _hits(rows: Sequence[Mapping[str, Any]], pair: str, k: str) -> float | None:
    other_way = "-".join(reversed(pair.split("-")))
    found = [row["scores"]["none"]["hits"]["test"] for row in rows]
    return mean(100 * (scores.get(pair) or scores[other_way])[k] for scores in found) if found else None


def _pair_cell(published: float, ours: float | None, *, same: bool) -> str:
    if ours is None:
        return f"{published:.2f}, {NOT_RUN}"
    return f"{published:.2f}, {ours:.2f}" + (f" ({ours - published:+.2f})" if same else "")


def _curves(cells: Mapping[str, Cell], rows: Rows) -> str:
    text = """# Figure: sensitivity

MultiEA+each, one setting varied at a time; M-Hits@1 / 10 / 20 in percent, pool `test`, means over the random states.
The paper shows curves without numbers. gamma: the weight of direct similarities; lambda: the margin; eta: negative
groups; ratio: the share of seeds.

![Curves of M-Hits with enhancement sharpened](figure-sensitivity.svg)
"""
    for data in DATA_TITLES:
        title = _data_title(data, rows)
        for name in (cell.split("/")[1] for cell in NEEDS["figure-sensitivity"] if cell.startswith(data)):
            cell, own = cells[f"{data}/{name}"], rows[f"{data}/{name}"]
            text += f"\n## {title}: {cell.title}\n| value | " + " | ".join(f"`{mode}`" for mode in cell.enhancements)
            text += " | runs |\n" + "|---" * (len(cell.enhancements) + 2) + "|\n"
            for value in (value for values in cell.vary.values() for value in values):
                same = [row for row in own if row["value"] == value]
                scores = [triple(m_hits(same, mode, "test")) for mode in cell.enhancements]
                text += f"| {value} | " + " | ".join([*scores, str(len(same))]) + " |\n"
    return text


def sensitivity_svg(cells: Mapping[str, Cell], results: Path) -> str:
    """The curves as a picture, a row of panels for each data set; empty where nothing was run."""
    figure = []
    for data in DATA_TITLES:
        row = []
        for cell in (cells[name] for name in NEEDS["figure-sensitivity"] if name.startswith(data)):
            by_value: dict[float, list[dict[str, Any]]] = {}
            for own in stored(results, cell):
                by_value.setdefault(own["value"], []).append(own)
            points = {value: m_hits(own, "sharpened", "test") or [] for value, own in sorted(by_value.items())}
            curves = {
                f"M-Hits@{k}": [(value, of_value[place]) for value, of_value in points.items()]
                for place, k in enumerate(KS)
            }
            if points:
                row.append((f"{stored(results, cell)[0]['data']}: {cell.title}", curves))
        figure.append(row)
    return panels(figure) if any(figure) else ""


def _gold_order(cells: Mapping[str, Cell], rows: Rows) -> str:
    cell, own = cells["dbp-4/gold-order"], rows["dbp-4/gold-order"]
    text = f"""# What the order of candidates is worth

MultiEA+each on {_data_title("dbp-4", rows)}; the same embeddings, compared in five ways, with every KG's candidates in
the order of the answer (row k of each KG is the same group, as in the benchmark's files) and with each KG's candidates
shuffled. M-Hits@1 / 10 / 20 in percent, complete held-out groups, {len(own)} runs. An honest way does not change.

| way | published | in the answer's order | shuffled |
|---|---|---|---|
"""
    for way, title in WAYS.items():
        parts = [title, said(cell.published["table-2"].get(way))]
        parts += [triple(means([row["orders"][way][order] for row in own])) for order in cell.orders]
        text += "| " + " | ".join(parts) + " |\n"
    return text


def _data_title(data: str, rows: Rows) -> str:
    """The paper's name of the data, and ours where other data took its place."""
    own = sorted({row["data"] for name, of_cell in rows.items() if name.startswith(data) for row in of_cell} - {data})
    return DATA_TITLES[data] + (f" (ours: {', '.join(own)})" if own else "")


def _footer(name: str, rows: Rows, *, quick: bool) -> str:
    used = [row for cell in NEEDS[name] for row in rows[cell]]
    devices = ", ".join(sorted({row["device"] for row in used})) or "nothing"
    versions = ", ".join(sorted({f"torch {row['versions']['torch']}" for row in used}))
    where = "; ".join(part for part in (devices, versions) if part)
    return f"\nRun on: {where}. Made by `multiea reproduce {name} {'--quick' if quick else '--source FOLDER'}`.\n"
