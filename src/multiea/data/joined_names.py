"""Names that several properties make together, such as `first name + last name`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import polars as pl

JOIN = " + "
MIN_COVERAGE = 0.5  # the share of the entities that have both parts
MIN_SHARE_WITH_LETTERS = 0.5


def parts_of(name: str, properties: Collection[str] = ()) -> list[str]:
    """The parts of a joined name; nothing if it is a property itself, or no joined name."""
    parts = [part.strip() for part in name.split(JOIN if JOIN in name else "+")]
    return parts if name not in properties and len(parts) > 1 and all(parts) else []


def with_joined_names(literals: pl.DataFrame, joined: Iterable[str]) -> pl.DataFrame:
    """The literals, and those of each joined name: entity, property, value, type."""
    blocks = [_joined(literals, name, name.split(JOIN)) for name in joined]
    return pl.concat([literals, *blocks]) if blocks else literals


def are_names_together(literals: pl.DataFrame, parts: Sequence[str], rivals: Collection[str], entities: int) -> bool:
    """Whether the values of two properties together are the names of a KG.

    At least half of the entities have both parts, with letters. rivals: properties that would be the name otherwise,
    such as a title. Each must yield: most of its entities have a joined name, and these differ in more cases.
    """
    of_parts = [literals.filter(pl.col("property") == part) for part in parts]
    both = of_parts[0].join(of_parts[1], on="entity", how="semi")["entity"].n_unique()
    letters = min(table["value"].str.contains(r"\p{L}").sum() / max(len(table), 1) for table in of_parts)
    if both < MIN_COVERAGE * entities or letters < MIN_SHARE_WITH_LETTERS:
        return False
    joined = _joined(literals, JOIN.join(parts), parts)
    for rival in rivals:
        own = literals.filter(pl.col("property") == rival)
        common = own.join(joined, on="entity", how="semi")
        of_common = joined.join(common, on="entity", how="semi")
        if 2 * len(common) <= len(own) or of_common["value"].n_unique() <= common["value"].n_unique():
            return False
    return True


def _joined(literals: pl.DataFrame, name: str, parts: Sequence[str]) -> pl.DataFrame:
    """The values of the parts of each entity with a space between; of several values each combination.

    An entity that lacks a part is named by the others.
    """
    table: pl.DataFrame | None = None
    for at, part in enumerate(parts):
        own = literals.filter(pl.col("property") == part)
        own = own.select("entity", pl.col("value").str.strip_chars().alias(str(at))).unique()
        table = own if table is None else table.join(own, on="entity", how="full", coalesce=True)
    assert table is not None
    value = pl.concat_str([str(at) for at in range(len(parts))], separator=" ", ignore_nulls=True)
    rows = table.select("entity", property=pl.lit(name), value=value, type=pl.lit(""))
    return rows.cast(literals.schema).unique().sort("entity", "value")
