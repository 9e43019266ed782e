"""The pages of accuracy: table 2, tables 5 and 6, and the effect of the candidate order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from multiea.reproduction.cells import Cell
from multiea.reproduction.contents import BASELINES, NEEDS
from multiea.reproduction.gold_order import METHODS
from multiea.reproduction.numbers import NOT_RUN, difference, m_hits, means, published_triple, spread_of, triple
from multiea.reproduction.page_parts import (
    DATA_TITLES,
    Rows,
    data_title,
    is_data_of_paper,
    table_header,
    table_row,
)

TABLE_2 = """# Table 2: accuracy

M-Hits@1 / 10 / 20 in percent: the share of complete groups whose counterparts all rank among the first 1, 10 or 20
candidates, averaged over each KG as target. With pool `test` the candidates are the held-out entities, as in the paper;
with pool `all` they are all non-seed entities, for which the paper has no scores.

- `*`: the method is trained on each pair of KGs separately, and the results are joined.
- Published values with inference are in the rows of `product`, the paper's equation to the letter. `sharpened` and the
  methods without published values are additions.
- Ours: mean and standard deviation over the runs. Each run has its own random state and its own seeds.
- Difference: ours minus published, pool `test`; only where the groups are those of the paper. The KGs of DBP-4 have
  fewer triples here than in the paper ([table 1](table-1.md)).
"""
TABLE_2_HEADER = ("method", "enhancement", "published", "ours", "difference", "ours, pool `all`", "runs")


def accuracy_page(cells: Mapping[str, Cell], rows: Rows) -> str:
    """Table 2."""
    text = TABLE_2
    for data in DATA_TITLES:
        text += f"\n## {data_title(data, rows)}\n" + table_header(TABLE_2_HEADER)
        for name in (cell for cell in NEEDS["table-2"] if cell.startswith(data)):
            cell, own = cells[name], rows[name]
            for mode in cell.enhancements:
                published = cell.published.get("table-2", {}).get(mode)
                ours = {pool: m_hits(own, mode, pool) for pool in ("test", "all")}
                parts = [
                    cell.title,
                    f"`{mode}`",
                    published_triple(published),
                    triple(ours["test"], spread_of(own, mode, "test")),
                    difference(ours["test"], published) if is_data_of_paper(own, data) else "",
                    triple(ours["all"]),
                    str(len(own)),
                ]
                text += table_row(parts)
    return text


def pairs_page(name: str, k: str, place: int, cells: Mapping[str, Cell], rows: Rows) -> str:
    """Tables 5 and 6; place: the position of Hits@k among the published values of a pair."""
    text = f"""# Table {name[-1]}: Hits@{k} of pairs of KGs

In percent, averaged over both directions, pool `test`: published, ours (mean over the runs, each with its own random
state), and the difference where the data are those of the paper. Each pair of KGs is trained separately. Two KGs have
no third KG for inference, and strategy `each` is the default loss of every method except PSR, which has its own loss.
Therefore MultiEA(X) is the same run as X, except for PSR.
"""
    for data in DATA_TITLES:
        pairs = list(cells[f"{data}/mtranse-pairwise"].published["hits"])
        text += f"\n## {data_title(data, rows)}\n" + table_header(["method", *pairs, "runs"])
        for method in BASELINES:
            for kind in ("hits", "hits-multiea"):
                joint = kind != "hits"
                run = f"{data}/{method}-each-pairwise" if joint and method == "psr" else f"{data}/{method}-pairwise"
                published, own = cells[f"{data}/{method}-pairwise"].published[kind], rows[run]
                title = cells[f"{data}/{method}"].title if joint else cells[run].title.rstrip("*")
                comparable = is_data_of_paper(own, data)
                parts = [
                    _pair_cell(published[pair][place], _hits(own, pair, k), comparable=comparable) for pair in pairs
                ]
                text += table_row([title, *parts, str(len(own))])
    return text


def _hits(rows: Sequence[Mapping[str, Any]], pair: str, k: str) -> float | None:
    other_direction = "-".join(reversed(pair.split("-")))
    found = [row["scores"]["none"]["hits"]["test"] for row in rows]
    return mean(100 * (scores.get(pair) or scores[other_direction])[k] for scores in found) if found else None


def _pair_cell(published: float, ours: float | None, *, comparable: bool) -> str:
    if ours is None:
        return f"{published:.2f}, {NOT_RUN}"
    return f"{published:.2f}, {ours:.2f}" + (f" ({ours - published:+.2f})" if comparable else "")


def gold_order_page(cells: Mapping[str, Cell], rows: Rows) -> str:
    """The effect of the candidate order."""
    cell, own = cells["dbp-4/gold-order"], rows["dbp-4/gold-order"]
    text = f"""# The effect of the candidate order

MultiEA+each on {data_title("dbp-4", rows)}. The same embeddings are compared by five methods, with two orders of the
candidates. In the order of the held-out groups, row k of each KG belongs to the same group, as in the files of the
benchmark; shuffled, each KG has its own random order. M-Hits@1 / 10 / 20 in percent, complete held-out groups,
{len(own)} runs. A correct method has the same scores for both orders.

"""
    text += table_header(("method", "published", "order of the groups", "shuffled"))
    for method, title in METHODS.items():
        parts = [title, published_triple(cell.published["table-2"].get(method))]
        parts += [triple(means([row["orders"][method][order] for row in own])) for order in cell.orders]
        text += table_row(parts)
    return text
