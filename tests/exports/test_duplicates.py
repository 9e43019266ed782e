"""Duplicates in exports: links inside a KG are written, and mappings are still read back as seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import rdflib

import multiea
from multiea import Alignment, KnowledgeGraph
from multiea.data.iris import names_of
from multiea.data.readers import read_groups
from support.datasets import named


def sssom_table(alignment: Alignment, path: Path) -> pl.DataFrame:
    alignment.to_sssom(path)
    return pl.read_csv(path, separator="\t", comment_prefix="#")


def local_names(curies: pl.Series) -> list[str]:
    return [curie.split(":")[-1].split("/")[-1] for curie in curies]


def test_sssom_has_all_pairs_of_a_duplicate_and_says_which_were_compared(repeating: Alignment, tmp_path: Path) -> None:
    table = sssom_table(repeating, tmp_path / "m.sssom.tsv")
    inside = table.filter(pl.col("subject_source") == pl.col("object_source"))
    pairs = list(zip(local_names(inside["subject_id"]), local_names(inside["object_id"]), strict=True))
    assert sorted(pairs) == [("Christiania", "Tigerstaden"), ("Oslo", "Christiania"), ("Oslo", "Tigerstaden")]
    kinds = dict(zip(pairs, inside["mapping_justification"], strict=True))
    assert kinds["Oslo", "Christiania"].endswith("SemanticSimilarityThresholdMatching")
    assert kinds["Christiania", "Tigerstaden"].endswith("MappingChaining")
    confidence = dict(zip(pairs, inside["confidence"], strict=True))
    assert (confidence["Oslo", "Christiania"], confidence["Christiania", "Tigerstaden"]) == (0.5, 0.4)
    members = 3 + 1 + 3  # of the complete seed, the partial group and the complete group
    assert len(table) == members + len(inside) + 2 * 2  # each duplicate with the members of two other KGs


def test_same_as_links_a_duplicate_to_the_member_of_its_kg(repeating: Alignment, tmp_path: Path) -> None:
    repeating.to_same_as(tmp_path / "star.nt")
    graph = rdflib.Graph().parse(tmp_path / "star.nt")
    ends = [names_of(pl.Series([str(end) for end in some])) for some in zip(*graph.subject_objects(), strict=True)]
    links = set(zip(*ends, strict=True))
    assert {("Oslo", "Christiania"), ("Oslo", "Tigerstaden")} <= links
    assert repeating.to_same_as(tmp_path / "all.nt", closure=True).records == 3 + 1 + 10


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("m.sssom.tsv", Alignment.to_sssom),
        ("star.nt", Alignment.to_same_as),
        ("all.nt", lambda alignment, path: alignment.to_same_as(path, closure=True)),
    ],
)
def test_mappings_with_duplicates_are_read_back_as_the_groups_of_members(
    repeating: Alignment, tmp_path: Path, name: str, write: Callable[[Alignment, Path], object]
) -> None:
    write(repeating, tmp_path / name)
    task = repeating.task
    known = named(task.seeds, task) | named(repeating.found.groups, task)
    assert named(read_groups(tmp_path / name, task.kgs), task) == known


def test_alignment_rdf_has_the_pairs_of_duplicates_between_kgs(repeating: Alignment, tmp_path: Path) -> None:
    assert repeating.to_alignment_rdf(tmp_path / "rdf").records == 3 + 1 + 3 + 2 * 2
    cells = [path.read_text().count("<Cell>") for path in (tmp_path / "rdf").iterdir()]
    assert sum(cells) == 3 + 1 + 3 + 2 * 2


def test_a_run_folder_lists_duplicates_beside_groups_with_one_entity_of_each_kg(
    repeating: Alignment, tmp_path: Path
) -> None:
    repeating.save(tmp_path / "run")
    table = pl.read_csv(tmp_path / "run" / "duplicates.tsv", separator="\t")
    assert table.select("kg", "duplicate", "member", "confidence").rows() == [
        ("two", "Christiania", "Oslo", 0.5),
        ("two", "Tigerstaden", "Oslo", 0.4),
    ]
    task = repeating.task
    assert named(read_groups(tmp_path / "run" / "groups.tsv", task.kgs), task) == named(repeating.found.groups, task)
    opened = multiea.open(tmp_path / "run")
    assert opened.groups.equals(repeating.groups)
    assert set(opened.groups.filter(pl.col("status") == "duplicate")["entity"]) == {"Christiania", "Tigerstaden"}


def test_of_entities_linked_in_a_circle_inside_a_kg_the_first_by_id_is_kept(tmp_path: Path) -> None:
    left = KnowledgeGraph.from_triples("left", [("l:b", "near", "l:a")])
    right = KnowledgeGraph.from_triples("right", [("r:a", "near", "r:b")])
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    pairs = [("l:a", "l:b"), ("l:b", "l:a"), ("l:b", "r:a")]
    (tmp_path / "links.nt").write_text("".join(f"<{one}> {same} <{other}> .\n" for one, other in pairs))
    for kgs in ([left, right], [right, left]):
        groups = read_groups(tmp_path / "links.nt", kgs)
        assert groups.to_table(kgs).select("left", "right").rows() == [("l:a", "r:a")]
