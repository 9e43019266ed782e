"""The merged KG: every original fact can be restored from it, and every fact names its sources."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyoxigraph
import pytest

import multiea
from multiea import Alignment, InputError, Task
from multiea.data.iris import names_of
from multiea.grouping.duplicates import Duplicates
from support.datasets import facts, literals, write_files
from support.handmade import alignment_of


def restored(folder: Path, name: str) -> dict[str, set[tuple[str, str, str]]]:
    """The original facts of each KG, from the merged KG and its undo files."""
    entities = pl.read_parquet(folder / f"{name}.nq.undo-entities.parquet")
    exact = pl.read_parquet(folder / f"{name}.nq.undo-facts.parquet").filter(pl.col("type").is_null())
    several = entities.filter(pl.struct("source", "merged").is_duplicated()).select("source", "merged").unique()
    ambiguous = set(several.iter_rows())
    back = {(source, merged): entity for source, entity, merged in entities.iter_rows()}
    result: dict[str, set[tuple[str, str, str]]] = {}
    for quad in pyoxigraph.parse(path=folder / f"{name}.nq", format=pyoxigraph.RdfFormat.N_QUADS):
        if isinstance(quad.object, pyoxigraph.Literal):
            continue
        source = names_of(pl.Series([quad.graph_name.value]))[0]
        ends = [(source, end.value) for end in (quad.subject, quad.object)]
        if not ambiguous & set(ends):
            head, tail = (back.get(end, end[1]) for end in ends)
            relation = names_of(pl.Series([quad.predicate.value]))[0]
            result.setdefault(source, set()).add((head, relation, tail))
    for source, head, relation, tail, _ in exact.iter_rows():
        result.setdefault(source, set()).add((head, relation, tail))
    return result


def test_every_original_fact_can_be_restored_from_the_merged_kg(
    aligned: Alignment, three: Alignment, tmp_path: Path
) -> None:
    oslo = three.found.groups.members[0, 1]
    extra = Duplicates(np.array([0]), np.array([1]), np.array([1 if oslo != 1 else 2], np.int32), np.array([0.5]))
    with_duplicates = replace(three, duplicates=extra)
    for number, alignment in enumerate((aligned, three, with_duplicates)):
        alignment.to_merged(tmp_path / f"m{number}.nq")
        back = restored(tmp_path, f"m{number}")
        for kg in alignment.task.kgs:
            assert back[kg.name] == facts(kg)
    assert (
        len(pl.read_parquet(tmp_path / "m1.nq.undo-facts.parquet"))
        == 0
        < len(pl.read_parquet(tmp_path / "m2.nq.undo-facts.parquet"))
    )


def test_facts_that_become_equal_are_one_fact_with_all_sources(three: Alignment, tmp_path: Path) -> None:
    three.to_merged(tmp_path / "m.parquet")
    table = pl.read_parquet(tmp_path / "m.parquet")
    of_oslo = table.filter((pl.col("head") == "http://o.org/Oslo") & (pl.col("tail") == "http://o.org/Norway"))
    assert of_oslo["sources"].to_list() == [["one", "two", "drei & <3>"]]
    assert len(table) == 6  # 8 facts of three KGs, three of which are one
    three.to_merged(tmp_path / "m.nq")
    store = pyoxigraph.Store()
    store.load(path=tmp_path / "m.nq", format=pyoxigraph.RdfFormat.N_QUADS)
    assert len(store) == 8
    asked = "SELECT DISTINCT ?s ?p ?o WHERE { GRAPH ?g { ?s ?p ?o } }"
    solutions = store.query(asked)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    assert len(list(solutions)) == len(table)


def test_literals_are_merged_with_their_types(tmp_path: Path) -> None:
    text = '"a \\"quoted\\" \\\\ text\\nof two lines"'
    write_files(tmp_path / "d", {
        "a.nt": f"<http://a/x> <http://p/l> {text}@en .\n"
                '<http://a/x> <http://p/n> "3"^^<http://www.w3.org/2001/XMLSchema#int> .\n'
                "<http://a/x> <http://p/r> <http://a/y> .\n",
        "b.nt": f"<http://b/x> <http://p/l> {text}@en .\n<http://b/y> <http://p/l> {text}@en .\n"
                "<http://b/x> <http://p/r> <http://b/y> .\n",
        "seeds.tsv": "a\tb\nhttp://a/x\thttp://b/x\nhttp://a/y\thttp://b/y\n",
    })  # fmt: skip
    task = multiea.load(tmp_path / "d")
    alignment = alignment_of(list(task.kgs), task.seeds.members.tolist(), [])
    alignment.to_merged(tmp_path / "m.nq")
    read = multiea.load([tmp_path / "m.nq", tmp_path / "d" / "a.nt"]).kgs[0]
    subject = read.entities[0]
    assert {row[1:] for row in literals(read)} == {
        ("http://p/l", 'a "quoted" \\ text\nof two lines', "@en"),
        ("http://p/n", "3", "http://www.w3.org/2001/XMLSchema#int"),
    }
    alignment.to_merged(tmp_path / "m.parquet")
    table = pl.read_parquet(tmp_path / "m.parquet").filter(pl.col("type").is_not_null())
    assert sorted(table["sources"].to_list()) == [["a"], ["a", "b"], ["b"]]
    assert subject in set(pl.read_parquet(tmp_path / "m.parquet")["head"]) | set(
        pl.read_parquet(tmp_path / "m.parquet")["tail"]
    )


def test_names_that_no_fact_states_are_merged_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.tsv").write_text("x\tnear\ty\n")
    (tmp_path / "data" / "b.ttl").write_text(
        '<http://b/x> <http://b/near> <http://b/y> ; <http://www.w3.org/2000/01/rdf-schema#label> "Ex"@en .'
    )
    (tmp_path / "data" / "entities.tsv").write_text('kg\tentity\tlabel\na\tx\tThe "x"\nb\thttp://b/y\tWhy\n')
    (tmp_path / "data" / "seeds.tsv").write_text("a\tb\nx\thttp://b/x\n")
    task = multiea.load(tmp_path / "data")
    alignment = alignment_of(list(task.kgs), task.seeds.members.tolist(), [])
    alignment.to_merged(tmp_path / "merged.nq", prefer=["b"])
    quads = pyoxigraph.parse(path=str(tmp_path / "merged.nq"), format=pyoxigraph.RdfFormat.N_QUADS)
    labels = [quad for quad in quads if quad.predicate.value.endswith("#label")]
    assert {
        (quad.subject.value, quad.object.value, quad.object.language, quad.graph_name.value) for quad in labels
    } == {
        ("http://b/x", 'The "x"', None, "urn:multiea:kg:a"),
        ("http://b/x", "Ex", "en", "urn:multiea:kg:b"),
        ("http://b/y", "Why", None, "urn:multiea:kg:b"),
    }
    alignment.to_merged(tmp_path / "merged.parquet", prefer=["b"])
    table = pl.read_parquet(tmp_path / "merged.parquet").filter(pl.col("relation").str.ends_with("#label"))
    assert set(table["tail"]) == {'The "x"', "Ex", "Why"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # raised inside torch_geometric on import
def test_the_merged_kg_becomes_graphs_of_other_libraries(three: Alignment) -> None:
    graph = three.to_networkx()
    assert graph.number_of_nodes() == 7
    assert graph.number_of_edges() == 6
    edge = graph.edges["http://o.org/Oslo", "http://o.org/Norway", "urn:multiea:relation:in"]
    assert edge["sources"] == ["one", "two", "drei & <3>"]
    data = three.to_pyg()
    assert data.num_nodes == 7
    assert data.edge_index.shape == (2, 6)
    assert data.sources.sum() == 8
    assert data.validate()


def test_a_run_without_triples_cannot_be_merged(small: Task, tmp_path: Path) -> None:
    multiea.align(small).save(tmp_path / "run")
    with pytest.raises(InputError, match="no triples, so there is nothing to merge"):
        multiea.open(tmp_path / "run").to_merged(tmp_path / "m.nq")
