"""The cells of records: which columns are relations to other records is known only when all ids are."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, field

import polars as pl

from multiea.foundation.errors import counted

log = logging.getLogger("multiea")
MIN_SHARE_OF_IDS = 0.9  # the other values are dangling
MIN_REFERENCES = 3
MAX_SHARE_TO_ITSELF = 0.5  # a column that repeats the id is no relation
SAMPLE = 1000
NUMBER = r"^\d+$"
# Numbers mean many things: where ids are numbers, only a column with such a name refers to other records.
REFERENCE_WORDS = ("id", "ids", "ref", "refs", "iri", "uri", "key", "parent")


@dataclass
class RecordCells:
    """The ids of all records with their entity codes, and for each column blocks of (entity code, value, type).

    declared: the columns that the user calls relations.
    """

    ids: list[pl.Series] = field(default_factory=list)
    codes: list[pl.Series] = field(default_factory=list)
    columns: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)

    def separated(self, kg_name: str, excluded: Collection[str]) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
        """Blocks of literals (entity, property, value, type), and of relations (entity, property, value).

        excluded: the columns for which the user decided another role.
        """
        literals, relations = [], []
        if not self.columns:
            return [], []
        ids = pl.DataFrame({"value": pl.concat(self.ids), "code": pl.concat(self.codes)}).unique("value")
        are_numbers = 2 * ids["value"].str.contains(NUMBER).sum() > ids.height
        for column in sorted(self.columns):
            cells = pl.concat(self.columns.pop(column))
            may_refer = column not in excluded and (_may_refer(column) or not are_numbers)
            named = pl.lit(column).alias("property")
            if column in self.declared or (may_refer and _refers(cells, ids)):
                known = cells.join(ids, on="value", how="semi", maintain_order="left")
                _report_dangling(kg_name, column, cells.join(ids, on="value", how="anti"))
                relations.append(known.select("entity", named, "value"))
            else:
                literals.append(cells.select("entity", named.cast(pl.Categorical), "value", "type"))
        return literals, relations


def _refers(cells: pl.DataFrame, ids: pl.DataFrame) -> bool:
    """Whether nearly all values of a column are ids, and mostly those of other records."""
    sample = cells["value"].head(SAMPLE)
    if sample.is_in(ids["value"].implode()).sum() < MIN_SHARE_OF_IDS / 2 * len(sample):
        return False
    known = cells.join(ids, on="value")
    to_itself = (known["entity"] == known["code"]).sum()
    is_most = known.height >= max(MIN_REFERENCES, MIN_SHARE_OF_IDS * cells.height)
    return is_most and to_itself <= MAX_SHARE_TO_ITSELF * known.height


def _may_refer(column: str) -> bool:
    words = "".join(letter if letter.isalnum() else " " for letter in column.casefold()).split()
    return bool(words) and (words[-1] in REFERENCE_WORDS or words[0] == "parent" or column.endswith(("Id", "ID")))


def _report_dangling(kg_name: str, column: str, cells: pl.DataFrame) -> None:
    if cells.height:
        log.warning(
            "KG '%s': %s of the relation '%s' %s of any record, such as '%s'; left out",
            kg_name,
            counted(cells.height, "value"),
            column,
            "is not the id" if cells.height == 1 else "are not ids",
            cells["value"].min(),
        )
