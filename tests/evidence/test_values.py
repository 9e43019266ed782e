"""Values: numbers, durations and dates in the ways in which people write them."""

from __future__ import annotations

import pytest

from multiea.evidence.values import parsed_values
from support.evidence import literals_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        (" -3.5 ", -3.5),
        (".5", 0.5),
        ("1e3", 1000),
        ("1,234", 1234),
        ("1,234,567.5", 1234567.5),
        ("1'234", 1234),
        ("1 234", 1234),
        ("1,5", 1.5),
        ("-20,25 km", -20.25),
        ("12 km", 12),
        ("$5", 5),
        ("€ 12.50", 12.5),
        ("EUR 12.50", 12.5),
        ("US$5", 5),
        ("5%", 5),
        ("232000 ms", 232000),
        ("3:52", 232),
        ("1:03:52", 3832),
        ("3m 52s", 232),
        ("3m52s", 232),
        ("3 min 52 sec", 232),
        ("1h 2m 3s", 3723),
        ("1 hour 2 minutes", 3720),
    ],
)
def test_numbers_with_units_and_durations_are_numbers(text: str, number: float) -> None:
    row = parsed_values(literals_of({"p": [text]})).row(0, named=True)
    assert row["number"] == pytest.approx(number)
    assert (row["kind"], row["date"]) == ("number", None)


@pytest.mark.parametrize(
    "text", ["1990-05-17", "1990-05-17T10:00:00Z", "1990-05-17 10:00", "17.05.1990", "17.5.1990", "17/05/1990"]
)
def test_dates_are_the_same_in_iso_and_written_form(text: str) -> None:
    row = parsed_values(literals_of({"p": [text]})).row(0, named=True)
    assert (row["date"], row["kind"]) == ("19900517", "date")


@pytest.mark.parametrize(
    ("texts", "dates"),
    [
        (["05/25/1991", "09/05/1982"], ["19910525", "19820905"]),
        (["25/05/1991", "09/05/1982"], ["19910525", "19820509"]),
        (["04/12/1998", "09/05/1982"], ["19981204", "19820509"]),
    ],
)
def test_the_dates_of_a_property_tell_whether_the_month_comes_first(texts: list[str], dates: list[str]) -> None:
    other = ["25.05.1991", "26.05.1991"]
    table = parsed_values(literals_of({"p": texts, "q": other}))
    assert table["date"].to_list() == [*dates, "19910525", "19910526"]


@pytest.mark.parametrize(
    "text", ["abc", "N/A", "3.52.1", "555-1234", "nan", "inf", "", "s", "m", "1-2-3", "Q42", "AB12", "A-12", "AB 12"]
)
def test_other_values_are_text(text: str) -> None:
    row = parsed_values(literals_of({"p": [text]})).row(0, named=True)
    assert (row["number"], row["date"], row["kind"]) == (None, None, "text")


def test_most_values_decide_what_a_property_is() -> None:
    values = {"size": ["1", "2", "3", "4", "unknown"], "note": ["1", "2", "see below", "none", "later"]}
    table = parsed_values(literals_of(values))
    assert dict(table.select("property", "kind").unique().iter_rows()) == {"size": "number", "note": "text"}
    assert table["value"].to_list() == values["size"] + values["note"]
