"""A property whose values look like names is the name of a KG that has no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.properties import attributes_of, names_of, possible_names, properties_of
from support.command_line import invoke
from support.datasets import write_files

CITIES = ["Oslo", "Bergen", "Stavanger", "Trondheim", "Drammen", "Tromsø"]
OTHERS = {
    "codes": ["NO-03", "NO-46", "NO-11", "NO-50", "NO-30", "NO-55"],
    "IATA codes": ["OSL", "BGO", "SVG", "TRD", "DRM", "TOS"],
    "numbers": ["1", "2.5", "3", "4", "5", "6"],
    "dates": ["1 May 1048", "2 May 1070", "3 May 1125", "4 May 997", "5 May 1811", "6 May 1794"],
    "web addresses": [f"https://example.org/{city}" for city in CITIES],
    "e-mail addresses": [f"{city}@example.org" for city in CITIES],
    "long texts": [f"{city} is a town that " + "has many houses and " * 5 for city in CITIES],
    "few values": ["Norway", "Norway", "Norway", "Sweden", "Sweden", "Sweden"],
    "street": [f"{city} road" for city in CITIES],
}


def table_kg(columns: Mapping[str, list[str]], roles: Mapping[str, str] | None = None) -> KnowledgeGraph:
    builder = KnowledgeGraphBuilder("a", roles)
    ids = pl.Series([f"q{row}" for row in range(max(map(len, columns.values())))])
    for name, values in columns.items():
        same = [pl.repeat(text, len(values), eager=True) for text in (name, "")]
        builder.add_literals(ids[: len(values)], same[0], pl.Series(values), same[1])
    return builder.build()


def test_names_attributes_and_shown_names_follow_the_values() -> None:
    kg = table_kg({"zone": OTHERS["few values"], "Ort": CITIES, "iata": OTHERS["IATA codes"]})
    assert set(names_of(kg)["name"]) == set(CITIES)
    assert set(attributes_of(kg)["property"].cast(pl.String)) == {"zone", "iata"}
    assert properties_of(kg).row(0)[:2] == ("Ort", "name")
    assert kg.names is not None
    assert set(kg.names) == set(CITIES)


@pytest.mark.parametrize("column", list(OTHERS))
def test_what_does_not_look_like_names_is_an_attribute(column: str) -> None:
    assert table_kg({column: OTHERS[column]}).name_by_values is None
    assert table_kg({column: OTHERS[column], "zzz": CITIES}).name_by_values == "zzz"


def test_most_entities_must_have_it() -> None:
    assert table_kg({"Ort": CITIES[:2], "size": OTHERS["numbers"]}).name_by_values is None


def test_the_most_distinct_one_is_chosen_and_the_order_of_columns_has_no_effect() -> None:
    repeated = [*CITIES[:5], "Oslo"]
    for columns in ({"a": repeated, "b": CITIES, "c": CITIES}, {"c": CITIES, "b": CITIES, "a": repeated}):
        assert table_kg(columns).name_by_values == "b"


def test_what_the_user_decided_counts() -> None:
    columns = {"Ort": CITIES, "zone": OTHERS["few values"]}
    assert table_kg(columns, {"Ort": "attribute"}).name_by_values is None
    assert table_kg(columns, {"zone": "name"}).name_by_values is None
    decided_later = replace(table_kg(columns), property_roles={"zone": "name"})
    assert properties_of(decided_later).filter(pl.col("role") == "name")["property"].to_list() == ["zone"]


def test_known_names_and_readable_ids_come_first() -> None:
    assert table_kg({"Ort": CITIES, "label": OTHERS["few values"]}).name_by_values is None
    builder = KnowledgeGraphBuilder("a")
    builder.add_literals(pl.Series(CITIES), *(pl.Series(one * 6) for one in (["twin"], ["Malmö"], [""])))
    assert builder.build().name_by_values is None


def test_a_part_of_a_kg_keeps_the_choice() -> None:
    kg = table_kg({"Ort": CITIES})
    assert names_of(kg.restricted_to((kg.entities == "q0").to_numpy()))["name"].to_list() == ["Oslo"]


FILES = {
    "a.csv": "id,Ort\n" + "".join(f"{row},{city}\n" for row, city in enumerate(CITIES)),
    "b.csv": "id,city\n" + "".join(f"{row + 20},{city}\n" for row, city in enumerate(reversed(CITIES))),
}


def test_inspect_and_align_say_once_what_was_chosen_and_how_to_change_it(tmp_path: Path) -> None:
    folder, run = write_files(tmp_path / "cities", FILES), tmp_path / "run"
    for outcome in (invoke("inspect", folder), invoke("align", folder, "--out", run)):
        assert outcome.code == 0, outcome.output
        assert outcome.output.count("KG 'a': 'Ort' is taken as its name") == 1
        assert "--attributes 'Ort'" in outcome.output
    assert "name (by its values)" in invoke("inspect", folder).output
    assert "name (by its values)" not in invoke("inspect", folder, "--attributes", "Ort", "--names", "city").output
    assert len(multiea.open(run).found.groups) == len(CITIES)


def test_in_python_the_message_speaks_of_roles(caplog: pytest.LogCaptureFixture) -> None:
    table = pl.DataFrame({"id": range(6), "Ort": CITIES})
    multiea.load({"a": table, "b": table.rename({"Ort": "name"})})
    assert 'roles={"Ort": "attribute"}' in caplog.text
    assert "dataset.toml" not in caplog.text


MAKERS, THINGS = ["Acme", "Borea", "Celtis", "Dorado", "Evora", "Fjell"], ["Bohrer", "Mixer", "Lampe", "Router"]
PRODUCTS = [f"{thing} {maker} {{}}, schwarz" for maker in MAKERS for thing in THINGS]


@pytest.mark.parametrize("model", ["D5{}", "X-2{}", "GTX10{}"])
def test_worded_texts_with_model_numbers_are_names(model: str) -> None:
    values = [text.format(model.format(row)) for row, text in enumerate(PRODUCTS)]
    assert table_kg({"Bezeichnung": values}).name_by_values == "Bezeichnung"


WITH_NUMBERS = {
    "quantities": [text.format(f"{row} ml") for row, text in enumerate(PRODUCTS)],
    "addresses": [f"Obere {maker} Straße {row}, 10{row} Ulm" for row, maker in enumerate(MAKERS)],
    "house numbers with a letter": [f"{row}B {maker} Street, Old Town" for row, maker in enumerate(MAKERS)],
    "dates": [f"Monday, {row + 1} {month} 1972" for row, month in enumerate(["May", "June", "July", "March", "April"])],
    "songs with their place": [f"{row:02d} The {maker} of Love" for row, maker in enumerate(MAKERS)],
    "sensors that differ in codes": [f"Temperature sensor T{row} hall H{row % 3}" for row in range(24)],
}  # fmt: skip


@pytest.mark.parametrize("kind", list(WITH_NUMBERS))
def test_other_texts_with_numbers_are_candidates_only(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    values = WITH_NUMBERS[kind]
    ids = range(len(values))
    task = multiea.load(
        {"a": pl.DataFrame({"id": ids, "zzz": values}), "b": pl.DataFrame({"id": ids, "name": CITIES[0]})}
    )
    assert task.kgs[0].name_by_values is None
    assert "KG 'a' has no names; candidates: 'zzz' ('" in caplog.text
    assert 'choose with multiea.load(..., roles={"zzz": "name"})' in caplog.text


@pytest.mark.parametrize("column", ["codes", "IATA codes", "numbers", "web addresses", "e-mail addresses", "street"])
def test_values_that_are_no_texts_are_no_candidates(column: str) -> None:
    assert not possible_names(table_kg({column: OTHERS[column]}))


def test_what_the_user_decided_is_no_candidate_and_a_kg_with_names_needs_none() -> None:
    places = [f"{row:02d} The {maker} of Love" for row, maker in enumerate(MAKERS)]
    assert possible_names(table_kg({"zzz": places})) == ["zzz"]
    assert not possible_names(table_kg({"zzz": places}, {"zzz": "attribute"}))
    assert not possible_names(table_kg({"zzz": places, "name": CITIES}))


def test_inspect_and_align_name_the_candidates(tmp_path: Path) -> None:
    addresses = [f"{row}B {maker} Street, Old Town" for row, maker in enumerate(MAKERS)]
    table = pl.DataFrame({"id": [f"q{row}" for row in range(6)], "place of work": addresses})
    other = table.rename({"place of work": "work"})
    folder = write_files(tmp_path / "data", {"a.csv": table.write_csv(), "b.csv": other.write_csv()})
    for outcome in (invoke("inspect", folder), invoke("align", folder, "--out", tmp_path / "run")):
        assert outcome.code == 0, outcome.output
        said = "KG 'a' has no names; candidates: 'place of work' ('0B Acme Street, Old Town'); choose with --names"
        assert outcome.output.count(said) == 1
