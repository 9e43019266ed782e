"""Every format is read to the same knowledge graphs and groups, plain and gzipped, in any order and any blocks."""

from __future__ import annotations

import gzip
import random
import shutil
from pathlib import Path

import numpy
import polars as pl
import pytest

import multiea
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.readers import read_kg
from multiea.data.write import write_task
from support.datasets import Triple, assert_same_kg, facts, group, labels, literals, named, parquet, write_files

FACTS: set[Triple] = {("Oslo", "capital of", "Norway"), ("Bergen", "lies in", "Norway"), ("Norway", "is a", "country")}
TSV = "Oslo\tcapital of\tNorway\nBergen\tlies in\tNorway\nNorway\tis a\tcountry\n"
FRENCH = "Norvège\test un\tpays\nOslo\tcapitale de\tNorvège\n"
GERMAN = "Norwegen\tist ein\tLand\n"

X = "http://x.org/"
RDF_FACTS: set[Triple] = {(f"{X}a", f"{X}p", f"{X}b"), (f"{X}b", f"{X}p", f"{X}c"), (f"{X}a", f"{X}q", f"{X}c")}
RDF_LITERALS = {
    (f"{X}a", "http://www.w3.org/2000/01/rdf-schema#label", "A 'one'", "@en"),
    (f"{X}a", f"{X}size", "3", "http://www.w3.org/2001/XMLSchema#integer"),
    (f"{X}b", f"{X}note", "two\nlines", "http://www.w3.org/2001/XMLSchema#string"),
}
NTRIPLES = """\
<http://x.org/a> <http://x.org/p> <http://x.org/b> .
# a comment
<http://x.org/b> <http://x.org/p> <http://x.org/c> .

<http://x.org/a> <http://x.org/q> <http://x.org/c> .
<http://x.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "A 'one'"@en .
<http://x.org/a> <http://x.org/size> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://x.org/b> <http://x.org/note> "two\\nlines" .
"""
NQUADS = NTRIPLES.replace("/c> .", "/c> <http://x.org/graph> .")
TURTLE = """\
@prefix : <http://x.org/> .
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:a :p :b ; :q :c ;
   rdfs:label "A 'one'"@en ; :size 3 .
:b :p :c ; :note '''two
lines''' .
"""
RDF_XML = """\
<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://x.org/"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <rdf:Description rdf:about="http://x.org/a">
    <p rdf:resource="http://x.org/b"/>
    <q rdf:resource="http://x.org/c"/>
    <rdfs:label xml:lang="en">A 'one'</rdfs:label>
    <size rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">3</size>
  </rdf:Description>
  <rdf:Description rdf:about="http://x.org/b">
    <p><rdf:Description rdf:about="http://x.org/c"/></p>
    <note>two
lines</note>
  </rdf:Description>
</rdf:RDF>
"""
RDF_FILES = {
    "a.nt": NTRIPLES,
    "a.nq": NQUADS,
    "a.ttl": TURTLE,
    "a.rdf": RDF_XML,
    "a.owl": RDF_XML,
    "a.xml": RDF_XML,
}
SAME_AS = "<{}> <http://www.w3.org/2002/07/owl#sameAs> <{}> .\n"


def kg_of(folder: Path, files: dict[str, str | bytes], **options: object) -> KnowledgeGraph:
    write_files(folder, files)
    return read_kg("a", [folder / name for name in files], **options)  # type: ignore[arg-type]


def iri_kgs(folder: Path) -> dict[str, str | bytes]:
    """Three KGs over http://en.org/, http://fr.org/ and http://de.org/."""
    return {
        f"{kg}.nt": "".join(
            f"<http://{kg}.org/{i}> <http://{kg}.org/p> <http://{kg}.org/{i + 1}> .\n" for i in range(4)
        )
        for kg in ("en", "fr", "de")
    }


def load_with(folder: Path, files: dict[str, str | bytes], **options: object) -> multiea.Task:
    return multiea.load(write_files(folder, files), **options)  # type: ignore[arg-type]


# The native folder


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_native_folder_has_a_kg_a_file_and_its_known_groups(tmp_path: Path, gz: str) -> None:
    groups = "fr\ten\tde\nNorvège\tNorway\tNorwegen\nOslo\tOslo\t\n\tcountry\tLand\n"
    files = {f"en.tsv{gz}": TSV, f"fr.tsv{gz}": FRENCH, f"de.tsv{gz}": GERMAN, f"groups.tsv{gz}": groups}
    task = load_with(tmp_path / "nordic", files)
    assert task.name == "nordic"
    assert task.kg_names == ("de", "en", "fr")
    assert facts(task.kgs[1]) == FACTS
    assert facts(task.kgs[2]) == {("Norvège", "est un", "pays"), ("Oslo", "capitale de", "Norvège")}
    assert named(task.known, task) == {
        group(fr="Norvège", en="Norway", de="Norwegen"),
        group(fr="Oslo", en="Oslo"),
        group(en="country", de="Land"),
    }
    assert (len(task.seeds), len(task.held_out)) == (1, 2)


