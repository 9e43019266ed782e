"""Known groups are read from tables, SSSOM mappings and owl:sameAs links."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import multiea
from support.datasets import group, named, parquet, write_files
from support.reading import FRENCH, GERMAN, SAME_AS, TSV, iri_kgs, load_with


@pytest.mark.parametrize("name", ["seeds.tsv", "seeds.csv", "seeds.parquet"])
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_tables_of_groups_are_read_in_every_format(tmp_path: Path, name: str, gz: str) -> None:
    table = pl.DataFrame(
        {"fr": ["Norvège", "Oslo", None], "en": ["Norway", "Oslo", "country"], "de": ["Norwegen", None, "Land"]}
    )
    content: str | bytes = table.write_csv(separator="\t" if name.endswith("tsv") else ",")
    if name.endswith("parquet"):
        content = gzip.compress(parquet(table)) if gz else parquet(table)
    task = load_with(tmp_path, {"en.tsv": TSV, "fr.tsv": FRENCH, "de.tsv": GERMAN, f"{name}{gz}": content})
    assert named(task.seeds, task) == {
        group(fr="Norvège", en="Norway", de="Norwegen"),
        group(fr="Oslo", en="Oslo"),
        group(en="country", de="Land"),
    }


def test_a_group_with_one_member_is_ignored_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    task = load_with(tmp_path, {"en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\t\nNorway\tNorvège\n"})
    assert named(task.seeds, task) == {group(en="Norway", fr="Norvège")}
    assert "ignored 1 group with a single member" in caplog.text


def test_a_group_table_may_omit_kgs(tmp_path: Path) -> None:
    task = load_with(
        tmp_path, {"en.tsv": TSV, "fr.tsv": FRENCH, "de.tsv": GERMAN, "seeds.tsv": "de\ten\nNorwegen\tNorway\n"}
    )
    assert named(task.seeds, task) == {group(de="Norwegen", en="Norway")}


def test_the_order_of_groups_and_columns_does_not_change_the_split(tmp_path: Path) -> None:
    kgs: dict[str, str | bytes] = {
        f"{kg}.tsv": "".join(f"{kg}{i}\tr\t{kg}{i + 1}\n" for i in range(20)) for kg in ("en", "fr", "de")
    }
    rows = [(f"en{i}", f"fr{20 - i}", f"de{i}" if i % 3 else "") for i in range(1, 20)]
    straight = "en\tfr\tde\n" + "".join("\t".join(row) + "\n" for row in rows)
    turned = "de\ten\tfr\n" + "".join("\t".join((row[2], row[0], row[1])) + "\n" for row in reversed(rows))
    one = load_with(tmp_path / "one", {**kgs, "groups.tsv": straight})
    two = load_with(tmp_path / "two", {**kgs, "groups.tsv": turned})
    assert named(one.seeds, one) == named(two.seeds, two)
    assert len(one.seeds) == 6


SSSOM = """\
#mapping_set_id: https://w3id.org/sssom/mappings/1
#mapping_date: 2024-05-01
#curie_map:
#  EN: http://en.org/
#  FR: "http://fr.org/"
subject_id\tsubject_label\tpredicate_id\tobject_id\tpredicate_modifier\tmapping_justification
EN:1\tone\tskos:exactMatch\tFR:1\t\tsemapv:ManualMappingCuration
http://en.org/2\ttwo\towl:sameAs\tFR:2\t\tsemapv:ManualMappingCuration
FR:2\tdeux\thttp://www.w3.org/2004/02/skos/core#exactMatch\thttp://de.org/2\t\tsemapv:ManualMappingCuration
EN:3\tthree\tskos:broadMatch\tFR:3\t\tsemapv:ManualMappingCuration
EN:4\tfour\tskos:exactMatch\tFR:4\tNot\tsemapv:ManualMappingCuration
"""


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_exact_sssom_mappings_become_groups(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, gz: str, line_end: str
) -> None:
    task = load_with(tmp_path, {**iri_kgs(tmp_path), f"seeds.sssom.tsv{gz}": SSSOM.replace("\n", line_end)})
    assert named(task.seeds, task) == {
        group(en="http://en.org/1", fr="http://fr.org/1"),
        group(en="http://en.org/2", fr="http://fr.org/2", de="http://de.org/2"),
    }
    assert "ignored 2 mappings: not exact, or negated" in caplog.text


def test_sssom_ids_that_a_kg_writes_as_curies_stay_unchanged(tmp_path: Path) -> None:
    files = {
        "en.tsv": "EN:1\tr\tEN:2\n",
        "fr.tsv": "FR:1\tr\tFR:2\n",
        "seeds.sssom.tsv": "\n".join(SSSOM.split("\n")[:7]),
    }
    task = load_with(tmp_path, files)
    assert named(task.seeds, task) == {group(en="EN:1", fr="FR:1")}


@pytest.mark.parametrize("where", ["columns", "metadata"])
def test_sssom_sources_determine_the_kg(tmp_path: Path, where: str) -> None:
    kgs = {"en.tsv": "Oslo\tr\tb\n", "fr.tsv": "Oslo\tr\tb\n", "de.tsv": "Oslo\tr\tc\n"}
    seeds = "#subject_source: de\n#object_source: fr\nsubject_id\tpredicate_id\tobject_id\nOslo\towl:sameAs\tOslo\n"
    if where == "columns":
        header = "subject_id\tsubject_source\tpredicate_id\tobject_id\tobject_source\n"
        seeds = header + "Oslo\tde\towl:sameAs\tOslo\tfr\n"
    task = load_with(tmp_path, {**kgs, "seeds.sssom.tsv": seeds})
    assert named(task.seeds, task) == {group(de="Oslo", fr="Oslo")}


def test_unusual_spaces_in_sssom_labels_do_not_end_a_line(tmp_path: Path) -> None:
    header = "subject_id\tsubject_label\tpredicate_id\tobject_id\n"
    row = "http://en.org/1\ta\u2028b\x85c\x0bd\towl:sameAs\thttp://fr.org/1\n"
    task = load_with(tmp_path, {**iri_kgs(tmp_path), "seeds.sssom.tsv": header + row})
    assert named(task.seeds, task) == {group(en="http://en.org/1", fr="http://fr.org/1")}


@pytest.mark.parametrize("name", ["seeds.nt", "seeds.nq.gz", "seeds.ttl", "seeds.ttl.gz"])
def test_connected_same_as_links_become_one_group(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    links = [("http://fr.org/1", "http://en.org/1"), ("http://de.org/1", "http://fr.org/1")]
    links += [("http://en.org/2", "http://de.org/2"), ("http://de.org/2", "http://en.org/2")]
    text = "".join(SAME_AS.format(*link) for link in links) + '<http://en.org/1> <http://x.org/p> "no link" .\n'
    task = load_with(tmp_path, {**iri_kgs(tmp_path), name: text})
    assert named(task.seeds, task) == {
        group(en="http://en.org/1", fr="http://fr.org/1", de="http://de.org/1"),
        group(en="http://en.org/2", de="http://de.org/2"),
    }
    assert "ignored 1 triple other than owl:sameAs between IRIs" in caplog.text


def test_same_as_links_in_rdf_xml_become_groups(tmp_path: Path) -> None:
    text = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#">
    <rdf:Description rdf:about="http://en.org/1"><owl:sameAs rdf:resource="http://fr.org/1"/></rdf:Description>
    </rdf:RDF>"""
    task = load_with(tmp_path, {**iri_kgs(tmp_path), "seeds.rdf": text})
    assert named(task.seeds, task) == {group(en="http://en.org/1", fr="http://fr.org/1")}


def test_links_through_an_unknown_entity_still_connect(tmp_path: Path) -> None:
    graphs = {f"{kg}.nt": f"<http://{kg}/a> <http://r> <http://{kg}/b> .\n" for kg in ("en", "fr")}
    same = "<http://{}> <http://www.w3.org/2002/07/owl#sameAs> <http://{}> .\n"
    write_files(tmp_path, {**graphs, "seeds.nt": same.format("en/a", "wd/Q1") + same.format("fr/b", "wd/Q1")})
    task = multiea.load(tmp_path, lenient=True)
    assert named(task.seeds, task) == {group(en="http://en/a", fr="http://fr/b")}
    assert "1 entity in the groups is not in the KG" in task.origin.warnings[0]
