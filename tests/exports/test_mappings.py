"""SSSOM, owl:sameAs and the Alignment format: other readers accept them, and read the same groups back."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
import rdflib

from multiea import Alignment, KnowledgeGraph
from multiea.data.iris import names_of
from multiea.data.readers import read_groups
from support.datasets import named
from support.handmade import alignment_of, positions


def pairs_of(alignment: Alignment) -> set[frozenset[tuple[str, str]]]:
    groups = named(alignment.task.seeds, alignment.task) | named(alignment.found.groups, alignment.task)
    return {frozenset(pair) for group in groups for pair in combinations(sorted(group), 2)}


@pytest.mark.parametrize("kind", ["sssom.tsv", "nt"])
@pytest.mark.parametrize("closure", [False, True])
def test_mappings_are_read_back_as_the_same_groups(
    aligned: Alignment, three: Alignment, tmp_path: Path, kind: str, closure: bool
) -> None:
    for alignment in (aligned, three):
        path = tmp_path / f"{alignment.task.name}.{kind}"
        if kind == "nt":
            alignment.to_same_as(path, closure=closure)
        else:
            alignment.to_sssom(path, predicate="skos:exactMatch" if closure else "owl:sameAs")
        known = named(alignment.task.seeds, alignment.task) | named(alignment.found.groups, alignment.task)
        assert named(read_groups(path, alignment.task.kgs), alignment.task) == known


def test_same_as_is_a_star_or_all_pairs(three: Alignment, tmp_path: Path) -> None:
    star, closure = tmp_path / "star.nt", tmp_path / "closure.nt"
    assert three.to_same_as(star).records == 5
    assert three.to_same_as(closure, closure=True).records == 7
    graph = rdflib.Graph().parse(star)
    assert {str(subject) for subject in graph.subjects()} == {
        f"http://o.org/{name}" for name in ("Norway", "Oslo", "Rome")
    }
    assert all(str(predicate) == "http://www.w3.org/2002/07/owl#sameAs" for predicate in graph.predicates())


def test_sssom_is_valid_and_says_where_each_mapping_comes_from(aligned: Alignment, tmp_path: Path) -> None:
    path = tmp_path / "m.sssom.tsv"
    aligned.to_sssom(path)
    code = (
        "import sys, json\nfrom sssom.parsers import parse_sssom_table\nfrom sssom.validators import validate\n"
        "from sssom.constants import SchemaValidationType as Kind\n"
        "table = parse_sssom_table(sys.argv[1])\n"
        "kinds = [Kind.JsonSchema, Kind.PrefixMapCompleteness, Kind.StrictCurieFormat]\n"
        "found = validate(table, kinds, fail_on_error=False)\n"
        "wrong = [result.message for report in found.values() for result in report.results]\n"
        "counts = table.df['mapping_justification'].value_counts().to_dict()\n"
        "print(json.dumps([wrong, len(table.df), counts, table.metadata['extension_definitions'][0]['slot_name']]))"
    )
    answer = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    wrong, count, justifications, slot = json.loads(answer.stdout)
    assert not wrong
    assert slot == "ext_group_id"
    status, matched = aligned.pairs["status"], aligned.pairs["matched"]
    assert count == len(aligned.pairs)
    assert justifications == {
        "semapv:ManualMappingCuration": (status == "seed").sum(),
        "semapv:SemanticSimilarityThresholdMatching": ((status == "found") & matched).sum(),
        "semapv:MappingChaining": ((status == "found") & ~matched).sum(),
    }
    table = pl.read_csv(path, separator="\t", comment_prefix="#")
    assert set(table["ext_group_id"]) == set(aligned.groups["group_id"])


def test_sssom_keeps_names_that_are_not_ascii(tmp_path: Path) -> None:
    names = ["http://ja.example/日本語", "http://ja.example/caf%C3%A9", "0é", "http://ja.example/ü(x)"]
    kgs = [KnowledgeGraph.from_triples(kg, [(name, "r", names[0]) for name in names]) for kg in ("a", "b")]
    alignment = alignment_of(kgs, [positions(kgs[0], name) + positions(kgs[1], name) for name in names], [])
    path = tmp_path / "m.sssom.tsv"
    alignment.to_sssom(path)
    code = "import sys\nfrom sssom.parsers import parse_sssom_table\nprint(len(parse_sssom_table(sys.argv[1]).df))"
    answer = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert int(answer.stdout) == len(names)
    again = read_groups(path, kgs)
    assert named(again, alignment.task) == named(alignment.task.seeds, alignment.task)


def test_alignment_rdf_has_one_file_per_pair_of_kgs_with_all_cells(three: Alignment, tmp_path: Path) -> None:
    three.to_alignment_rdf(tmp_path / "out")
    space = rdflib.Namespace("http://knowledgeweb.semanticweb.org/heterogeneity/alignment#")
    kgs, read = three.task.kgs, set()
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["one-drei____3_.rdf", "one-two.rdf", "two-drei____3_.rdf"]
    for path in (tmp_path / "out").iterdir():
        graph = rdflib.Graph().parse(path, format="xml")
        ontologies = [next(graph.objects(predicate=space[f"onto{number}"])) for number in (1, 2)]
        owners = [names_of(pl.Series([str(one)]))[0] for one in ontologies]
        for cell in graph.subjects(predicate=space.entity1):
            ends = [str(next(graph.objects(cell, space[f"entity{number}"]))) for number in (1, 2)]
            read.add(frozenset(zip(owners, names_of(pl.Series(ends)), strict=True)))
            assert 0 < float(str(next(graph.objects(cell, space.measure)))) <= 1
    assert read == pairs_of(three)
    assert len(kgs) == 3