def test_groups_are_split_by_train_ratio(tmp_path: Path) -> None:
    write_files(tmp_path, {"en.tsv": TSV, "fr.tsv": FRENCH, "groups.tsv": "en\tfr\nOslo\tOslo\nNorway\tNorvège\n"})
    assert [len(multiea.load(tmp_path, train_ratio=ratio).seeds) for ratio in (0.0, 0.5, 1.0)] == [0, 1, 2]


def test_seeds_validation_and_held_out_stay_apart(tmp_path: Path) -> None:
    files = {"en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\tOslo\n"}
    files |= {"held_out.tsv": "fr\ten\nNorvège\tNorway\n", "validation.tsv": "en\tfr\ncountry\tpays\n"}
    task = load_with(tmp_path, files)
    assert named(task.seeds, task) == {group(en="Oslo", fr="Oslo")}
    assert named(task.held_out, task) == {group(en="Norway", fr="Norvège")}
    assert named(task.validation, task) == {group(en="country", fr="pays")}


def test_seeds_alone_are_all_learned_from(tmp_path: Path) -> None:
    task = load_with(tmp_path, {"en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\tOslo\nNorway\tNorvège\n"})
    assert (len(task.seeds), len(task.held_out)) == (2, 0)


def test_entities_tsv_adds_labels_and_isolated_entities(tmp_path: Path) -> None:
    entities = "kg\tentity\tlabel\nen\tOslo\tthe city of Oslo\nen\tSvalbard\t\nfr\tSpitzberg\tle Spitzberg\n"
    task = load_with(
        tmp_path,
        {"en.tsv": TSV, "fr.tsv": FRENCH, "entities.tsv": entities, "seeds.tsv": "en\tfr\nSvalbard\tSpitzberg\n"},
    )
    english, french = task.kgs
    assert set(english.entities) == {"Oslo", "Bergen", "Norway", "country", "Svalbard"}
    assert facts(english) == FACTS
    assert labels(english) == {"Oslo": "the city of Oslo"}
    assert labels(french) == {"Spitzberg": "le Spitzberg"}
    assert named(task.seeds, task) == {group(en="Svalbard", fr="Spitzberg")}


def test_hidden_files_and_files_of_other_kinds_are_not_read(tmp_path: Path) -> None:
    files = {"en.tsv": TSV, "fr.tsv": FRENCH, ".DS_Store.tsv": b"\xff", "README.md": "hello", "deeper/x.tsv": "a\n"}
    assert load_with(tmp_path, files).kg_names == ("en", "fr")


def test_a_written_data_set_is_read_back_the_same(tmp_path: Path) -> None:
    entities = "kg\tentity\tlabel\nen\tOslo\tthe city of Oslo\nen\tSvalbard\t\n"
    groups = "en\tfr\tde\nNorway\tNorvège\tNorwegen\nOslo\tOslo\t\n"
    files = {"en.tsv": TSV, "fr.tsv": FRENCH, "de.tsv": GERMAN, "entities.tsv": entities, "groups.tsv": groups}
    task = load_with(tmp_path / "first", files)
    (tmp_path / "second").mkdir()
    (tmp_path / "third").mkdir()
    write_task(task, tmp_path / "second")
    write_task(task, tmp_path / "third", split=True)
    again, as_split = multiea.load(tmp_path / "second"), multiea.load(tmp_path / "third")
    for kg, twice, thrice in zip(task.kgs, again.kgs, as_split.kgs, strict=True):
        assert_same_kg(kg, twice)
        assert_same_kg(kg, thrice)
    assert named(again.known, again) == named(task.known, task)
    assert named(as_split.seeds, as_split) == named(task.seeds, task)
    assert named(as_split.held_out, as_split) == named(task.held_out, task)


def test_a_triple_that_reads_like_a_header_survives_writing_and_reading(tmp_path: Path) -> None:
    triples = [("head", "relation", "tail"), ("a", "b", "c")]
    write_task(multiea.Task([KnowledgeGraph.from_triples(name, triples) for name in ("en", "fr")]), tmp_path)
    assert facts(multiea.load(tmp_path).kgs[0]) == set(triples)


def test_the_embedded_world_is_read() -> None:
    task = multiea.load("world")
    assert task.name == "world"
    assert task.kg_names == ("cldr", "countryinfo", "geonames")
    assert all(len(kg.triples) > 1000 and kg.names is not None for kg in task.kgs)
    assert len(task.seeds) + len(task.held_out) == len(task.known) > 1000
    assert len(task.known.complete) > 100


