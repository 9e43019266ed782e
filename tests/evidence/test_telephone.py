"""Telephone numbers: the same number written in another way agrees, and nothing else is taken for one."""

from __future__ import annotations

import polars as pl
import pytest

import multiea
from multiea.evidence.attributes import attribute_tables
from multiea.evidence.telephone import telephone_key
from multiea.evidence.values import parsed_values
from support.evidence import literals_of, table_kg

BERLIN = [
    "+49 30 1234567",
    "0049 (0)30 / 123 45 67",
    "030/1234567",
    "(030) 1234567",
    "030-1234567",
    "tel:+49-30-1234567",
    "030 1234567 ext. 12",
]
NEW_YORK = ["+1 (212) 555-0123", "212-555-0123", "1-212-555-0123", "(212) 555 0123"]
FIRST_NAMES = ["Anna", "Ben", "Clara", "Dora", "Emil", "Frida", "Gustav", "Hanna", "Ivan", "Jana", "Karl", "Lena"]


@pytest.mark.parametrize(
    "ways", [BERLIN, NEW_YORK, ["+7 495 123-45-67", "8 (495) 123 45 67"], ["+39 06 12345", "0612345"]]
)
def test_a_number_has_one_key_however_it_is_written(ways: list[str]) -> None:
    keys = pl.DataFrame({"value": ways}).select(telephone_key()).to_series()
    assert keys.null_count() == 0
    assert keys.n_unique() == 1


def test_other_numbers_have_other_keys() -> None:
    keys = pl.DataFrame({"value": ["+49 30 1234567", "+49 30 1234568", "+49 40 1234567"]}).select(telephone_key())
    assert keys.to_series().n_unique() == 3


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("contact", ["+49 30 1234567", "030 999 88 77"], "telephone"),
        ("contact", ["212-555-0123", "415 555 0199"], "telephone"),
        ("Telefon", ["22 33 44 55", "22 33 44 56"], "telephone"),
        ("Mobil", ["01512345678", "01512345679"], "telephone"),
        ("population", ["1 234 567", "12 345 678"], "number"),
        ("phones sold", ["1234567", "7654321"], "number"),
        ("latitude", ["+52.5200066", "+48.1371079"], "number"),
        ("share", ["0.1234567", "0.7654321"], "number"),
        ("code", ["0012345678", "0087654321"], "number"),
        ("isbn", ["978-3-16-148410-0", "978-0-14-044913-6"], "text"),
        ("born", ["01.02.2003", "05.06.1999"], "date"),
        ("day", ["01-02-2003", "05-06-1999"], "text"),
        ("years", ["1914-1918", "1939-1945"], "text"),
    ],
)
def test_a_property_has_telephone_numbers_if_most_values_look_like_nothing_else(
    name: str, values: list[str], kind: str
) -> None:
    table = parsed_values(literals_of({name: values}))
    assert table["kind"].unique().to_list() == [kind]
    assert table["telephone"].is_not_null().all() == (kind == "telephone")
    if kind == "telephone":
        assert table["number"].null_count() == len(table)


def test_namesakes_are_told_apart_by_numbers_that_are_written_in_another_way() -> None:
    names = [f"{first} Schmidt" for first in FIRST_NAMES] * 2
    numbers = [(30 + row, 1234567 + row * 7919) for row in range(len(names))]
    a = table_kg("a", name=names, phone=[f"+49 {area} {number}" for area, number in numbers])
    b = table_kg("b", name=names, telefon=[f"0{area}/{number}" for area, number in numbers])
    found = multiea.align(multiea.Task([a, b])).found.groups
    assert len(found) == len(names)
    assert (found.members[:, 0] == found.members[:, 1]).all()


def test_digits_that_are_telephone_numbers_of_another_kg_are_telephone_numbers() -> None:
    """Mere digits in a column whose name does not tell; other digits of the same length stay numbers."""
    numbers = [f"0{number}" for number in range(1_512_345_678, 1_512_345_698)]
    left = table_kg("a", Erreichbar=numbers, Artikel=[f"0{number}" for number in range(20)])
    right = table_kg("b", tel=["+49 " + one[1:] for one in numbers])
    table = attribute_tables([left, right])[0]
    assert dict(table.select("property", "kind").unique().iter_rows()) == {
        "Erreichbar": "telephone",
        "Artikel": "number",
    }
    assert table.filter(property="Erreichbar")["telephone"].to_list() == [one[1:] for one in numbers]
    assert (attribute_tables([left])[0]["kind"] == "number").all()
