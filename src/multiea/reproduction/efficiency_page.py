"""The pages of efficiency: tables 3 and 4."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean

from multiea.data.benchmarks import RECIPES
from multiea.reproduction.cells import Cell
from multiea.reproduction.contents import MEASURED, NEEDS
from multiea.reproduction.numbers import both, m_hits, mean_of, published_triple, triple
from multiea.reproduction.page_parts import Rows, data_title, table_header, table_row

TEXT = """
Each method trained pairwise (`*`) and as the encoder of all KGs at once. If a cell has two numbers, the first one is
published.

- Parameter MB: four bytes per parameter, as in the paper.
- Peak MB: the maximum memory during training.
- Seconds: training until early stopping.
- `±`: the standard deviation over the runs.
- The published parameters of `*` count only the pairs with the hub KG. Ours count all pairs, because M-Hits needs ranks
  between all KGs.
- PSR* is trained with its own loss, MultiEA(PSR) with strategy `each`.

"""
HEADER = (
    "method",
    "enhancement",
    "M-Hits published",
    "ours",
    "parameters (M)",
    "parameter MB",
    "peak MB",
    "seconds",
    "runs",
)


def efficiency_page(name: str, data: str, cells: Mapping[str, Cell], rows: Rows) -> str:
    """Table 3 or 4."""
    text = f"# Table {name[-1]}: efficiency on {data_title(data, rows)}\n" + TEXT + table_header(HEADER)
    for cell_name in NEEDS[name]:
        cell, own = cells[cell_name], rows[cell_name]
        claimed = cell.published.get("efficiency", {})
        for mode in cell.enhancements:
            published = claimed["m_hits"] if mode == "product" else cell.published.get("table-2", {}).get(mode)
            parts = [
                cell.title,
                f"`{mode}`",
                published_triple(published),
                triple(m_hits(own, mode, "test")),
                both(claimed.get("parameters"), own, "parameters", 1e-6),
                both(claimed.get("megabytes"), own, "parameter_mb"),
                both(None, own, "peak_memory_mb", digits=0),
                both(claimed.get("seconds"), own, "training_seconds"),
                str(len(own)),
            ]
            text += table_row(parts)
    ratios = [line for method in MEASURED if (line := _ratios(data, method, cells, rows))]
    if ratios:
        text += (
            "\nThe cost of training on all KGs at once, relative to pairwise training:\n\n" + "\n".join(ratios) + "\n"
        )
    return text


def _ratios(data: str, method: str, cells: Mapping[str, Cell], rows: Rows) -> str:
    """The line that compares one training on all KGs with pairwise training; empty if one of them has not been run."""
    pairwise, joint = rows[f"{data}/{method}-pairwise"], rows[f"{data}/{method}"]
    if not pairwise or not joint:
        return ""
    hub = RECIPES[data].hub
    claimed = [cells[f"{data}/{method}{suffix}"].published["efficiency"] for suffix in ("", "-pairwise")]
    parts = []
    for key, of_row in (("parameters", "parameters"), ("seconds", "training_seconds")):
        own = mean_of(joint, of_row)
        with_hub = mean(
            sum(part[key] for pair, part in row["pairs"].items() if hub in pair.split("-")) for row in pairwise
        )
        published = claimed[0][key] / claimed[1][key]
        parts.append(
            f"{own / mean_of(pairwise, of_row):.2f} of the {key} of all pairs, "
            f"{own / with_hub:.2f} of those of the pairs with {hub} (published: {published:.2f})"
        )
    return f"- {cells[f'{data}/{method}'].title}: " + "; ".join(parts)
