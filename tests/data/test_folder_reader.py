"""Native folders, dataset.toml and lists of files are read to tasks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import multiea
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.write import write_task
from support.datasets import assert_same_kg, display_names, facts, group, named, write_files
from support.reading import FACTS, FRENCH, GERMAN, RDF_FACTS, TSV, TURTLE, X, load_with


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_native_folder_has_one_kg_per_file_and_known_groups(tmp_path: Path, gz: str) -> None:
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


def test_seeds_validation_and_held_out_groups_are_separate(tmp_path: Path) -> None:
    files = {"en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\tOslo\n"}
    files |= {"held_out.tsv": "fr\ten\nNorvège\tNorway\n", "validation.tsv": "en\tfr\ncountry\tpays\n"}
    task = load_with(tmp_path, files)
    assert named(task.seeds, task) == {group(en="Oslo", fr="Oslo")}
    assert named(task.held_out, task) == {group(en="Norway", fr="Norvège")}
    assert named(task.validation, task) == {group(en="country", fr="pays")}


def test_seeds_without_other_groups_are_all_used_for_learning(tmp_path: Path) -> None:
    task = load_with(tmp_path, {"en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\tOslo\nNorway\tNorvège\n"})
    assert (len(task.seeds), len(task.held_out)) == (2, 0)


def test_entities_tsv_adds_names_and_isolated_entities(tmp_path: Path) -> None:
    entities = "kg\tentity\tlabel\nen\tOslo\tthe city of Oslo\nen\tSvalbard\t\nfr\tSpitzberg\tle Spitzberg\n"
    task = load_with(
        tmp_path,
        {"en.tsv": TSV, "fr.tsv": FRENCH, "entities.tsv": entities, "seeds.tsv": "en\tfr\nSvalbard\tSpitzberg\n"},
    )
    english, french = task.kgs
    assert set(english.entities) == {"Oslo", "Bergen", "Norway", "country", "Svalbard"}
    assert facts(english) == FACTS
    assert display_names(english) == {"Oslo": "the city of Oslo"}
    assert display_names(french) == {"Spitzberg": "le Spitzberg"}
    assert named(task.seeds, task) == {group(en="Svalbard", fr="Spitzberg")}


def test_hidden_files_and_files_of_other_kinds_are_ignored(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"en.tsv": TSV, "fr.tsv": FRENCH, "README.md": "hello", "deeper/x.tsv": "a\n"}
    files[".DS_Store.tsv"] = b"\xff"
    assert load_with(tmp_path, files).kg_names == ("en", "fr")


def test_a_written_data_set_is_read_back_unchanged(tmp_path: Path) -> None:
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


def test_a_triple_that_looks_like_a_header_survives_writing_and_reading(tmp_path: Path) -> None:
    triples = [("head", "relation", "tail"), ("a", "b", "c")]
    write_task(multiea.Task([KnowledgeGraph.from_triples(name, triples) for name in ("en", "fr")]), tmp_path)
    assert facts(multiea.load(tmp_path).kgs[0]) == set(triples)


def test_the_embedded_data_set_is_read() -> None:
    task = multiea.load("world")
    assert task.name == "world"
    assert task.kg_names == ("cldr", "countryinfo", "geonames")
    assert all(len(kg.triples) > 1000 and kg.names is not None for kg in task.kgs)
    assert len(task.seeds) + len(task.held_out) == len(task.known) > 1000
    assert len(task.known.complete) > 100


# dataset.toml and several files
def test_dataset_toml_mixes_formats_columns_and_several_files_per_kg(tmp_path: Path) -> None:
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


def test_dataset_toml_with_only_a_name_reads_the_files_of_the_folder(tmp_path: Path) -> None:
    files = {"dataset.toml": 'name = "north"', "en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "en\tfr\nOslo\tOslo\n"}
    task = load_with(tmp_path, files)
    assert (task.name, task.kg_names, len(task.seeds)) == ("north", ("en", "fr"), 1)


def test_dataset_toml_with_only_seeds_reads_the_kgs_of_the_folder(tmp_path: Path) -> None:
    files = {"dataset.toml": 'seeds = "more/links.tsv"', "en.tsv": TSV, "fr.tsv": FRENCH}
    task = load_with(tmp_path, {**files, "more/links.tsv": "en\tfr\nOslo\tOslo\n"})
    assert named(task.seeds, task) == {group(en="Oslo", fr="Oslo")}


def test_files_that_dataset_toml_does_not_mention_are_found_in_the_folder(tmp_path: Path) -> None:
    toml = '[kgs.english]\nfile = "en.tsv"\n[kgs.french]\nfile = "fr.tsv"\n'
    files = {"dataset.toml": toml, "en.tsv": TSV, "fr.tsv": FRENCH, "seeds.tsv": "english\tfrench\nOslo\tOslo\n"}
    task = load_with(tmp_path, files)
    assert named(task.seeds, task) == {group(english="Oslo", french="Oslo")}


def test_several_given_files_are_one_kg_each(tmp_path: Path) -> None:
    files = {"en.tsv": TSV, "x.ttl.gz": TURTLE, "fr.csv": FRENCH.replace("\t", ","), "links.csv": "fr,en\nOslo,Oslo\n"}
    write_files(tmp_path, files)
    task = multiea.load(
        [tmp_path / "en.tsv", str(tmp_path / "x.ttl.gz"), tmp_path / "fr.csv"], seeds=tmp_path / "links.csv"
    )
    assert task.kg_names == ("en", "x", "fr")
    assert facts(task.kgs[1]) == RDF_FACTS
    assert named(task.seeds, task) == {group(en="Oslo", fr="Oslo")}


def test_given_seeds_replace_those_of_the_folder_and_keep_held_out_groups(tmp_path: Path) -> None:
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


def test_validation_groups_are_taken_from_fixed_seeds_and_never_from_held_out_groups(
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
    assert "train_ratio splits all its groups again" in caplog.text


def test_files_listed_in_dataset_toml_may_have_any_name(tmp_path: Path) -> None:
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


def test_given_seeds_report_what_they_replace(tmp_path: Path) -> None:
    files = {
        "en.tsv": TSV,
        "fr.tsv": FRENCH,
        "groups.tsv": "en\tfr\ncountry\tpays\n",
        "more/links.tsv": "en\tfr\nOslo\tOslo\n",
    }
    task = multiea.load(write_files(tmp_path, files), seeds=tmp_path / "more" / "links.tsv")
    assert len(task.seeds) == 1
    assert "1 group of the data set's groups not used" in task.origin.warnings[0]


@pytest.mark.parametrize(
    "header", ["from,edge,to", "Subject,Relation,Object", "source,property,target", "head,predicate,tail"]
)
def test_standard_words_for_the_three_columns_form_a_header(tmp_path: Path, header: str) -> None:
    kg = load_with(tmp_path, {"a.csv": f"{header}\nx,r,y\n", "b.tsv": "x\tr\ty\n"}).kgs[0]
    assert facts(kg) == {("x", "r", "y")}


def test_all_given_names_of_an_entity_are_written_and_read_back(tmp_path: Path) -> None:
    entities = "kg\tentity\tlabel\nen\tx\tOslo\nen\tx\tChristiania\nen\tz\t\n"
    files = {"en.tsv": "x\tr\ty\n", "fr.tsv": "x\tr\ty\n", "entities.tsv": entities}
    task = multiea.load(write_files(tmp_path / "first", files))
    (tmp_path / "second").mkdir()
    write_task(task, tmp_path / "second")
    again = multiea.load(tmp_path / "second")
    assert_same_kg(task.kgs[0], again.kgs[0])
    assert again.kgs[0].given_names.height == 2


@pytest.mark.parametrize("first", [("id", "x", "y"), ("x", "name", "y"), ("en_id", "r", "title")])
def test_triples_that_look_like_a_header_of_records_are_written_and_read_back(
    tmp_path: Path, first: tuple[str, str, str]
) -> None:
    for at in range(8):  # the triple that is written first depends on the ids
        others = [(f"a{at}{i}", f"r{i}", f"b{at}{i}") for i in range(at)]
        task = multiea.Task([KnowledgeGraph.from_triples(name, [first, *others]) for name in ("en", "fr")])
        folder = tmp_path / str(at)
        folder.mkdir()
        write_task(task, folder)
        assert_same_kg(task.kgs[0], multiea.load(folder).kgs[0])
