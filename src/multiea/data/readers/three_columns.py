"""Three columns without known names: triples, or records with ids and two other columns."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from multiea.data.readers.cells import is_readable, text_of
from multiea.data.readers.record_ids import NUMBER
from multiea.foundation.errors import InputError

log = logging.getLogger("multiea")
FEWEST_VALUES = 4  # different ones between ids and third values
MIN_DISTINCT = 0.5  # relations repeat: of most KGs there are far fewer than triples
MIN_DISTINCT_WITHOUT_HEADER = 0.9


def have_values_of_records(rows: pl.DataFrame, min_distinct: float = MIN_DISTINCT) -> bool:
    """Whether rows are records and no triples: each has another first value, which is in no third column, and of the
    values between this share is different, as relations never are.
    """
    if not all(is_readable(kind) and not kind.is_nested() for kind in rows.dtypes):
        return False
    first, second, third = (text_of(column) for column in rows)
    is_key = first.null_count() == 0 and first.n_unique() == rows.height
    enough = max(FEWEST_VALUES, min_distinct * rows.height)
    return is_key and second.n_unique() >= enough and not first.is_in(third.implode()).any()


def is_like_a_header(first: Sequence[str], others: pl.DataFrame) -> bool:
    """Whether a first line may name columns: no field is a number or a date, and none occurs again in its column."""
    if not all(first) or pl.Series(list(first)).str.contains(NUMBER).any():
        return False
    return not any((column == field).any() for field, column in zip(first, others, strict=True))


def warn_of_records(place: Path | str, columns: Sequence[str]) -> None:
    """Says that three columns are taken as records because of their values."""
    log.warning(
        "%s: the columns %s are read as records, because hardly any value of '%s' repeats, as relations do; if they "
        "are triples, name them head, relation, tail",
        place,
        ", ".join(columns),
        columns[1],
    )


def refuse_records_without_header(first: Sequence[str], place: Path, line: int) -> None:
    """Raises an error for records whose columns have no names."""
    raise InputError(
        f"records without a header: the first line ({', '.join(first)}) names no columns, and hardly any value of the "
        "second column repeats, as relations do",
        path=place,
        line=line,
        expected="a header that names every column, or triples",
        hint="Add a first line: for records the names of the columns, one of them id; for triples head, relation, tail",
    )
