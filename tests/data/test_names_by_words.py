"""A KG without names is named by the text property that shares its words with the names of the other KGs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea.data.properties import names_of
from support.command_line import invoke
from support.datasets import write_files

MAKERS = ["Acme", "Borea", "Celtis", "Dorado", "Evora", "Fjell"]
THINGS = ["circular saw", "angle grinder", "heat gun", "cordless drill"]
TITLES = [f"{maker} {thing} with case {16 + row} V" for maker in MAKERS for row, thing in enumerate(THINGS)]
IDS = [f"q{row}" for row in range(len(TITLES))]
SHOP = pl.DataFrame({"id": IDS, "title": TITLES})
OFFERS = [f"{title.upper()} new" for title in TITLES]
OTHERS = {
    "long texts": [f"{title} {'as good as new, sold for want of use ' * 3}" for title in TITLES],
    "codes": [f"{title[:2].upper()}-{row:03}" for row, title in enumerate(TITLES)],
    "texts with other words": [f"{row} Station Road, Old Town" for row in range(len(TITLES))],
    "texts with a word of names": [f"{row} {maker} Road, Old Town" for row, maker in enumerate(MAKERS * 4)],
    "few values": ["Acme circular saw 16 V", "Acme heat gun 18 V"] * (len(TITLES) // 2),
}


def name_of(table: pl.DataFrame, **roles: str) -> str | None:
    return multiea.load({"shop": SHOP, "market": table}, roles=roles).kgs[1].name_by_values


def test_the_words_of_the_names_of_others_tell_which_property_has_names() -> None:
    offers = pl.DataFrame({"id": IDS, "any": OTHERS["texts with other words"], "offer": OFFERS})
    assert name_of(offers) == "offer"
    assert name_of(offers.select("id", "offer", "any")) == "offer"
    kg = multiea.load({"market": offers, "shop": SHOP}).kgs[0]
    assert set(names_of(kg)["name"]) == set(OFFERS)
    assert kg.names is not None
    assert set(kg.names) == set(OFFERS)


@pytest.mark.parametrize("kind", list(OTHERS))
def test_long_texts_codes_and_other_words_are_not_taken(kind: str) -> None:
    assert name_of(pl.DataFrame({"id": IDS, "zzz": OTHERS[kind]})) is None


def test_nothing_is_taken_where_no_kg_has_names_or_the_user_decided() -> None:
    offers = pl.DataFrame({"id": IDS, "offer": OFFERS})
    none = multiea.load({"a": offers, "b": offers.rename({"offer": "text"})})
    assert [kg.name_by_values for kg in none.kgs] == [None, None]
    assert name_of(offers, offer="attribute") is None


def test_align_says_which_was_taken_and_compares_it(tmp_path: Path) -> None:
    tables = {"shop.csv": SHOP.write_csv(), "market.csv": pl.DataFrame({"id": IDS, "offer": OFFERS}).write_csv()}
    folder, run = write_files(tmp_path / "tools", tables), tmp_path / "run"
    outcome = invoke("align", folder, "--out", run)
    assert outcome.code == 0, outcome.output
    assert outcome.output.count("KG 'market': 'offer' is taken as its name, because its words are those") == 1
    assert "--attributes 'offer'" in outcome.output
    assert "candidates:" not in outcome.output
    assert len(multiea.open(run).found.groups) == len(TITLES)
    assert "name (by its values)" in invoke("inspect", folder).output
