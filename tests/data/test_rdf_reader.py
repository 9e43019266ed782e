"""RDF in all formats is read to the same KG, plain and gzipped."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from support.datasets import assert_same_kg, display_names, facts, literals
from support.reading import RDF_FACTS, RDF_FILES, X, kg_of, load_with

RDF_LITERALS = {
    (f"{X}a", "http://www.w3.org/2000/01/rdf-schema#label", "A 'one'", "@en"),
    (f"{X}a", f"{X}size", "3", "http://www.w3.org/2001/XMLSchema#integer"),
    (f"{X}b", f"{X}note", "two\nlines", "http://www.w3.org/2001/XMLSchema#string"),
}


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("name", RDF_FILES)
def test_rdf_gives_triples_between_entities_and_separate_literals(tmp_path: Path, name: str, gz: str) -> None:
    kg = kg_of(tmp_path, {f"{name}{gz}": RDF_FILES[name]})
    assert facts(kg) == RDF_FACTS
    assert set(kg.relations) == {f"{X}p", f"{X}q"}
    assert literals(kg) == RDF_LITERALS
    assert display_names(kg) == {f"{X}a": "A 'one'"}


def test_a_subject_of_literals_only_is_an_entity(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.nt": f'<{X}a> <{X}p> <{X}b> .\n<{X}c> <{X}size> "1" .\n'})
    assert set(kg.entities) == {f"{X}a", f"{X}b", f"{X}c"}


def test_blank_nodes_keep_their_labels_and_anonymous_ones_get_reproducible_ids(tmp_path: Path) -> None:
    text = "@prefix : <http://x.org/> .\n:a :p _:one . _:one :p [ :q :b ] . :c :p [ :q :d ] ."
    kg = kg_of(tmp_path, {"a.ttl": text})
    assert_same_kg(kg, kg_of(tmp_path, {"a.ttl": text}))
    first = next(tail for head, _, tail in facts(kg) if head == "_:one")
    second = next(tail for head, _, tail in facts(kg) if head == f"{X}c")
    assert first.startswith("_:")
    assert second.startswith("_:")
    assert facts(kg) == {
        (f"{X}a", f"{X}p", "_:one"),
        ("_:one", f"{X}p", first),
        (first, f"{X}q", f"{X}b"),
        (f"{X}c", f"{X}p", second),
        (second, f"{X}q", f"{X}d"),
    }
    assert len({"_:one", first, second}) == 3


def test_an_anonymous_blank_node_is_never_confused_with_a_labelled_one(tmp_path: Path) -> None:
    text = "@prefix : <http://x.org/> .\n_:anonymous1 :p :a . [] :p :b . _:anonymous2 :p :c ."
    kg = kg_of(tmp_path, {"a.ttl": text})
    assert len(kg.entities) == 6
    assert len({head for head, _, _ in facts(kg)}) == 3


def test_equal_blank_node_labels_in_two_files_of_a_kg_are_two_nodes(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"one.nt": f"_:b <{X}p> <{X}a> .\n", "two.nt": f"_:b <{X}p> <{X}a> .\n"})
    assert len(kg.triples) == 2
    assert len(kg.entities) == 3


def test_relative_iris_are_resolved_against_the_base_of_the_file(tmp_path: Path) -> None:
    assert facts(kg_of(tmp_path, {"a.ttl": "@base <http://x.org/deep/> . <a> <../p> <#b> ."})) == {
        ("http://x.org/deep/a", "http://x.org/p", "http://x.org/deep/#b")
    }


def test_relative_iris_without_a_base_are_the_same_in_every_folder(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert_same_kg(
        kg_of(tmp_path / "one", {"a.ttl": "<a> <p> <b> ."}), kg_of(tmp_path / "two", {"a.ttl": "<a> <p> <b> ."})
    )


def test_unicode_and_escapes_in_rdf_are_equivalent(tmp_path: Path) -> None:
    escaped = kg_of(tmp_path, {"a.nt": f'<{X}caf\\u00e9> <{X}p> <{X}b> .\n<{X}b> <{X}l> "\\U0001F600" .\n'})
    plain = kg_of(tmp_path, {"a.nt": f'<{X}café> <{X}p> <{X}b> .\n<{X}b> <{X}l> "😀" .\n'})
    assert_same_kg(escaped, plain)


def test_an_english_name_is_preferred_in_any_order(tmp_path: Path) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = [f'<{X}a> {label} "Norvège"@fr .', f'<{X}a> {label} "Norway"@en .', f"<{X}a> <{X}p> <{X}b> ."]
    for order in (lines, lines[::-1]):
        assert display_names(kg_of(tmp_path, {"a.nt": "\n".join(order)})) == {f"{X}a": "Norway"}


def test_a_triple_in_two_named_graphs_counts_once(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.nq": f"<{X}a> <{X}p> <{X}b> <{X}g> .\n<{X}a> <{X}p> <{X}b> <{X}h> .\n"})
    assert (len(kg.triples), kg.duplicates) == (1, 1)


def test_restricting_a_kg_keeps_names_and_literals_of_the_remaining_entities(tmp_path: Path) -> None:
    prefixes = "@prefix : <http://x/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    turtle = prefixes + ':a :p :b ; r:label "A" .\n:c :p :b ; r:label "C" .\n'
    kg = load_with(tmp_path, {"a.ttl": turtle, "b.tsv": "x\tr\ty\n"}).kgs[0]
    small = kg.restricted_to(numpy.array([name != "http://x/a" for name in kg.entities]))
    assert display_names(small) == {"http://x/c": "C"}
    assert {row[2] for row in literals(small)} == {"C"}
    assert {row[0] for row in literals(small)} == {"http://x/c"}
