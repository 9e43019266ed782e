"""Cells of records that say in words that there is no value: they count as empty, and a warning says how many."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from multiea.data.readers.cells import PLAIN, Cells
from multiea.data.readers.table_source import TableSource
from multiea.foundation.errors import counted

log = logging.getLogger("multiea")
# Whole cells, exactly so. "NA" is Namibia, "Null" a surname, and "none" an answer: they are values.
MISSING = ("N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "None", "<NA>", r"\N", "-", "--")
MOST_COLUMNS = 5  # in one warning


@dataclass
class MissingCells:
    """Counts the cells of one table that count as empty.

    markers: the texts that mean so, or None for the usual ones.
    """

    markers: Sequence[str] | None = None
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def without(self, cells: Cells) -> Cells:
        """The cells that have a value."""
        markers = list(MISSING if self.markers is None else self.markers)
        text = cells.values.str.strip_chars()
        is_missing = (cells.types == PLAIN) & text.is_in(markers)
        if not is_missing.any():
            return cells
        self.counts.setdefault(cells.column, Counter()).update(text.filter(is_missing).to_list())
        kept = ~is_missing
        return Cells(cells.column, cells.rows.filter(kept), cells.values.filter(kept), cells.types.filter(kept))

    def warn(self, source: TableSource) -> None:
        """Says which columns have such cells, unless the user named the markers."""
        if not self.counts or self.markers is not None:
            return
        columns = sorted(self.counts.items(), key=lambda one: (-one[1].total(), one[0]))
        shown = [
            f"{counted(texts.total(), 'cell')} of '{column}' ({', '.join(sorted(texts))})"
            for column, texts in columns[:MOST_COLUMNS]
        ]
        more = len(columns) - MOST_COLUMNS
        log.warning(
            "%s: counted as empty: %s; %s",
            source.place,
            ", ".join(shown) + (f" and cells of {counted(more, 'more column')}" if more > 0 else ""),
            "write another text where one of them is a value"
            if source.is_in_memory
            else "missing = [] in dataset.toml keeps them as values",
        )