# Pair benchmarks


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_an_openea_folder_is_read_in_place(tmp_path: Path, gz: str) -> None:
    files = {f"rel_triples_1{gz}": TSV, f"rel_triples_2{gz}": FRENCH, f"ent_links{gz}": "Oslo\tOslo\nNorway\tNorvège\n"}
    task = load_with(tmp_path / "EN_FR_15K_V1", files)
    assert task.name == "EN_FR_15K_V1"
    assert task.kg_names == ("EN", "FR")
    assert facts(task.kgs[0]) == FACTS
    assert named(task.known, task) == {group(EN="Oslo", FR="Oslo"), group(EN="Norway", FR="Norvège")}


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_fold_of_an_openea_folder_keeps_its_split(tmp_path: Path, gz: str) -> None:
    fold = "721_5fold/1/"
    files = {"rel_triples_1": TSV, "rel_triples_2": FRENCH, "ent_links": "Oslo\tOslo\n"}
    files |= {f"{fold}train_links{gz}": "Oslo\tOslo\n", f"{fold}valid_links{gz}": "country\tpays\n"}
    files |= {f"{fold}test_links{gz}": "Norway\tNorvège\n"}
    task = multiea.load(write_files(tmp_path / "EN_FR", files) / fold)
    assert task.kg_names == ("EN", "FR")
    assert named(task.seeds, task) == {group(EN="Oslo", FR="Oslo")}
    assert named(task.validation, task) == {group(EN="country", FR="pays")}
    assert named(task.held_out, task) == {group(EN="Norway", FR="Norvège")}


def test_an_openea_folder_is_found_from_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"rel_triples_1": TSV, "rel_triples_2": FRENCH, "ent_links": "Oslo\tOslo\n", "721_5fold/1/train_links": ""}
    write_files(tmp_path / "EN_FR", files)
    monkeypatch.chdir(tmp_path / "EN_FR")
    assert (multiea.load(".").name, multiea.load(".").kg_names) == ("EN_FR", ("EN", "FR"))
    assert multiea.load("721_5fold/1").kg_names == ("EN", "FR")


DBP15K = {
    "ent_ids_1": "0\thttp://zh/a\n1\thttp://zh/b\n4\thttp://zh/alone\n",
    "ent_ids_2": "2\thttp://en/a\n3\thttp://en/b\n5\thttp://en/c\n",
    "triples_1": "0\t7\t1\n",
    "triples_2": "2\t8\t3\n3\t8\t5\n",
}
RELATION_IDS = {"rel_ids_1": "7\thttp://zh/p\n", "rel_ids_2": "8\thttp://en/p\n"}


def gzipped(files: dict[str, str], gz: str) -> dict[str, str | bytes]:
    return {f"{name}{gz}": content for name, content in files.items()}


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_dbp15k_folder_is_read_in_place(tmp_path: Path, gz: str) -> None:
    links = {"ref_ent_ids": "0\t2\n1\t3\n"}
    task = load_with(tmp_path / "zh_en", gzipped(DBP15K | RELATION_IDS | links, gz))
    assert task.name == "zh_en"
    assert task.kg_names == ("zh", "en")
    assert facts(task.kgs[0]) == {("http://zh/a", "http://zh/p", "http://zh/b")}
    assert set(task.kgs[0].entities) == {"http://zh/a", "http://zh/b", "http://zh/alone"}
    assert facts(task.kgs[1]) == {
        ("http://en/a", "http://en/p", "http://en/b"),
        ("http://en/b", "http://en/p", "http://en/c"),
    }
    assert named(task.known, task) == {
        group(zh="http://zh/a", en="http://en/a"),
        group(zh="http://zh/b", en="http://en/b"),
    }


def test_dbp15k_relations_without_names_keep_their_ids(tmp_path: Path) -> None:
    task = load_with(tmp_path / "zh_en", {**DBP15K, "ref_ent_ids": "0\t2\n"})
    assert facts(task.kgs[0]) == {("http://zh/a", "7", "http://zh/b")}


def test_dbp15k_seeds_are_those_of_sup_ent_ids(tmp_path: Path) -> None:
    task = load_with(tmp_path / "zh_en", {**DBP15K, "ref_ent_ids": "0\t2\n", "sup_ent_ids": "1\t3\n4\t5\n"})
    assert named(task.held_out, task) == {group(zh="http://zh/a", en="http://en/a")}
    assert named(task.seeds, task) == {
        group(zh="http://zh/b", en="http://en/b"),
        group(zh="http://zh/alone", en="http://en/c"),
    }


def test_the_numbered_folders_of_dbp15k_take_their_names_from_the_folder_above(tmp_path: Path) -> None:
    task = load_with(tmp_path / "zh_en" / "0_3", {**DBP15K, "ref_ent_ids": "0\t2\n"})
    assert task.kg_names == ("zh", "en")


# RDF


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("name", RDF_FILES)
def test_rdf_gives_triples_between_entities_and_literals_apart(tmp_path: Path, name: str, gz: str) -> None:
    kg = kg_of(tmp_path, {f"{name}{gz}": RDF_FILES[name]})
    assert facts(kg) == RDF_FACTS
    assert set(kg.relations) == {f"{X}p", f"{X}q"}
    assert literals(kg) == RDF_LITERALS
    assert labels(kg) == {f"{X}a": "A 'one'"}


