"""Tables of records become KGs: one entity per row, cells as literals, columns of ids as relations."""

from __future__ import annotations

import datetime
import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import names_of, properties_of
from multiea.data.readers.kg_file import TableChoices
from support.datasets import assert_same_kg, display_names, facts, literals, parquet
from support.reading import kg_of, load_with
from support.records import ROWS, excel, record_files, text_table

XSD = "http://www.w3.org/2001/XMLSchema#"
RELATIONS = {("p1", "country", "c1"), ("p2", "country", "c1"), ("p3", "country", "c2")}


def values_of(kg: KnowledgeGraph, column: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for entity, name, value, _ in literals(kg):
        if name == column:
            found.setdefault(entity, set()).add(value)
    return found


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("name", record_files())
def test_records_are_the_same_in_every_format(tmp_path: Path, name: str, gz: str) -> None:
    content = record_files()[name]
    data = content.encode() if isinstance(content, str) else content
    kg = kg_of(tmp_path, {f"{name}{gz}": gzip.compress(data) if gz else data})
    assert set(kg.entities) == {row["id"] for row in ROWS}
    assert facts(kg) == RELATIONS
    assert display_names(kg) == {row["id"]: row["name"] for row in ROWS}
    assert values_of(kg, "size") == {"p1": {"3"}, "p3": {"7"}, "c1": {"9"}}
    assert dict(properties_of(kg).select("property", "role").rows()) == {"name": "name", "size": "attribute"}


@pytest.mark.parametrize("column", ["ID", "iri", "Uri", "_id", "identifier", "key", "a_id", "record_id", "@id"])
def test_the_id_column_is_found_by_its_name(tmp_path: Path, column: str) -> None:
    kg = kg_of(tmp_path, {"a.csv": f"year,{column},label,note\n1,x,Oslo,n\n1,y,Bergen,n\n"})
    assert set(kg.entities) == {"x", "y"}


def test_the_first_column_has_the_ids_if_none_is_named_so_and_this_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kg = kg_of(tmp_path, {"a.csv": "code,label,size,note\nx,Oslo,1,n\ny,Bergen,2,n\n"})
    assert set(kg.entities) == {"x", "y"}
    assert "the first, 'code', has the ids, because its values are unique" in caplog.text


def test_of_two_possible_id_columns_the_complete_and_unique_one_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kg = kg_of(tmp_path, {"a.csv": "id,uri,label,key\n1,x,Oslo,C\n1,y,Bergen,C\n"})
    assert set(kg.entities) == {"x", "y"}
    assert "'uri' has the ids; 'id', 'key' have repeated or missing values" in caplog.text


@pytest.mark.parametrize("header", ["id,label,size", "code,name,size", "title,year,iri"])
def test_three_columns_with_a_header_for_records_are_records(tmp_path: Path, header: str) -> None:
    kg = kg_of(tmp_path, {"a.csv": header + "\nx,Oslo,1\ny,Bergen,2\nz,Voss,3\n"})
    assert not len(kg.triples)
    assert len(kg.entities) == 3


def test_triples_whose_relation_is_called_name_stay_triples(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.csv": "x,name,Oslo\ny,name,Bergen\nz,id,Voss\nq,id,w\n"})
    assert len(kg.triples) == 4


def test_parquet_with_three_columns_is_records_if_one_is_named_like_ids_or_names(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": [1, 2], "label": ["Oslo", "Bergen"], "size": [1.5, 2.0]})
    kg = kg_of(tmp_path, {"a.parquet": parquet(table)})
    assert literals(kg) == {
        ("1", "label", "Oslo", ""),
        ("2", "label", "Bergen", ""),
        ("1", "size", "1.5", f"{XSD}double"),
        ("2", "size", "2", f"{XSD}double"),
    }


def test_values_of_all_types_become_text_without_loss(tmp_path: Path) -> None:
    day, moment = datetime.date(2020, 2, 1), datetime.datetime(2020, 2, 1, 3, 4, 5)
    table = pl.DataFrame(
        {
            "id": [10**15, 2],
            "whole": [1815.0, None],
            "large": [12345678901234567, 2],
            "share": [0.1, 1e-7],
            "is_open": [True, False],
            "day": [day, None],
            "moment": [moment, datetime.datetime(1999, 1, 1)],
            "missing": [float("nan"), float("nan")],
            "tags": [["x", "y"], []],
            "place": [{"lat": 1.5, "at": {"zip": "007"}}, None],
            "kind": pl.Series(["u", "v"], dtype=pl.Categorical),
        }
    )
    kg = kg_of(tmp_path, {"a.parquet": parquet(table)})
    assert set(kg.entities) == {"1000000000000000", "2"}
    assert {(name, value, kind) for entity, name, value, kind in literals(kg) if entity != "2"} == {
        ("whole", "1815", f"{XSD}double"),
        ("large", "12345678901234567", f"{XSD}integer"),
        ("share", "0.1", f"{XSD}double"),
        ("is_open", "true", f"{XSD}boolean"),
        ("day", "2020-02-01", f"{XSD}date"),
        ("moment", "2020-02-01T03:04:05", f"{XSD}dateTime"),
        ("tags", "x", ""),
        ("tags", "y", ""),
        ("place.lat", "1.5", f"{XSD}double"),
        ("place.at.zip", "007", ""),
        ("kind", "u", ""),
    }
    assert ("2", "moment", "1999-01-01", f"{XSD}date") in literals(kg)
    assert not values_of(kg, "missing")


def test_a_binary_column_is_left_out_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = pl.DataFrame({"id": ["x"], "label": ["Oslo"], "raw": [b"\xff"], "size": ["1"]})
    assert {name for _, name, _, _ in literals(kg_of(tmp_path, {"a.parquet": parquet(table)}))} == {"label", "size"}
    assert "not read, because they are not text: the columns raw" in caplog.text


def test_json_lists_are_several_values_and_objects_are_columns(tmp_path: Path) -> None:
    lines = [{"id": 1, "names": ["Oslo", "Christiania"], "at": {"lat": 59.9}}, {"id": 2, "names": ["Bergen"]}]
    kg = kg_of(tmp_path, {"a.jsonl": "\n".join(map(json.dumps, lines))})
    assert values_of(kg, "names") == {"1": {"Oslo", "Christiania"}, "2": {"Bergen"}}
    assert values_of(kg, "at.lat") == {"1": {"59.9"}}
    assert names_of(kg).height == 3


def test_json_numbers_and_text_under_one_key_become_text(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.jsonl": '{"id": 1, "code": 7}\n{"id": "x", "code": "7b"}\n'})
    assert values_of(kg, "code") == {"1": {"7"}, "x": {"7b"}}


def test_json_texts_and_lists_of_texts_may_be_mixed(tmp_path: Path) -> None:
    lines = [
        '{"id": 1, "name": "Oslo"}',
        '{"id": 2, "name": ["Bergen", "Bj\\u00f8rg\\"vin"]}',
        '{"id": 3, "name": "[?]"}',
    ]
    kg = kg_of(tmp_path, {"a.jsonl": "\n".join(lines)})
    assert values_of(kg, "name") == {"1": {"Oslo"}, "2": {"Bergen", 'Bjørg"vin'}, "3": {"[?]"}}


def test_json_lines_with_head_relation_and_tail_are_triples(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.jsonl": '{"head": "a", "relation": "r", "tail": "b"}\n'})
    assert facts(kg) == {("a", "r", "b")}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_small_blocks_give_the_same_records_as_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rows = [{"id": f"x{i}", "name": f"name {i}", "next": f"x{(i + 1) % 40}"} for i in range(40)]
    text = text_table(rows, ",") if name == "a.csv" else "".join(json.dumps(row) + "\n" for row in rows)
    whole = kg_of(tmp_path, {name: text})
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 64)
    assert_same_kg(whole, kg_of(tmp_path, {name: text}))
    assert len(whole.triples) == 40


def test_the_order_of_rows_and_columns_has_no_meaning(tmp_path: Path) -> None:
    turned = [dict(reversed(row.items())) for row in reversed(ROWS)]
    kgs = [kg_of(tmp_path / str(at), {"a.csv": text_table(rows, ",")}) for at, rows in enumerate((ROWS, turned))]
    assert_same_kg(*kgs)


def test_a_separator_divides_cells_into_several_values(tmp_path: Path) -> None:
    text = "id,names,parts\nx,Oslo | Christiania,y|z\ny,Bergen,\nz,Voss,x|y\n"
    kg = kg_of(tmp_path, {"a.csv": text}, table=TableChoices(separator="|"))
    assert values_of(kg, "names")["x"] == {"Oslo", "Christiania"}
    assert facts(kg) == {("x", "parts", "y"), ("x", "parts", "z"), ("z", "parts", "x"), ("z", "parts", "y")}


def test_a_column_of_numbers_is_a_relation_only_if_its_name_says_so(tmp_path: Path) -> None:
    rows = [{"id": i, "name": f"n{i}x", "rank": 9 - i, "parent_id": max(i - 1, 0)} for i in range(10)]
    kg = kg_of(tmp_path, {"a.csv": text_table(rows, ",")})
    assert kg.relations.to_list() == ["parent_id"]
    assert len(values_of(kg, "rank")) == 10


def test_a_column_that_repeats_the_id_is_no_relation(tmp_path: Path) -> None:
    rows = [{"id": name, "name": name, "size": 1, "x": 2} for name in ("Oslo", "Bergen", "Voss", "Moss")]
    kg = kg_of(tmp_path, {"a.csv": text_table(rows, ",")})
    assert not len(kg.triples)
    assert display_names(kg)["Oslo"] == "Oslo"


def test_dangling_values_of_a_relation_are_reported_and_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{"id": f"x{i}", "name": f"n{i}", "next": f"x{i + 1}", "y": ""} for i in range(20)]
    kg = kg_of(tmp_path, {"a.csv": text_table(rows, ",")})
    assert (len(kg.triples), len(kg.entities)) == (19, 20)
    assert "1 value of the relation 'next' is not the id of any record, such as 'x20'" in caplog.text


def test_a_declared_relation_is_one_even_if_few_values_are_ids(tmp_path: Path) -> None:
    text = "id,name,next\nx,Oslo,y\ny,Bergen,q\nz,Voss,w\n"
    assert facts(kg_of(tmp_path, {"a.csv": text})) == set()
    assert facts(kg_of(tmp_path, {"a.csv": text}, table=TableChoices(relations=("next",)))) == {("x", "next", "y")}


def test_a_column_with_a_role_is_no_relation(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.csv": text_table(ROWS, ",")}, roles={"country": "attribute"})
    assert not len(kg.triples)
    assert len(values_of(kg, "country")) == 3


def test_several_tables_of_one_kg_refer_to_each_other(tmp_path: Path) -> None:
    people = "id,name,city\na,Ada,x\nb,Bob,y\nc,Cyd,x\n"
    cities = "id,name,mayor\nx,Oslo,a\ny,Bergen,b\n"
    toml = '[kgs.en]\nfile = ["people.csv", "cities.csv"]\n[kgs.fr]\nfile = "fr.csv"\n'
    files = {"people.csv": people, "cities.csv": cities, "fr.csv": "id,label\nq,Oslo\n", "dataset.toml": toml}
    kg = load_with(tmp_path, files).kgs[0]
    assert {("a", "city", "x"), ("b", "city", "y"), ("c", "city", "x")} <= facts(kg)


def test_dataset_toml_names_the_columns_of_a_table(tmp_path: Path) -> None:
    toml = """\
[kgs.en]
file = "en.csv"
delimiter = "|"
id = "code"
names = ["title", "other"]
attributes = ["name"]
ignore = ["note"]
relations = ["in"]
separator = "/"
[kgs.fr]
file = "fr.xlsx"
sheet = "data"
"""
    text = "note|code|title|other|name|in\nn|x|Oslo|Christiania/Kristiania|c|y\nn|y|Norway|||\n"
    sheets = excel(("notes", [["read me"]]), ("data", [["id", "label"], [1, "Oslo"], [None, None], [2, "Norvège"]]))
    task = load_with(tmp_path, {"en.csv": text, "fr.xlsx": sheets, "dataset.toml": toml})
    english, french = task.kgs
    names = {(english.entities[entity], name) for entity, name in names_of(english).rows()}
    assert names == {("x", "Oslo"), ("x", "Christiania"), ("x", "Kristiania"), ("y", "Norway")}
    assert facts(english) == {("x", "in", "y")}
    roles = dict(properties_of(english).select("property", "role").rows())
    assert roles == {"title": "name", "other": "name", "name": "attribute", "note": "ignore"}
    assert display_names(french) == {"1": "Oslo", "2": "Norvège"}


def test_dataset_toml_names_properties_of_rdf_by_iri_or_local_name(tmp_path: Path) -> None:
    toml = """\
[kgs.en]
file = "en.nt"
names = ["http://en.org/called"]
ignore = ["label"]
[kgs.fr]
file = "fr.nt"
"""
    fact = '<http://{}.org/a> <http://{}> "{}" .\n'
    english = fact.format("en", "en.org/called", "Oslo") + fact.format("en", "www.w3.org/2000/01/rdf-schema#label", "x")
    french = fact.format("fr", "fr.org/label", "Oslo")
    task = load_with(tmp_path, {"en.nt": english, "fr.nt": french, "dataset.toml": toml})
    assert names_of(task.kgs[0])["name"].to_list() == names_of(task.kgs[1])["name"].to_list() == ["Oslo"]


def test_roles_for_all_kgs_count_more_than_dataset_toml_and_are_recorded(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = "en.csv"\nattributes = ["note"]\n[kgs.fr]\nfile = "fr.csv"\n'
    files = {"en.csv": "id,note\nx,Oslo\ny,Voss\n", "fr.csv": "id,label\nx,Oslo\n", "dataset.toml": toml}
    task = load_with(tmp_path, files, roles={"note": "name", "label": "ignore"})
    assert task.kgs[0].property_roles == {"note": "name"}
    assert task.kgs[1].property_roles == {"label": "ignore"}
    data = task.origin.data
    assert (data.names, data.attributes, data.ignore) == (("note",), (), ("label",))


def test_repeated_rows_of_entities_tsv_are_several_names(tmp_path: Path) -> None:
    entities = "kg\tentity\tlabel\nen\tx\tOslo\nen\tx\tChristiania\nen\ty\t\n"
    task = load_with(tmp_path, {"en.tsv": "x\tr\ty\n", "fr.tsv": "x\tr\ty\n", "entities.tsv": entities})
    assert names_of(task.kgs[0])["name"].to_list() == ["Christiania", "Oslo"]
    assert task.kgs[0].given_names.height == 2


def test_groups_in_parquet_with_missing_whole_numbers_find_their_records(tmp_path: Path) -> None:
    groups = pl.DataFrame({"en": [1.0, 2.0, None], "fr": ["x", "y", "z"]})
    files = {"en.csv": "id,label\n1,Oslo\n2,Voss\n", "fr.csv": "id,label\nx,Oslo\ny,Voss\nz,Moss\n"}
    task = load_with(tmp_path, {**files, "seeds.parquet": parquet(groups.head(2))})
    assert len(task.seeds) == 2


def test_groups_may_be_separated_by_semicolons(tmp_path: Path) -> None:
    files = {"en.csv": "id;label\n1;Oslo\n", "fr.csv": "id;label\nx;Oslo\n", "seeds.csv": "en;fr\n1;x\n"}
    assert len(load_with(tmp_path, files).seeds) == 1
