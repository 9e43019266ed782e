"""CURIEs: short forms of IRIs, with prefixes derived from the IRIs themselves."""

from __future__ import annotations

import re

import polars as pl

MOST_NAMESPACES = 20  # of a KG; what lies elsewhere shares the namespace of its host
_LAST = r"^(.*[/#:])[^/#:]*$"  # up to the last sign that ends a namespace
_HOST = r"^([A-Za-z][A-Za-z0-9+.-]*://[^/]*/|urn:[^:]*:|[A-Za-z][A-Za-z0-9+.-]*:)"


class Prefixes:
    """Namespaces and the prefixes that stand for them."""

    def __init__(self, known: dict[str, str]) -> None:
        self.expansions = dict(known)

    def learn(self, kg: str, iris: pl.Series) -> None:
        """Gives the namespaces of a KG's IRIs prefixes named after the KG, the most frequent first."""
        stem = re.sub(r"[^A-Za-z0-9]", "", kg).lower() or "kg"
        stem = stem if stem[0].isalpha() else f"kg{stem}"
        spaces = iris.str.extract(_LAST).alias("space")
        counts = spaces.value_counts().sort(["count", "space"], descending=[True, False])
        frequent = counts["space"].head(MOST_NAMESPACES).drop_nulls().to_list()
        others = iris.filter(~spaces.is_in(frequent)).str.extract(_HOST).unique().drop_nulls().sort().to_list()
        for space in [*frequent, *others]:
            if space not in self.expansions.values():
                self.expansions[self._free(stem)] = space

    def curies(self, iris: pl.Series) -> pl.Series:
        """The IRIs in short form, by the longest namespace that fits."""
        shortened = iris.clone()
        done = pl.Series([False] * len(iris), dtype=pl.Boolean)
        for prefix, space in sorted(self.expansions.items(), key=lambda item: (-len(item[1]), item[0])):
            fits = ~done & iris.str.starts_with(space)
            short = pl.select(pl.lit(f"{prefix}:") + iris.str.slice(len(space))).to_series()
            shortened = pl.select(pl.when(fits).then(short).otherwise(shortened)).to_series()
            done |= fits
        return shortened

    def _free(self, stem: str) -> str:
        taken, number = {prefix.lower() for prefix in self.expansions}, 1
        while (name := stem if number == 1 else f"{stem}{number}") in taken:
            number += 1
        return name