def test_an_entity_of_literals_only_is_an_entity(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.nt": f'<{X}a> <{X}p> <{X}b> .\n<{X}c> <{X}size> "1" .\n'})
    assert set(kg.entities) == {f"{X}a", f"{X}b", f"{X}c"}


def test_blank_nodes_keep_their_labels_and_anonymous_ones_get_the_same_names_each_time(tmp_path: Path) -> None:
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


def test_an_anonymous_blank_node_is_never_one_that_has_a_label(tmp_path: Path) -> None:
    text = "@prefix : <http://x.org/> .\n_:anonymous1 :p :a . [] :p :b . _:anonymous2 :p :c ."
    kg = kg_of(tmp_path, {"a.ttl": text})
    assert len(kg.entities) == 6
    assert len({head for head, _, _ in facts(kg)}) == 3


def test_equal_blank_labels_in_two_files_of_a_kg_are_two_nodes(tmp_path: Path) -> None:
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


def test_unicode_and_escapes_in_rdf_mean_the_same(tmp_path: Path) -> None:
    escaped = kg_of(tmp_path, {"a.nt": f'<{X}caf\\u00e9> <{X}p> <{X}b> .\n<{X}b> <{X}l> "\\U0001F600" .\n'})
    plain = kg_of(tmp_path, {"a.nt": f'<{X}café> <{X}p> <{X}b> .\n<{X}b> <{X}l> "😀" .\n'})
    assert_same_kg(escaped, plain)


def test_an_english_label_is_preferred_whatever_comes_first(tmp_path: Path) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = [f'<{X}a> {label} "Norvège"@fr .', f'<{X}a> {label} "Norway"@en .', f"<{X}a> <{X}p> <{X}b> ."]
    for order in (lines, lines[::-1]):
        assert labels(kg_of(tmp_path, {"a.nt": "\n".join(order)})) == {f"{X}a": "Norway"}


def test_a_triple_in_two_named_graphs_counts_once(tmp_path: Path) -> None:
    kg = kg_of(tmp_path, {"a.nq": f"<{X}a> <{X}p> <{X}b> <{X}g> .\n<{X}a> <{X}p> <{X}b> <{X}h> .\n"})
    assert (len(kg.triples), kg.duplicates) == (1, 1)


# Tables

CSV = "Oslo,capital of,Norway\nBergen,lies in,Norway\nNorway,is a,country\n"


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize(("name", "text"), [("a.tsv", TSV), ("a.csv", CSV)])
def test_a_table_of_three_columns_is_read(tmp_path: Path, name: str, text: str, gz: str) -> None:
    assert facts(kg_of(tmp_path, {f"{name}{gz}": text})) == FACTS


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    "header",
    [
        ("head", "relation", "tail"),
        ("tail", "head", "relation"),
        ("Subject", "PREDICATE", "Object"),
        ("since", "object", "id", "predicate", "subject"),
        (" relation", "tail ", "head", "weight"),
    ],
)
def test_a_usual_header_says_which_column_is_which(tmp_path: Path, header: tuple[str, ...], separator: str) -> None:
    place = {"head": 0, "subject": 0, "relation": 1, "predicate": 1, "tail": 2, "object": 2}
    rows = [[place.get(name.strip().lower()) for name in header]]
    lines = [header] + [[fact[i] if i is not None else "x" for i in rows[0]] for fact in sorted(FACTS)]
    text = "".join(separator.join(line) + "\n" for line in lines)
    assert facts(kg_of(tmp_path, {"a.csv" if separator == "," else "a.tsv": text})) == FACTS


def test_csv_fields_may_hold_commas_line_breaks_and_doubled_quotes(tmp_path: Path) -> None:
    text = '"Oslo, city",says,"two\nlines"\r\n"a ""quoted"" name",says,"""\r\n\r\n"""\r\nplain,says,"x"\n'
    assert facts(kg_of(tmp_path, {"a.csv": text})) == {
        ("Oslo, city", "says", "two\nlines"),
        ('a "quoted" name', "says", '"\r\n\r\n"'),
        ("plain", "says", "x"),
    }


def test_quotes_in_tsv_are_part_of_the_name(tmp_path: Path) -> None:
    assert facts(kg_of(tmp_path, {"a.tsv": '"Oslo\tsays "so"\t""\n'})) == {('"Oslo', 'says "so"', '""')}


@pytest.mark.parametrize("separator", [",", "\t"])
def test_byte_order_mark_crlf_and_blank_lines_are_no_part_of_the_data(tmp_path: Path, separator: str) -> None:
    text = "\ufeff\r\n" + TSV.replace("\t", separator).replace("\n", "\r\n\r\n") + "\n\n"
    assert facts(kg_of(tmp_path, {"a.csv" if separator == "," else "a.tsv": text})) == FACTS


def test_a_last_line_without_its_line_break_is_read(tmp_path: Path) -> None:
    assert facts(kg_of(tmp_path, {"a.tsv": TSV.rstrip("\n")})) == FACTS
    assert facts(kg_of(tmp_path, {"a.csv": CSV.rstrip("\n") + "\r"})) == FACTS


@pytest.mark.parametrize(
    "start", ["x^2", "x\x01", "xک", "\x1f", "#", " ", "\ufeffx", "\x00", "(µ/ý", "PAR1", "null", "-"]
)
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_file_may_begin_with_any_name(tmp_path: Path, start: str, ending: str) -> None:
    line = "{},r,b\nc,r,d\n".replace(",", "," if ending == "csv" else "\t")
    expected = start.removeprefix("\ufeff")
    assert facts(kg_of(tmp_path, {f"a.{ending}": line.format(start)})) == {(expected, "r", "b"), ("c", "r", "d")}


