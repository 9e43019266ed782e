"""Each export is read back by another reader and says what the groups say."""

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pyoxigraph
import pytest
import rdflib
import torch
from typer.testing import CliRunner

import multiea
from multiea import Alignment, Groups, InputError, KnowledgeGraph, OutputError, SettingError, Task
from multiea.cli.main import app
from multiea.data.groups import ABSENT
from multiea.data.iris import entity_iris, is_iri, kgs_of, names_of, relation_iris
from multiea.data.readers import read_groups
from multiea.exports.canonical import canonical
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.matching import FoundGroups
from multiea.similarity.enhancement import Enhancement
from support.datasets import facts, literals, named, write_files

NASTY = ["a b", "<x>", 'q"uote', "100%", "tab\there", "new\nline", "http://x.org/a b", "urn:multiea:entity:k:x", "ü/ñ",
         "_:blank", "http://ok.org/Ä#1", "http://ok.org/a%20b", "http://bad.org/100%", "back\\slash", "\ue000", "{}",
         "a:b:c", "[x]", "'", "&amp;"]  # fmt: skip


def made(kgs: list[KnowledgeGraph], seeds: list[list[int]], found: list[list[int]]) -> Alignment:
    """An alignment of these groups, positions in each KG, -1 where absent."""
    names = tuple(kg.name for kg in kgs)
    of_seeds, of_found = (
        Groups(names, np.array(rows, dtype=np.int32).reshape(-1, len(kgs))) for rows in (seeds, found)
    )
    confidence = np.where(of_found.present, np.linspace(0.9, 0.6, len(kgs)), 0.0)
    parts = FoundGroups.of_members(of_found, confidence)
    embeddings = torch.zeros(sum(len(kg.entities) for kg in kgs), 2)
    return Alignment(Task(kgs, of_seeds, name="made"), parts, embeddings, Enhancement("none"))


def at(kg: KnowledgeGraph, *names: str) -> list[int]:
    return kg.positions(pl.Series(names)).tolist()


@pytest.fixture
def three() -> Alignment:
    """Three KGs of four entities and a literal each, one seed, one whole and one partial group found."""
    one = KnowledgeGraph.from_triples("one", [("http://o.org/Oslo", "in", "http://o.org/Norway"),
                                              ("http://o.org/Oslo", "twin", "http://o.org/Rome"),
                                              ("http://o.org/Rome", "in", "http://o.org/Italy")])  # fmt: skip
    two = KnowledgeGraph.from_triples(
        "two", [("Oslo", "in", "Norge"), ("Roma", "in", "Italia"), ("Oslo", "near", "Oslo")]
    )
    three = KnowledgeGraph.from_triples("drei & <3>", [("Oslo", "in", "Norwegen"), ("Rom", "in", "Italien")])
    seed = [*at(one, "http://o.org/Norway"), *at(two, "Norge"), *at(three, "Norwegen")]
    whole = [*at(one, "http://o.org/Oslo"), *at(two, "Oslo"), *at(three, "Oslo")]
    partial = [*at(one, "http://o.org/Rome"), ABSENT, *at(three, "Rom")]
    return made([one, two, three], [seed], [whole, partial])


@pytest.fixture(scope="module")
def aligned(small: Task) -> Alignment:
    return multiea.align(small)


def pairs_of(alignment: Alignment) -> set[frozenset[tuple[str, str]]]:
    groups = named(alignment.task.seeds, alignment.task) | named(alignment.found.groups, alignment.task)
    return {frozenset(pair) for group in groups for pair in combinations(sorted(group), 2)}


