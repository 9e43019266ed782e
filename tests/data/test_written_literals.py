"""A data set with literals is written such that load() reads the same facts and names."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse

import multiea
from multiea.data.n_triples import ABSOLUTE_IRI, BLANK_NODE
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.write import write_kgs, write_task
from support.datasets import assert_same_kg, display_names, facts, literals, named, write_files

NT = r"""
<http://x.org/a> <http://x.org/p> <http://x.org/b> .
<http://x.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "A \"quoted\" name\nin two lines, with a \\" .
<http://x.org/a> <http://www.w3.org/2004/02/skos/core#altLabel> "another"@en-gb .
<http://x.org/b> <http://x.org/height> "3.5"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<http://x.org/b> <http://x.org/height> "4"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<urn:x:c> <http://x.org/note> "" .
_:d <http://x.org/p> <urn:x:c> .
_:d <http://x.org/note> "tab\there" .
"""
TSV = "u\tr\tv\nv\tr\tw\n"


def written_and_read(task: multiea.Task, folder: Path) -> multiea.Task:
    folder.mkdir()
    write_task(task, folder)
    return multiea.load(folder)


def test_literals_of_every_kind_are_read_back(tmp_path: Path) -> None:
    groups = "one\ttwo\nhttp://x.org/a\tu\n"
    entities = "kg\tentity\tlabel\none\turn:x:c\tthe third\ntwo\tu\tthe first\n"
    files = {"one.nt": NT, "two.tsv": TSV, "groups.tsv": groups, "entities.tsv": entities}
    task = multiea.load(write_files(tmp_path / "first", files))
    again = written_and_read(task, tmp_path / "second")
    for kg, twice in zip(task.kgs, again.kgs, strict=True):
        assert_same_kg(kg, twice)
        assert literals(kg) == literals(twice)
        assert display_names(kg) == display_names(twice)
    assert len(literals(again.kgs[0])) == 6
    assert named(again.known, again) == named(task.known, task)
    assert (tmp_path / "second" / "two.tsv").is_file()
    # a name that is a fact is not repeated as a name
    assert (tmp_path / "second" / "entities.tsv").read_text(encoding="utf-8") == entities


def test_a_synthetic_data_set_is_read_back_after_reading_and_writing(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    write_synthetic(Synthesis(entities=200, names=True, attributes=True), tmp_path / "first")
    task = multiea.load(tmp_path / "first")
    again = written_and_read(task, tmp_path / "second")
    for kg, twice in zip(task.kgs, again.kgs, strict=True):
        assert facts(kg) == facts(twice)
        assert literals(kg) == literals(twice)
        assert display_names(kg) == display_names(twice)


def test_literals_of_a_kg_whose_ids_are_no_iris_are_left_out_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kg = multiea.KnowledgeGraph.from_triples("one", [("Oslo", "in", "Norway")])
    table = {"entity": [0], "property": ["population"], "value": ["700000"], "type": [""]}
    stated = pl.DataFrame(table).cast(kg.literals.schema)
    with_literals = multiea.KnowledgeGraph(kg.name, kg.entities, kg.relations, kg.triples, literals=stated)
    write_kgs((with_literals,), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["one.tsv"]
    assert re.search("1 literal not written.*is not an IRI", caplog.text)


def parsed_subject(term: str) -> str:
    """The subject that the reader takes from a line."""
    quad = next(iter(parse(f'{term} <p:q> "x" .\n'.encode(), format=RdfFormat.N_TRIPLES)))
    return str(quad.subject)


def fits(text: str, pattern: str) -> bool:
    return bool(pl.Series([text]).str.contains(pattern)[0])


@given(st.from_regex(r"[a-z]{1,3}[0-9_]?:(//)?[a-z0-9:/@?#%\[\].é\ue000 |-]{0,12}", fullmatch=True))
def test_what_is_written_as_an_iri_is_read_unchanged(iri: str) -> None:
    if fits(iri, ABSOLUTE_IRI):
        assert parsed_subject(f"<{iri}>") == f"<{iri}>"


@given(st.from_regex(r"_:[A-Za-z0-9_.\[\]é-]{1,6}", fullmatch=True))
def test_what_is_written_as_a_blank_node_is_read_unchanged(node: str) -> None:
    if fits(node, BLANK_NODE):
        assert parsed_subject(node) == node


@pytest.mark.parametrize(
    "iri", ["kg1:5", "http://x.org/a?b=c#d", "urn:isbn:1", "http://x.org:80/%C3%A9", "http://x.org", "a:/b", "a:é"]
)
def test_common_iris_can_be_written(iri: str) -> None:
    assert fits(iri, ABSOLUTE_IRI)
    assert parsed_subject(f"<{iri}>") == f"<{iri}>"


@pytest.mark.parametrize("iri", ["Oslo", "a b:c", "kg_1:5", "http://a:b/", "a:b#c#d", "a:%zz", "a:<b>", "1a:b"])
def test_other_ids_cannot(iri: str) -> None:
    assert not fits(iri, ABSOLUTE_IRI)