def test_a_name_that_begins_with_a_byte_order_mark_keeps_it_inside_the_file(tmp_path: Path) -> None:
    assert facts(kg_of(tmp_path, {"a.tsv": "a\tr\tb\n\ufeffc\tr\td\n"})) == {("a", "r", "b"), ("\ufeffc", "r", "d")}


def test_an_odd_first_line_is_reported_as_a_likely_header(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = [f"e{i}\tr\te{i + 1}\n" for i in range(20)]
    kg_of(tmp_path, {"a.tsv": "from\tby\tto\n" + "".join(lines)})
    assert "looks like a header" in caplog.text
    caplog.clear()
    kg_of(tmp_path, {"a.tsv": "".join(lines)})
    assert not caplog.records


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_parquet_is_read_by_the_usual_names_in_any_order(tmp_path: Path, gz: str) -> None:
    rows = sorted(FACTS)
    table = pl.DataFrame({"extra": [1.5] * 3, "tail": [t for *_, t in rows], "head": [h for h, *_ in rows]})
    content = parquet(table.with_columns(Relation=pl.Series([r for _, r, _ in rows], dtype=pl.Categorical)))
    assert facts(kg_of(tmp_path, {f"a.parquet{gz}": gzip.compress(content) if gz else content})) == FACTS


def test_parquet_of_three_columns_of_any_name_and_of_integers_is_read(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [1, 2], "b": [0, 0], "c": [2, 10**12]})
    assert facts(kg_of(tmp_path, {"a.parquet": parquet(table)})) == {("1", "0", "2"), ("2", "0", "1000000000000")}


def test_parquet_columns_that_are_not_asked_for_may_be_of_any_type(tmp_path: Path) -> None:
    table = pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["b"]})
    extra = table.with_columns(numbers=pl.lit([1.0, 2.0]), pair=pl.struct(x=1), raw=pl.lit(b"\xff"))
    assert facts(kg_of(tmp_path, {"a.parquet": parquet(extra)})) == {("a", "r", "b")}


def test_parquet_in_several_blocks_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.readers.tables.PARQUET_ROWS", 3)
    table = pl.DataFrame({"head": range(10), "relation": ["r"] * 10, "tail": range(10, 20)})
    assert facts(kg_of(tmp_path, {"a.parquet": parquet(table)})) == {(str(i), "r", str(i + 10)) for i in range(10)}


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?"])
def test_parquet_files_are_found_under_names_with_wildcards(tmp_path: Path, name: str) -> None:
    table = pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["b"]})
    other = pl.DataFrame({"head": ["wrong"], "relation": ["r"], "tail": ["wrong"]})
    write_files(tmp_path, {"a1.parquet": parquet(other), "ab.parquet": parquet(other)})
    assert facts(kg_of(tmp_path, {f"{name}.parquet": parquet(table)})) == {("a", "r", "b")}


# Files of known groups


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


def test_a_group_of_one_says_nothing_and_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    task = load_with(tmp_path, {"en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\t\nNorway\tNorvège\n"})
    assert named(task.seeds, task) == {group(en="Norway", fr="Norvège")}
    assert "1 group with a single member left out" in caplog.text


def test_groups_may_leave_out_whole_kgs(tmp_path: Path) -> None:
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
    assert "2 mappings that are not exact, or are negated, left aside" in caplog.text


def test_sssom_ids_that_a_kg_writes_as_curies_are_taken_as_they_stand(tmp_path: Path) -> None:
    files = {
        "en.tsv": "EN:1\tr\tEN:2\n",
        "fr.tsv": "FR:1\tr\tFR:2\n",
        "seeds.sssom.tsv": "\n".join(SSSOM.split("\n")[:7]),
    }
    task = load_with(tmp_path, files)
    assert named(task.seeds, task) == {group(en="EN:1", fr="FR:1")}


@pytest.mark.parametrize("where", ["columns", "metadata"])
def test_sssom_sources_tell_which_kg_is_meant(tmp_path: Path, where: str) -> None:
    kgs = {"en.tsv": "Oslo\tr\tb\n", "fr.tsv": "Oslo\tr\tb\n", "de.tsv": "Oslo\tr\tc\n"}
    seeds = "#subject_source: de\n#object_source: fr\nsubject_id\tpredicate_id\tobject_id\nOslo\towl:sameAs\tOslo\n"
    if where == "columns":
        header = "subject_id\tsubject_source\tpredicate_id\tobject_id\tobject_source\n"
        seeds = header + "Oslo\tde\towl:sameAs\tOslo\tfr\n"
    task = load_with(tmp_path, {**kgs, "seeds.sssom.tsv": seeds})
    assert named(task.seeds, task) == {group(de="Oslo", fr="Oslo")}


def test_unusual_spaces_in_sssom_labels_end_no_line(tmp_path: Path) -> None:
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
    assert "1 triples that are no owl:sameAs" in caplog.text


