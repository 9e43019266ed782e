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
from multiea.data.properties import attributes_of, names_of, properties_of
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
    ids = pl.Series([f"q{row}" for row in range(6)])
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
