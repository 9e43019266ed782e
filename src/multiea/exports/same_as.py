"""owl:sameAs triples: from the representative of each group to its other members, or between all members."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.groups import ABSENT
from multiea.exports.representatives import MergedNames
from multiea.exports.text_lines import write_lines

SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"


def write_same_as(names: MergedNames, path: Path, *, closure: bool = False) -> int:
    """Writes N-Triples and returns their number.

    closure: links between all pairs of members, each pair once, instead of a star around the representative.
    """
    links = _all_pairs(names) if closure else _star(names)
    with path.open("wb") as file:
        write_lines(file, links, f"<{{}}> <{SAME_AS}> <{{}}> .", "left", "right")
    return len(links)


def _star(names: MergedNames) -> pl.DataFrame:
    """A duplicate is linked to the member of its KG, so that readers see that it is one."""
    centre = pl.select(
        pl.when(pl.Series(names.member != ABSENT))
        .then(names.iris.gather(pl.Series(np.maximum(names.member, 0))))
        .otherwise(names.merged)
    ).to_series()
    table = pl.DataFrame({"left": centre, "right": names.iris, "group": names.group})
    return table.filter(pl.col("group").is_not_null() & (pl.col("left") != pl.col("right"))).sort("left", "right")


def _all_pairs(names: MergedNames) -> pl.DataFrame:
    """A member is left of the duplicates of its KG."""
    order = np.argsort(np.argsort(names.member != ABSENT, kind="stable"), kind="stable")
    members = pl.DataFrame({"iri": names.iris, "group": names.group, "at": order}).drop_nulls("group")
    pairs = members.join(members, on="group", suffix="_other").filter(pl.col("at") < pl.col("at_other"))
    pairs = pairs.filter(pl.col("iri") != pl.col("iri_other"))
    return pairs.select(left="iri", right="iri_other").sort("left", "right")