def test_same_as_links_in_rdf_xml_become_groups(tmp_path: Path) -> None:
    text = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#">
    <rdf:Description rdf:about="http://en.org/1"><owl:sameAs rdf:resource="http://fr.org/1"/></rdf:Description>
    </rdf:RDF>"""
    task = load_with(tmp_path, {**iri_kgs(tmp_path), "seeds.rdf": text})
    assert named(task.seeds, task) == {group(en="http://en.org/1", fr="http://fr.org/1")}


# dataset.toml and several files


def test_dataset_toml_mixes_formats_columns_and_several_files_a_kg(tmp_path: Path) -> None:
    toml = """\
name = "mixed"
seeds = {file = "links.txt", format = "tsv"}
held_out = "known.sssom.tsv"
[kgs.turtle]
file = "graph.data.gz"
format = "turtle"
[kgs.table]
file = "table.csv"
columns = ["who", "does", "whom"]
[kgs.two]
file = ["part1.tsv", "deeper/part2.nt"]
"""
    files = {
        "dataset.toml": toml,
        "graph.data.gz": TURTLE,
        "table.csv": "whom,since,does,who\nb,1,r,a\nc,,r,b\n",
        "part1.tsv": "k\tr\tl\n",
        "deeper/part2.nt": f"<{X}a> <{X}p> <{X}b> .\n",
        "links.txt": f"turtle\ttable\ttwo\n{X}a\ta\tk\n",
        "known.sssom.tsv": "subject_id\tpredicate_id\tobject_id\nb\towl:sameAs\tl\n",
        "not_mentioned.tsv": "x\n",
    }
    write_files(tmp_path, files)
    shutil.move(tmp_path / "dataset.toml", tmp_path / "other.toml")
    for source in (tmp_path / "other.toml", str(tmp_path / "other.toml"), [tmp_path / "other.toml"]):
        task = multiea.load(source)
        assert task.name == "mixed"
        assert task.kg_names == ("turtle", "table", "two")
        assert facts(task.kgs[0]) == RDF_FACTS
        assert facts(task.kgs[1]) == {("a", "r", "b"), ("b", "r", "c")}
        assert facts(task.kgs[2]) == {("k", "r", "l"), (f"{X}a", f"{X}p", f"{X}b")}
        assert named(task.seeds, task) == {group(turtle=f"{X}a", table="a", two="k")}
        assert named(task.held_out, task) == {group(table="b", two="l")}


def test_dataset_toml_with_a_name_only_leaves_the_rest_to_the_folder(tmp_path: Path) -> None:
    files = {"dataset.toml": 'name = "north"', "en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\tOslo\n"}
    task = load_with(tmp_path, files)
    assert (task.name, task.kg_names, len(task.seeds)) == ("north", ("en", "fr"), 1)


def test_dataset_toml_may_name_the_seeds_and_leave_the_kgs_to_the_folder(tmp_path: Path) -> None:
    files = {"dataset.toml": 'seeds = "more/links.tsv"', "en.tsv": TSV, "fr.tsv": FRENCH}
    task = load_with(tmp_path, {**files, "more/links.tsv": "en\tfr\nOslo\tOslo\n"})
    assert named(task.seeds, task) == {group(en="Oslo", fr="Oslo")}


def test_what_dataset_toml_does_not_mention_is_looked_for_in_the_folder(tmp_path: Path) -> None:
    toml = '[kgs.english]\nfile = "en.tsv"\n[kgs.french]\nfile = "fr.tsv"\n'
    files = {"dataset.toml": toml, "en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "english\tfrench\nOslo\tOslo\n"}
    task = load_with(tmp_path, files)
    assert named(task.seeds, task) == {group(english="Oslo", french="Oslo")}


def test_several_files_are_a_kg_each(tmp_path: Path) -> None:
    files = {"en.tsv": TSV, "x.ttl.gz": TURTLE, "fr.csv": FRENCH.replace("\t", ","), "links.csv": "fr,en\nOslo,Oslo\n"}
    write_files(tmp_path, files)
    task = multiea.load(
        [tmp_path / "en.tsv", str(tmp_path / "x.ttl.gz"), tmp_path / "fr.csv"], seeds=tmp_path / "links.csv"
    )
    assert task.kg_names == ("en", "x", "fr")
    assert facts(task.kgs[1]) == RDF_FACTS
    assert named(task.seeds, task) == {group(en="Oslo", fr="Oslo")}


def test_seeds_given_apart_replace_those_of_the_folder_and_keep_what_is_held_out(tmp_path: Path) -> None:
    files = {
        "en.tsv": TSV,
        "fr.tsv": FRENCH,
        "seeds.tsv": "en\tfr\ncountry\tpays\n",
        "other/links.tsv": "en\tfr\nOslo\tOslo\n",
    }
    write_files(tmp_path, {**files, "held_out.tsv": "en\tfr\nNorway\tNorvège\n"})
    task = multiea.load(tmp_path, seeds=tmp_path / "other" / "links.tsv")
    assert named(task.seeds, task) == {group(en="Oslo", fr="Oslo")}
    assert named(task.held_out, task) == {group(en="Norway", fr="Norvège")}


# Order and blocks

ROWS = [(f"e{i % 37}é", f"r{i % 5}", f"e{(i * i + 1) % 41}") for i in range(200)]
NASTY_ROWS = [(f'{h}, "x"\n{t}', r, f'{t}\r\n"') for h, r, t in ROWS]


def csv_lines(rows: list[Triple]) -> list[str]:
    return [",".join('"' + field.replace('"', '""') + '"' for field in row) for row in rows]


def tsv_lines(rows: list[Triple]) -> list[str]:
    return ["\t".join(row) for row in rows]


LINES = {
    "a.tsv": tsv_lines(ROWS),
    "a.csv": csv_lines(NASTY_ROWS),
    "a.nt": [f"<{X}{h}> <{X}{r}> <{X}{t}> ." for h, r, t in ROWS]
    + [f'<{X}e{i % 37}é> <http://www.w3.org/2000/01/rdf-schema#label> "label {i}"@en .' for i in range(90)],
}


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("name", LINES)
def test_the_order_of_lines_does_not_change_what_is_read(tmp_path: Path, name: str, gz: str) -> None:
    lines = list(LINES[name])
    straight = kg_of(tmp_path, {f"{name}{gz}": "\n".join(lines) + "\n"})
    random.Random(0).shuffle(lines)
    assert_same_kg(straight, kg_of(tmp_path, {f"{name}{gz}": "\n".join(lines) + "\n"}))
    assert straight.duplicates == len(ROWS) - len(straight.triples) > 0


def test_the_order_of_lines_in_entities_tsv_does_not_change_what_is_read(tmp_path: Path) -> None:
    lines = [f"en\te{i}\tlabel {i}\n" for i in range(30)] + [f"en\te{i}\tanother label\n" for i in range(30)]
    tasks = []
    for folder, order in (("one", lines), ("two", lines[::-1])):
        files = {"en.tsv": "e1\tr\te2\n", "fr.tsv": FRENCH, "entities.tsv": "kg\tentity\tlabel\n" + "".join(order)}
        tasks.append(load_with(tmp_path / folder, files))
    assert_same_kg(tasks[0].kgs[0], tasks[1].kgs[0])


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1000])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.csv.gz"])
def test_small_blocks_give_the_same_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line_end: str, block_bytes: int
) -> None:
    lines = csv_lines(NASTY_ROWS[:60]) if "csv" in name else tsv_lines(ROWS[:60])
    header = "head,relation,tail" if "csv" in name else "head\trelation\ttail"
    files: dict[str, str | bytes] = {name: "\ufeff" + line_end.join([header, *lines])}
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
    kg = kg_of(tmp_path, files)
    assert facts(kg) == set(NASTY_ROWS[:60] if "csv" in name else ROWS[:60])
    monkeypatch.undo()
    assert_same_kg(kg, kg_of(tmp_path, files))


@pytest.mark.parametrize("block_bytes", [7, 64])
@pytest.mark.parametrize("start", ["\ufeff", "x^2 ", "x\x01", "xک"])
def test_where_a_block_begins_does_not_change_the_names_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, block_bytes: int
) -> None:
    rows = [("a", "r", "b")] + [(f"{start}{i}", "r", f"{start}{i + 1}") for i in range(30)]
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
    assert facts(kg_of(tmp_path, {"a.tsv": "\n".join(tsv_lines(rows))})) == set(rows)


@pytest.mark.parametrize("block_bytes", [5, 64])
def test_small_blocks_of_groups_and_entities_give_the_same_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    files = {f"{kg}.tsv": "".join(f"{kg}{i}\tr\t{kg}{i + 1}\n" for i in range(30)) for kg in ("en", "fr")}
    files["groups.tsv"] = "en\tfr\n" + "".join(f"en{i}\tfr{i}\n" for i in range(30))
    files["entities.tsv"] = "kg\tentity\tlabel\n" + "".join(f"fr\tfr{i + 20}\tnuméro {i}\n" for i in range(30))
    whole = load_with(tmp_path, {**files})
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
    blocks = multiea.load(tmp_path)
    for one, other in zip(whole.kgs, blocks.kgs, strict=True):
        assert_same_kg(one, other)
    assert named(whole.seeds, whole) == named(blocks.seeds, blocks)


@pytest.mark.parametrize("name", RDF_FILES)
@pytest.mark.parametrize("batch", [1, 2])
def test_small_batches_of_rdf_give_the_same_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, batch: int
) -> None:
    whole = kg_of(tmp_path, {name: RDF_FILES[name]})
    monkeypatch.setattr("multiea.data.readers.rdf.BATCH", batch)
    assert_same_kg(whole, kg_of(tmp_path, {name: RDF_FILES[name]}))


def test_quoted_line_breaks_are_read_right_in_a_table_large_enough_for_several_threads(tmp_path: Path) -> None:
    rows = [(f'a\n{i},x"', "r", f'b{i}\r\n"",r,\n') for i in range(30_000)]
    kg = kg_of(tmp_path, {"a.csv": "\n".join(csv_lines(rows))})
    assert facts(kg) == set(rows)


def test_validation_groups_are_carved_from_fixed_seeds_and_never_touch_what_is_held_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def links(start: int) -> str:
        return "en\tfr\n" + "".join(f"e{i}\tf{i}\n" for i in range(start, start + 20))

    graphs = {f"{kg}.tsv": "".join(f"{kg[0]}{i}\tr\t{kg[0]}{i + 1}\n" for i in range(40)) for kg in ("en", "fr")}
    write_files(tmp_path, {**graphs, "seeds.tsv": links(0), "held_out.tsv": links(20)})
    plain, carved = multiea.load(tmp_path), multiea.load(tmp_path, validation_ratio=0.25)
    assert (len(carved.seeds), len(carved.validation), len(carved.held_out)) == (15, 5, 20)
    assert named(carved.held_out, carved) == named(plain.held_out, plain)
    assert named(carved.seeds, carved) | named(carved.validation, carved) == named(plain.seeds, plain)
    assert not caplog.text
    dealt = multiea.load(tmp_path, train_ratio=0.5)
    assert (len(dealt.seeds), len(dealt.held_out)) == (20, 20)
    assert "train_ratio deals all its groups anew" in caplog.text


def test_where_a_pair_benchmark_lies_does_not_change_it(tmp_path: Path) -> None:
    files = {"rel_triples_1": "a\tr\tb\n", "rel_triples_2": "x\tr\ty\n", "ent_links": "a\tx\nb\ty\n"}
    names = {}
    for place in ("plain/x", "john_doe/x", "zh_en/mapping/0_3", "EN_FR_15K_V1"):
        names[place] = multiea.load(write_files(tmp_path / place, files)).kg_names
    assert names == {
        "plain/x": ("kg1", "kg2"),
        "john_doe/x": ("kg1", "kg2"),
        "zh_en/mapping/0_3": ("zh", "en"),
        "EN_FR_15K_V1": ("EN", "FR"),
    }


def test_files_that_dataset_toml_names_may_be_called_anything(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = ["en.tsv", "en.csv"]\n[kgs.fr]\nfile = "fr.tsv"\n'
    files = {
        "dataset.toml": toml,
        "en.tsv": "a\tr\tb\n",
        "en.csv": "c,r,d\n",
        "fr.tsv": "x\tr\ty\n",
        "old.sssom.tsv": "",
    }
    task = load_with(tmp_path, files)
    assert facts(task.kgs[0]) == {("a", "r", "b"), ("c", "r", "d")}


def test_links_through_an_entity_that_no_kg_has_still_join(tmp_path: Path) -> None:
    graphs = {f"{kg}.nt": f"<http://{kg}/a> <http://r> <http://{kg}/b> .\n" for kg in ("en", "fr")}
    same = "<http://{}> <http://www.w3.org/2002/07/owl#sameAs> <http://{}> .\n"
    write_files(tmp_path, {**graphs, "seeds.nt": same.format("en/a", "wd/Q1") + same.format("fr/b", "wd/Q1")})
    task = multiea.load(tmp_path, lenient=True)
    assert named(task.seeds, task) == {group(en="http://en/a", fr="http://fr/b")}
    assert "1 entity of groups is not in the KG" in task.notes[0]


def test_seeds_given_apart_say_what_they_replace(tmp_path: Path) -> None:
    files = {
        "en.tsv": TSV,
        "fr.tsv": FRENCH,
        "groups.tsv": "en\tfr\ncountry\tpays\n",
        "more/links.tsv": "en\tfr\nOslo\tOslo\n",
    }
    task = multiea.load(write_files(tmp_path, files), seeds=tmp_path / "more" / "links.tsv")
    assert len(task.seeds) == 1
    assert "1 group of the data set's groups not used" in task.notes[0]


@pytest.mark.parametrize(
    "header", ["from,edge,to", "Subject,Relation,Object", "source,property,target", "head,predicate,tail"]
)
def test_usual_words_for_the_three_columns_make_a_header(tmp_path: Path, header: str) -> None:
    kg = load_with(tmp_path, {"a.csv": f"{header}\nx,r,y\n", "b.tsv": "x\tr\ty\n"}).kgs[0]
    assert facts(kg) == {("x", "r", "y")}


def test_an_error_after_a_header_and_blank_lines_names_the_right_line(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.csv": "head,relation,tail\n\nx,r,y\n\n\nx,,y\n", "b.tsv": "x\tr\ty\n"})
    with pytest.raises(multiea.InputError, match=r"a\.csv, line 6: an empty field"):
        multiea.load(tmp_path)


def test_restricting_a_kg_keeps_labels_and_literals_of_what_stays(tmp_path: Path) -> None:
    prefixes = "@prefix : <http://x/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    turtle = prefixes + ':a :p :b ; r:label "A" .\n:c :p :b ; r:label "C" .\n'
    kg = load_with(tmp_path, {"a.ttl": turtle, "b.tsv": "x\tr\ty\n"}).kgs[0]
    small = kg.restricted_to(numpy.array([name != "http://x/a" for name in kg.entities]))
    assert labels(small) == {"http://x/c": "C"}
    assert {row[2] for row in literals(small)} == {"C"}
    assert {row[0] for row in literals(small)} == {"http://x/c"}
