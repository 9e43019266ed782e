"""Tables of text from TSV, CSV and Parquet, read in blocks. Every record is checked before it is parsed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.files import NEWLINE, QUOTE, Block, end_of_last_record, line_blocks, opened
from multiea.foundation.errors import InputError

COMMENT_HINT = "Lines that start with # are not comments here; the name of an SSSOM file must end in .sssom.tsv"
PARQUET_ROWS = 1 << 16


@dataclass(frozen=True)
class Dialect:
    """The separator of fields, and whether fields may be quoted."""

    name: str
    separator: str
    quoted: bool

    @property
    def shown_separator(self) -> str:
        """The separator as in dataset.toml."""
        return self.separator.replace("\t", "\\t")


TSV = Dialect("tabs", "\t", quoted=False)
CSV = Dialect("commas", ",", quoted=True)
OTHER_CSV = (Dialect("semicolons", ";", quoted=True), Dialect("tabs", "\t", quoted=True))
BYTES_FOR_DIALECT = 1 << 16


class Rows:
    """Some rows of a table. All fields of text files are strings, null where empty."""

    def __init__(self, table: pl.DataFrame, find_lines: Callable[[], NDArray[np.int64]]) -> None:
        self.table, self._find_lines = table, find_lines

    @property
    def lines(self) -> NDArray[np.int64]:
        """The line number of each row; computed on demand, because it is rarely needed."""
        return self._find_lines()


def csv_dialect(path: Path) -> Dialect:
    """The first of commas, semicolons and tabs that divides all first lines into the same number of fields.

    If none does, the one with the most lines like the first, so that the error names a line that differs.
    """
    with closing(line_blocks(path, quoted=True)) as blocks:
        data = next((block.data for block in blocks), b"")
    head = data[:BYTES_FOR_DIALECT]
    head = head[: end_of_last_record(head, quoted=True)] or data
    best, most_alike = CSV, 0.0
    for dialect in (CSV, *OTHER_CSV):
        try:
            fields = _Records(path, Block(1, head), dialect).fields
        except InputError:  # quotes that mean nothing in this dialect
            continue
        alike = float((fields == fields[0]).mean()) if len(fields) and fields[0] > 1 else 0.0
        if alike > most_alike:
            best, most_alike = dialect, alike
    return best


def text_rows(path: Path, dialect: Dialect, expected: str, hint: str | None = None) -> Generator[Rows]:
    """The rows of a file in blocks. Each must have as many fields as the first, or the error names its line.

    hint: what to do about a line with another number of fields.
    """
    fields: int | None = None
    for block in line_blocks(path, quoted=dialect.quoted):
        records = _Records(path, block, dialect)
        if not len(records.starts):
            continue
        fields = int(records.fields[0]) if fields is None else fields
        wrong = np.flatnonzero(records.fields != fields)
        if len(wrong):
            count = records.fields[wrong[0]]
            raise InputError(
                f"{count} field{'s' if count > 1 else ''}",
                path=path,
                line=records.line(wrong[0]),
                expected=f"{fields} as in the first line, separated by {dialect.name}: {expected}",
                hint=COMMENT_HINT if block.first_line == 1 and block.data.startswith(b"#") else hint,
            )
        try:
            # Our own header keeps polars from mistaking the first bytes for a byte order mark or compressed data.
            names = [f"column_{index + 1}" for index in range(fields)]
            table = pl.read_csv(
                (dialect.separator.join(names) + "\n").encode() + records.data_without_blank_lines(),
                separator=dialect.separator,
                quote_char='"' if dialect.quoted else None,
                schema=dict.fromkeys(names, pl.String),
            )
        except pl.exceptions.PolarsError as error:
            raise InputError(f"cannot be read as a table ({first_line(error)})", path=path) from None
        if table.height != len(records.starts):
            raise InputError(
                f"{len(records.starts):,} lines read as {table.height:,} rows", path=path, expected="one row per line"
            )
        yield Rows(_nulls_for_empty(table) if dialect.quoted else table, records.lines)


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns of a file."""
    with _scanned(path) as table:
        return table.collect_schema().names()


def parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Rows]:
    """The rows of all or some columns in blocks, with the types of the file. Here `lines` counts rows from 1."""
    with _scanned(path) as lazy:
        start = 1
        chosen = lazy if columns is None else lazy.select(columns)
        for table in chosen.collect_batches(chunk_size=PARQUET_ROWS):
            yield Rows(table, partial(np.arange, start, start + table.height))
            start += table.height


@contextmanager
def _scanned(path: Path) -> Iterator[pl.LazyFrame]:
    """The file as a lazy table. What polars cannot read is an InputError."""
    with opened(path) as stream:
        source: Path | BytesIO = BytesIO(stream.read()) if path.suffix in (".gz", ".zip") else path
        try:
            yield pl.scan_parquet(source, glob=False)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise InputError(f"not a readable Parquet table ({first_line(error)})", path=path) from None


def _nulls_for_empty(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.all().replace({"": None}))


def first_line(error: BaseException) -> str:
    """The first line of the message of an error from another library."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class _Records:
    """The records of a block: where they start and end, and how many fields they have. Blank lines do not count."""

    def __init__(self, path: Path, block: Block, dialect: Dialect) -> None:
        self._block = block
        self._codes = np.frombuffer(block.data, dtype=np.uint8)
        self._quotes = np.flatnonzero(self._codes == QUOTE) if dialect.quoted else np.empty(0, dtype=np.int64)
        if len(self._quotes):
            self._refuse_stray_quotes(path, dialect)
        ends = self._outside_quotes(NEWLINE)
        starts = np.concatenate([[0], ends[:-1] + 1])
        separators = self._outside_quotes(ord(dialect.separator))
        fields = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
        carriage = (ends > starts) & (self._codes[np.maximum(ends - 1, 0)] == ord("\r"))
        self._blank = (ends - carriage == starts) & (fields == 1)
        self._all_starts, self._all_ends = starts, ends
        if block.first_line == len(ends) == 1:
            self._refuse_other_line_ends(path)
        self.starts, self.fields = starts[~self._blank], fields[~self._blank]

    def line(self, record: int) -> int:
        """The line number at which a record starts."""
        return self._block.line_at(int(self.starts[record]))

    def lines(self) -> NDArray[np.int64]:
        """The line numbers at which all records start."""
        newlines = np.flatnonzero(self._codes == NEWLINE)
        return np.asarray(np.searchsorted(newlines, self.starts) + self._block.first_line)

    def data_without_blank_lines(self) -> bytes:
        if not self._blank.any():
            return self._block.data
        keep = np.ones(len(self._codes), dtype=bool)
        keep[self._all_starts[self._blank]] = keep[self._all_ends[self._blank]] = False
        return self._codes[keep].tobytes()

    def _outside_quotes(self, code: int) -> NDArray[np.int64]:
        positions = np.flatnonzero(self._codes == code)
        return positions[np.searchsorted(self._quotes, positions) % 2 == 0] if len(self._quotes) else positions

    def _refuse_other_line_ends(self, path: Path) -> None:
        """Raises an error for a file whose only line has carriage returns, which end the lines of old programs."""
        returns = self._outside_quotes(ord("\r"))
        if np.count_nonzero(self._codes[np.minimum(returns + 1, len(self._codes) - 1)] != NEWLINE) > 1:
            raise InputError(
                "lines that end in a carriage return only",
                path=path,
                line=1,
                expected="line feeds, or both",
                hint="Convert it, for example with tr '\\r' '\\n'; in Excel, save it as CSV UTF-8",
            )

    def _refuse_stray_quotes(self, path: Path, dialect: Dialect) -> None:
        """Raises an error for a quote that neither encloses a field nor is doubled inside one."""
        delimits = np.zeros(256, dtype=bool)
        delimits[list(f'{dialect.separator}\r\n"'.encode())] = True
        is_delimiter = delimits[self._codes]
        opening, closing = self._quotes[::2], self._quotes[1::2]
        stray = [
            opening[(opening > 0) & ~is_delimiter[opening - 1]],
            closing[~is_delimiter[np.minimum(closing + 1, len(is_delimiter) - 1)]],
            self._quotes[-1:] if len(self._quotes) % 2 else self._quotes[:0],
        ]
        positions = np.concatenate(stray)
        if len(positions):
            raise InputError(
                "a quote that neither opens nor closes a field",
                path=path,
                line=self._block.line_at(int(positions.min())),
                expected='a field with quotes written as "one ""quoted"" field"',
            )
