"""First and last names in two columns are one name, where no column has whole names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import attributes_of, names_of, properties_of
from support.bad_input import assert_says, refusal
from support.command_line import invoke
from support.datasets import write_files

FIRST = ["Ada", "Grace", "Emmy", "Marie", "Lise", "Ada"]
LAST = ["Lovelace", "Hopper", "Noether", "Curie", "Meitner", "Yonath"]
WHOLE = [f"{first} {last}" for first, last in zip(FIRST, LAST, strict=True)]
PEOPLE = {"first name": FIRST, "last name": LAST}


def kg_of(columns: Mapping[str, Sequence[str | None]], roles: Mapping[str, str] | None = None) -> KnowledgeGraph:
    table = pl.DataFrame({"id": [f"q{row}" for row in range(6)], **columns})
    task = multiea.load({"a": table, "b": pl.DataFrame({"id": ["z1", "z2"], "name": ["Oslo", "Bergen"]})}, roles=roles)
    return task.kgs[0]


def names(kg: KnowledgeGraph) -> set[str]:
    return set(names_of(kg)["name"])


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("first_name", "last_name"),
        ("FirstName", "LastName"),
        ("Given Name", "Surname"),
        ("givenName", "familyName"),
        ("forename", "SURNAME"),
        ("Vorname", "Nachname"),
        ("Prénom", "Nom"),
        ("prenom", "nom de famille"),
        ("nombre", "apellidos"),
        ("fname", "lname"),
    ],
)
def test_first_and_last_names_are_one_name_and_stay_attributes(first: str, last: str) -> None:
    kg = kg_of({last: LAST, first: FIRST})
    assert names(kg) == set(WHOLE)
    assert kg.names is not None
    assert set(kg.names) == set(WHOLE)
    assert properties_of(kg).row(0) == (f"{first} + {last}", "name", 6, 1.0, "Ada Lovelace")
    assert set(attributes_of(kg)["property"].cast(pl.String)) == {first, last}


@pytest.mark.parametrize("column", ["name", "full_name", "label"])
def test_a_column_of_whole_names_comes_first(column: str) -> None:
    whole = [f"Dr {name}" for name in WHOLE]
    assert names(kg_of({**PEOPLE, column: whole})) == set(whole)


def test_a_synonym_is_a_name_beside_the_joined_one() -> None:
    assert names(kg_of({**PEOPLE, "alias": ["Amazing Grace"] + [None] * 5})) == {*WHOLE, "Amazing Grace"}


def test_columns_that_may_be_names_count_where_they_differ_at_least_as_much() -> None:
    few = ["Oslo", "Bergen", "Oslo", "Voss", "Oslo", "Narvik"]
    assert names(kg_of({**PEOPLE, "city_name": few})) == set(WHOLE)
    assert names(kg_of({**PEOPLE, "title": few})) == set(WHOLE)
    books = ["Dune", "Emma", "Ulysses", "Solaris", "Persuasion", "Momo"]
    assert names(kg_of({**PEOPLE, "title": books})) == set(books)


def test_one_part_alone_rare_parts_and_parts_without_letters_are_no_names() -> None:
    assert names(kg_of({"last name": LAST, "size": list("123456")})) == set()
    assert kg_of({"first name": [*FIRST[:2], *[None] * 4], "last name": LAST}).joined_names == ()
    years = ["1815", "1906", "1882", "1867", "1878", "1939"]
    assert kg_of({"first": years, "last": years[::-1]}).joined_names == ()


def test_an_entity_without_one_part_is_named_by_the_other() -> None:
    kg = kg_of({"first name": [None, *FIRST[1:]], "last name": LAST})
    assert names(kg) == {"Lovelace", *WHOLE[1:]}


@pytest.mark.parametrize("role", ["attribute", "ignore"])
@pytest.mark.parametrize("asked", ["first name", "last name", "first name + last name"])
def test_the_user_can_decide_against_it(asked: str, role: str) -> None:
    assert names(kg_of(PEOPLE, {asked: role})) == set()


def test_the_user_can_join_any_columns(tmp_path: Path) -> None:
    kg = kg_of({"Name": LAST, "Vorname": FIRST}, {"Vorname+Name": "name", "Name": "attribute"})
    assert names(kg) == set(WHOLE)
    rows = "".join(f"{row},{last},{first}\n" for row, (first, last) in enumerate(zip(FIRST, LAST, strict=True)))
    toml = '[kgs.a]\nfile = "a.csv"\nnames = ["PN + SN"]\n[kgs.b]\nfile = "b.csv"\n'
    files = {"a.csv": f"id,SN,PN\n{rows}", "b.csv": "id,name\n1,Oslo\n2,Voss\n", "dataset.toml": toml}
    kg = multiea.load(write_files(tmp_path, files)).kgs[0]
    assert names(kg) == set(WHOLE)
    assert_says(refusal(tmp_path, {"dataset.toml": toml.replace("SN", "NS")}), "unknown property", "'NS'", "PN, SN")


def test_properties_of_rdf_are_joined_too(tmp_path: Path) -> None:
    people = "".join(
        f'<http://x.org/{row}> <http://xmlns.com/foaf/0.1/givenName> "{first}" ; '
        f'<http://xmlns.com/foaf/0.1/familyName> "{last}" .\n'
        for row, (first, last) in enumerate(zip(FIRST, LAST, strict=True))
    )
    folder = write_files(tmp_path, {"a.ttl": people, "b.csv": "id,name\n1,Oslo\n2,Voss\n"})
    assert names(multiea.load(folder).kgs[0]) == set(WHOLE)
    assert names(multiea.load(folder, roles={"familyName + givenName": "name"}).kgs[0]) == {
        f"{last} {first}" for first, last in zip(FIRST, LAST, strict=True)
    }


def test_a_part_of_a_kg_keeps_the_joined_name() -> None:
    kg = kg_of(PEOPLE)
    assert names(kg.restricted_to((kg.entities == "q0").to_numpy())) == {"Ada Lovelace"}


def test_inspect_says_which_columns_make_the_name_and_align_uses_it(tmp_path: Path) -> None:
    rows = list(zip(range(6), FIRST, LAST, strict=True))
    files = {
        "a.csv": "id,first name,last name\n" + "".join(f"a{i},{first},{last}\n" for i, first, last in rows),
        "b.csv": "id,name\n" + "".join(f"b{i},{first} {last}\n" for i, first, last in reversed(rows)),
    }
    folder, run = write_files(tmp_path / "people", files), tmp_path / "run"
    shown = invoke("inspect", folder).output
    assert "first name + last name" in shown
    assert "Ada Lovelace" in shown
    assert invoke("align", folder, "--out", run).code == 0
    found = multiea.open(run).groups.filter(pl.col("group_id").is_not_null())
    groups = {
        tuple(sorted(one)) for one in found.group_by("group_id").agg("entity")["entity"].to_list() if len(one) > 1
    }
    assert groups == {(f"a{row}", f"b{row}") for row in range(6)}
    assert "first name + last name" not in invoke("inspect", folder, "--names", "last name").output
