"""Excel: one sheet of an .xlsx file as a table, read by fastexcel (extra `excel`)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.files import opened
from multiea.data.readers.tables import Rows, first_line
from multiea.foundation.errors import InputError, unknown

if TYPE_CHECKING:
    from fastexcel import ExcelReader


def excel_rows(path: Path, sheet: str | None) -> tuple[list[str], Rows]:
    """The names of the columns, and the rows below them. `lines` are the row numbers of the sheet."""
    try:
        import fastexcel  # deferred: the extra `excel` is optional
    except ImportError:
        raise InputError(
            "Excel files need the extra 'excel', which is not installed",
            path=path,
            hint="pip install 'multiea[excel]', or save the sheet as CSV",
        ) from None
    with opened(path) as stream:
        content = stream.read()
    log = logging.getLogger("fastexcel.types.dtype")
    log.addFilter(_no_guesses)  # about columns without values
    try:
        book = fastexcel.read_excel(content)
        chosen = _sheet(path, book, sheet)
        header = book.load_sheet(chosen, header_row=None, n_rows=1, dtypes="string").to_polars()
        table = book.load_sheet(chosen, header_row=None, skip_rows=1, schema_sample_rows=None).to_polars()
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"not a readable Excel file ({first_line(error)})", path=path, expected="an .xlsx file"
        ) from None
    finally:
        log.removeFilter(_no_guesses)
    names = [(name or "").strip() for name in (header.row(0) if header.height else ())]
    names += [""] * (table.width - len(names))
    table = table.with_columns(pl.lit(None, pl.String).alias(f"_{at}") for at in range(table.width, len(names)))
    if len(set(names)) == len(names):
        table.columns = names
    is_filled = ~table.select(pl.all_horizontal(pl.all().is_null())).to_series() if table.width else pl.Series([False])
    rows: NDArray[np.int64] = np.flatnonzero(is_filled.to_numpy()) + 2
    return names, Rows(table.filter(is_filled) if table.width else table, lambda: rows)


def _no_guesses(record: logging.LogRecord) -> bool:
    return False


def _sheet(path: Path, book: ExcelReader, sheet: str | None) -> str:
    """The given sheet, or the only one that is not empty."""
    names = book.sheet_names
    if sheet is not None:
        if sheet not in names:
            raise InputError(unknown(sheet, names, what="sheet"), path=path)
        return sheet
    filled = [name for name in names if book.load_sheet(name, header_row=None, n_rows=1).width]
    if len(filled) != 1:
        raise InputError(
            f"{len(filled)} sheets: {', '.join(filled)}" if filled else "no sheet with content",
            path=path,
            expected="one sheet with a table",
            hint=f'Choose one in dataset.toml: sheet = "{filled[0]}", or save it as a file' if filled else None,
        )
    return filled[0]
