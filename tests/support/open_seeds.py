"""Few links to a new KG, and the members found for open seeds."""

from __future__ import annotations

import numpy as np
import polars as pl

from multiea import Alignment, Groups
from support.parting import Parted


def few_links(parts: Parted, one_in: int = 3) -> Groups:
    """Some of the seeds, chosen by the name of their first member: all that is known of the new KG."""
    names = parts.seeds.to_table([*parts.before.kgs, parts.kg])
    first = names.select(pl.coalesce(sorted(names.columns))).to_series().to_list()
    return parts.seeds.take(np.array([sum(name.encode()) % one_in == 0 for name in first]))


def completions(alignment: Alignment) -> pl.DataFrame:
    """The members found for open seeds."""
    table = alignment.groups
    known = table.filter(pl.col("status") == "seed")["group_id"].unique()
    return table.filter((pl.col("status") == "found") & pl.col("group_id").is_in(known.implode()))