def test_names_become_iris_and_come_back() -> None:
    names = pl.Series(NASTY)
    iris = entity_iris(names, "k&g:1")
    for iri in iris:
        pyoxigraph.NamedNode(iri)
        assert next(pyoxigraph.parse(f"<{iri}> <{iri}> <{iri}> .".encode(), format=pyoxigraph.RdfFormat.N_TRIPLES))
    assert names_of(iris).to_list() == NASTY
    assert iris.n_unique() == len(NASTY)
    assert [iri == name for iri, name in zip(iris, names, strict=True)] == [
        name in ("http://ok.org/Ä#1", "http://ok.org/a%20b") for name in NASTY
    ]
    ours = iris.filter(~is_iri(names))
    assert kgs_of(ours).to_list() == ["k&g:1"] * len(ours)
    assert names_of(relation_iris(names)).to_list() == NASTY


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "parquet"])
def test_groups_are_read_back_from_tables(aligned: Alignment, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"groups.{ending}"
    written = aligned.to_groups(path)
    readers = {"tsv": lambda file: pl.read_csv(file, separator="\t"), "csv": pl.read_csv, "jsonl": pl.read_ndjson}
    table = readers.get(ending, pl.read_parquet)(path)
    assert table.columns == ["group_id", "kg", "entity", "label", "confidence", "status"]
    assert written.records == len(table) == len(aligned.groups)
    assert table.drop("label").cast(aligned.groups.schema).equals(aligned.groups)


def test_a_name_with_a_tab_is_refused_in_tsv_and_written_elsewhere(tmp_path: Path) -> None:
    one = KnowledgeGraph.from_triples("one", [("a\tb", "r", 'say "x"'), ("a\tb", "r", "c")])
    two = KnowledgeGraph.from_triples("two", [("a", "r", 'say "x"')])
    alignment = made([one, two], [[*at(one, "a\tb"), *at(two, "a")]], [[*at(one, 'say "x"'), *at(two, 'say "x"')]])
    with pytest.raises(OutputError, match="hold a tab or a line break"):
        alignment.to_groups(tmp_path / "g.tsv")
    assert not list(tmp_path.iterdir())
    alignment.to_groups(tmp_path / "g.csv")
    assert pl.read_csv(tmp_path / "g.csv")["entity"].to_list() == alignment.groups["entity"].to_list()


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
    alignment = made(kgs, [at(kgs[0], name) + at(kgs[1], name) for name in names], [])
    path = tmp_path / "m.sssom.tsv"
    alignment.to_sssom(path)
    code = "import sys\nfrom sssom.parsers import parse_sssom_table\nprint(len(parse_sssom_table(sys.argv[1]).df))"
    answer = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert int(answer.stdout) == len(names)
    again = read_groups(path, kgs)
    assert named(again, alignment.task) == named(alignment.task.seeds, alignment.task)


def test_alignment_rdf_has_a_file_a_pair_with_all_its_cells(three: Alignment, tmp_path: Path) -> None:
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
            assert 0 < float(next(graph.objects(cell, space.measure))) <= 1
    assert read == pairs_of(three)
    assert len(kgs) == 3


def restored(folder: Path, name: str) -> dict[str, set[tuple[str, str, str]]]:
    """The original facts of each KG, from the merged KG and what leads back."""
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


def test_the_merged_kg_leads_back_to_every_original_fact(aligned: Alignment, three: Alignment, tmp_path: Path) -> None:
    oslo = three.found.groups.members[0, 1]
    extra = Duplicates(np.array([0]), np.array([1]), np.array([1 if oslo != 1 else 2], np.int32), np.array([0.5]))
    with_duplicates = multiea.Alignment(three.task, three.found, three.embeddings, three.enhancement, duplicates=extra)
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


def test_facts_that_become_the_same_have_all_their_sources(three: Alignment, tmp_path: Path) -> None:
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
    assert len(list(store.query(asked))) == len(table)


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
    alignment = made(list(task.kgs), task.seeds.members.tolist(), [])
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


def test_labels_that_no_fact_states_are_merged_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.tsv").write_text("x\tnear\ty\n")
    (tmp_path / "data" / "b.ttl").write_text(
        '<http://b/x> <http://b/near> <http://b/y> ; <http://www.w3.org/2000/01/rdf-schema#label> "Ex"@en .'
    )
    (tmp_path / "data" / "entities.tsv").write_text('kg\tentity\tlabel\na\tx\tThe "x"\nb\thttp://b/y\tWhy\n')
    (tmp_path / "data" / "seeds.tsv").write_text("a\tb\nx\thttp://b/x\n")
    task = multiea.load(tmp_path / "data")
    alignment = made(list(task.kgs), task.seeds.members.tolist(), [])
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


def test_an_iri_that_means_something_else_elsewhere_never_stands_for_a_group() -> None:
    one = KnowledgeGraph.from_triples("one", [("http://x/A", "r", "http://x/B"), ("http://x/C", "r", "http://x/B")])
    two = KnowledgeGraph.from_triples("two", [("http://x/A", "r", "http://x/C")])
    alignment = made(
        [one, two],
        [],
        [[*at(one, "http://x/A"), *at(two, "http://x/C")], [*at(one, "http://x/C"), *at(two, "http://x/A")]],
    )
    names = canonical(alignment)
    assert all(name.startswith("urn:multiea:group:") for name in names.merged.filter(names.group.is_not_null()))
    assert names.merged.n_unique() == 3


def test_the_kg_preferred_stands_for_groups(three: Alignment) -> None:
    plain, other = canonical(three), canonical(three, ["two"])
    assert "http://o.org/Oslo" in plain.merged.to_list()
    assert "urn:multiea:entity:two:Oslo" in other.merged.to_list()
    assert "http://o.org/Rome" in other.merged.to_list()  # two has no Rome in that group
    with pytest.raises(SettingError, match=r"unknown KG 'tow'.*Did you mean 'two'"):
        canonical(three, ["tow"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the library, when it is imported
def test_the_merged_kg_as_objects_of_other_libraries(three: Alignment) -> None:
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


def test_the_order_of_kgs_and_entities_changes_no_export(three: Alignment, tmp_path: Path) -> None:
    task = three.task
    moved = made(
        [task.kgs[number] for number in (2, 0, 1)],
        task.seeds.members[:, [2, 0, 1]].tolist(),
        three.found.groups.members[::-1, [2, 0, 1]].tolist(),
    )
    for name, alignment in (("one", three), ("other", moved)):
        alignment.to_same_as(tmp_path / f"{name}.nt")
        alignment.to_merged(tmp_path / f"{name}.nq")
    assert (tmp_path / "one.nt").read_bytes() == (tmp_path / "other.nt").read_bytes()
    one, other = (sorted((tmp_path / f"{name}.nq").read_text().splitlines()) for name in ("one", "other"))
    assert one == other
    assert three.fingerprint == moved.fingerprint


def test_the_command_exports_and_says_what_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(
        tmp_path / "d",
        {"a.tsv": "x\tr\ty\ny\tr\tz\n", "b.tsv": "x\tr\ty\ny\tr\tz\n", "seeds.tsv": "a\tb\nx\tx\ny\ty\n"},
    )

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, [*arguments, "--no-progress"])
        return result.exit_code, result.output

    assert run("align", "d", "--out", "run")[0] == 0
    code, output = run("export", "run", "--to", "merged", "--out", "m.nq", "--json")
    assert code == 0, output
    answer = json.loads(output[output.index("{") :])
    assert answer["files"] == ["m.nq", "m.nq.undo-entities.parquet", "m.nq.undo-facts.parquet"]
    before = (tmp_path / "m.nq").read_bytes()
    for arguments, words in (
        (("--to", "merged", "--out", "m.nq"), "m.nq exists; choose another file, or replace it with --force"),
        (("--to", "rdf", "--out", "x"), "unknown format 'rdf'; choose one of: groups, sssom, same-as, alignment-rdf"),
        (("--to", "groups", "--out", "x.xls"), "unknown kind of table '.xls'; choose one of: .tsv"),
        (("--to", "sssom", "--out", "x.tsv", "--closure"), "--closure changes nothing with --to sssom"),
        (("--to", "sssom", "--out", "x.tsv", "--no-undo"), "--undo changes nothing with --to sssom"),
        (("--to", "sssom", "--out", "x.tsv", "--predicate", "owl:same"), "unknown predicate 'owl:same'"),
        (("--to", "same-as", "--out", "d"), "d is a folder"),
        (("--to", "sssom", "--out", "x.csv"), "SSSOM mappings are written as .tsv"),
        (("--to", "same-as", "--out", "x.nt.gz"), "owl:sameAs triples are written as .nt"),
        (("--to", "merged", "--out", "x.ttl"), "a merged KG is written as one of: .nq, .parquet"),
        (("--to", "alignment-rdf", "--out", "d", "--force"), "d is not a folder of alignments"),
    ):
        code, output = run("export", "run", *arguments)
        assert code == 2, output
        assert words in output
        assert "Traceback" not in output
    assert (tmp_path / "m.nq").read_bytes() == before
    assert not list(tmp_path.glob("x*")), "nothing half-written"
    assert not list(tmp_path.glob(".*")), "nothing left behind"
    assert run("export", "run", "--to", "merged", "--out", "m.nq", "--force")[0] == 0


def test_an_export_that_fails_leaves_the_old_file_whole(
    three: Alignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.nt"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("multiea.exports.same_as.write_lines", full)
    with pytest.raises(OutputError, match="No space left"):
        three.to_same_as(path, force=True)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["s.nt"]


def test_a_run_without_triples_cannot_be_merged(small: Task, tmp_path: Path) -> None:
    multiea.align(small).save(tmp_path / "run")
    with pytest.raises(InputError, match="no triples here"):
        multiea.open(tmp_path / "run").to_merged(tmp_path / "m.nq")
