"""TableSource: a table with named columns, read in blocks; and the check of its header."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from multiea.data.readers.cells import text_of
from multiea.data.readers.tables import Rows, first_line
from multiea.foundation.errors import InputError


@dataclass(frozen=True)
class TableSource:
    """place: the file, or what to call a table in memory. blocks: reads the rows from the start, at each call."""

    place: Path | str
    columns: Sequence[str]
    blocks: Callable[[], Iterator[Rows]]
    line: int | None = None  # of the header, for errors

    @property
    def is_in_memory(self) -> bool:
        """Whether it was given in Python, where there is no dataset.toml."""
        return isinstance(self.place, str)

    @property
    def id_hint(self) -> str:
        """How to say which column has the ids."""
        rename = "Rename the column of ids to id"
        return rename if self.is_in_memory else f'{rename}, or name it in dataset.toml: id = "..."'

    def refuse_bad_header(self) -> None:
        """Raises an error for columns without a name, and for two of the same name."""
        unnamed = [number for number, name in enumerate(self.columns, start=1) if not name.strip()]
        if unnamed:
            raise InputError(
                f"column {unnamed[0]} has no name",
                path=self.place,
                line=self.line,
                expected="a header that names every column",
                hint=self._hint_for_no_name(unnamed),
            )
        repeated = sorted({name for name in self.columns if list(self.columns).count(name) > 1})
        if repeated:
            raise InputError(
                f"two columns are named {', '.join(map(repr, repeated))}",
                path=self.place,
                line=self.line,
                expected="a different name for each column",
                hint="Rename one; for several values of a cell, "
                + ("use a list" if self.is_in_memory else "see separator in dataset.toml"),
            )

    def _hint_for_no_name(self, unnamed: Sequence[int]) -> str:
        is_excel = isinstance(self.place, Path) and ".xlsx" in self.place.name.lower()
        if unnamed == [1] and not self.is_in_memory:
            write = "to_excel" if is_excel else "to_csv"
            return f"Name it, or remove it; pandas writes no index with {write}(index=False)"
        if is_excel and unnamed[-1] == len(self.columns):
            return "Name it, or remove it; delete titles and blank rows above the header, which must be the first row"
        if self.line is not None and unnamed[-1] == len(self.columns):
            return "Name it, or remove the separators at the ends of the lines"
        return "Name it, or remove the column"

    def text(self, rows: Rows, columns: Sequence[int]) -> list[pl.Series]:
        """Some columns of a block as text, null where a field is empty."""
        try:
            return [text_of(rows.table.to_series(index)).replace({"": None}) for index in columns]
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise InputError(f"a column that cannot be text ({first_line(error)})", path=self.place) from None
