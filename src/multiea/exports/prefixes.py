"""CURIEs: IRIs shortened by prefixes, which are derived from the IRIs themselves."""

from __future__ import annotations

import re

import polars as pl

MAX_NAMESPACES = 20  # per KG; the other IRIs share a namespace per host
_NAMESPACE = r"^(.*[/#:])[^/#:]*$"  # up to the last character that ends a namespace
_HOST = r"^([A-Za-z][A-Za-z0-9+.-]*://[^/]*/|urn:[^:]*:|[A-Za-z][A-Za-z0-9+.-]*:)"


class Prefixes:
    """The namespace of each prefix."""

    def __init__(self, namespaces: dict[str, str]) -> None:
        self.namespaces = dict(namespaces)

    def add_namespaces(self, kg: str, iris: pl.Series) -> None:
        """Adds prefixes, named after the KG, for the namespaces of its IRIs, the most frequent first."""
        stem = re.sub(r"[^A-Za-z0-9]", "", kg).lower() or "kg"
        stem = stem if stem[0].isalpha() else f"kg{stem}"
        of_iris = iris.str.extract(_NAMESPACE).alias("namespace")
        counts = of_iris.value_counts().sort(["count", "namespace"], descending=[True, False])
        frequent = counts["namespace"].head(MAX_NAMESPACES).drop_nulls().to_list()
        hosts = iris.filter(~of_iris.is_in(frequent)).str.extract(_HOST).unique().drop_nulls().sort().to_list()
        for namespace in [*frequent, *hosts]:
            if namespace not in self.namespaces.values():
                self.namespaces[self._unused_prefix(stem)] = namespace

    def curies(self, iris: pl.Series) -> pl.Series:
        """The IRIs as CURIEs, each by its longest known namespace; IRIs in no known namespace stay unchanged."""
        shortened = iris.clone()
        done = pl.Series([False] * len(iris), dtype=pl.Boolean)
        for prefix, namespace in sorted(self.namespaces.items(), key=lambda item: (-len(item[1]), item[0])):
            fits = ~done & iris.str.starts_with(namespace)
            short = pl.select(pl.lit(f"{prefix}:") + iris.str.slice(len(namespace))).to_series()
            shortened = pl.select(pl.when(fits).then(short).otherwise(shortened)).to_series()
            done |= fits
        return shortened

    def _unused_prefix(self, stem: str) -> str:
        used, number = {prefix.lower() for prefix in self.namespaces}, 1
        while (prefix := stem if number == 1 else f"{stem}{number}") in used:
            number += 1
        return prefix
