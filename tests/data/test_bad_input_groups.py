"""Invalid files of groups and entities are refused with an error that names the file and the line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea.foundation.errors import MultiEAError
from support.bad_input import (
    GOOD,
    IRIS,
    NT,
    SAME_AS,
    SSSOM_HEADER,
    assert_says,
    refusal,
)
from support.command_line import refused
from support.datasets import group, named, parquet, write_files
from support.evidence import named_kg
from support.quick import align


@pytest.mark.parametrize("name", ["groups.tsv", "seeds.csv", "held_out.tsv", "seeds.tsv.gz"])
def test_groups_of_unknown_entities_are_counted_and_the_first_five_named(tmp_path: Path, name: str) -> None:
    rows = ["en\tfr", "a\tx", *(f"no{i}\tno{i}" for i in range(4)), "c\tno more"]
    text = "\n".join(rows).replace("\t", "," if "csv" in name else "\t")
    message = refusal(tmp_path, {**GOOD, name: text})
    assert_says(message, f"{tmp_path / name}: 9 entities in the groups are not in the KG: ", ", ...", "--lenient")
    assert_says(
        message,
        "'no0' (en, line 3)",
        "'no3' (en, line 6)",
        "'no0' (fr, line 3)",
        "expected entities that occur in the KG's file",
    )
    assert "'no1' (fr" not in message


def test_a_misspelt_kg_in_the_header_gets_a_suggestion(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "seeds.tsv": "en\tfrr\na\tx\n"})
    assert_says(message, f"{tmp_path / 'seeds.tsv'}, line 1: the header names 'frr', which is not a KG")
    assert_says(message, "expected KG names from: en, fr. Did you mean 'fr'? The first line of a groups file")


def test_lenient_reading_drops_unknown_entities_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = {**GOOD, "de.tsv": "k\tr\tl\n", "seeds.tsv": "en\tfr\tde\na\tx\tgone\nb\tgone\t\n\ty\tl\n"}
    task = multiea.load(write_files(tmp_path, files), lenient=True)
    assert named(task.seeds, task) == {group(en="a", fr="x"), group(fr="y", de="l")}
    assert_says(
        caplog.text,
        tmp_path / "seeds.tsv",
        "2 entities in the groups are not in the KG",
        "; dropped",
        "'gone' (fr, line 3)",
        "'gone' (de, line 2)",
    )
    assert "ignored 1 group with a single member" in caplog.text


@pytest.mark.parametrize("header", ["en\tfr\n", "en\tfr\na\t\n"])
@pytest.mark.parametrize("place", ["seeds.tsv", "groups.tsv", "--seeds"])
def test_a_file_of_groups_without_any_is_mentioned_with_what_to_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, place: str, header: str
) -> None:
    file = tmp_path / ("own.tsv" if place == "--seeds" else f"data/{place}")
    folder = write_files(tmp_path / "data", GOOD)
    file.write_text(header, encoding="utf-8")
    task = multiea.load(folder, seeds=file if place == "--seeds" else None)
    assert len(task.seeds) + len(task.held_out) == 0
    assert_says(caplog.text, f"{file}: no group in it", "Add one line per known group", "or remove the file")


def test_a_run_without_seeds_is_opened_without_such_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    names = [["Oslo"], ["Bergen"], ["Hamar"], ["Molde"], ["Narvik"], ["Bodø"]]
    align(multiea.Task([named_kg("a", names), named_kg("b", names)])).save(tmp_path / "run")
    caplog.clear()
    assert len(multiea.open(tmp_path / "run").task.seeds) == 0
    assert "no group in it" not in caplog.text


LINKS = {
    "seeds.nt": "".join(
        SAME_AS.format(f"http://{a}.org/a", f"http://{b}.org/{c}") for a, b, c in [("en", "fr", "a"), ("en", "de", "q")]
    ),
    "seeds.sssom.tsv": SSSOM_HEADER
    + "http://en.org/a\towl:sameAs\thttp://fr.org/a\nhttp://en.org/a\towl:sameAs\thttp://de.org/q\n",
}


@pytest.mark.parametrize("name", LINKS)
def test_links_to_unknown_entities_are_refused_or_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    message = refusal(tmp_path, {**IRIS, name: LINKS[name]})
    assert_says(message, f"{tmp_path / name}: 1 entity in the groups is not in the KG: 'http://de.org/q'", "--lenient")
    task = multiea.load(tmp_path, lenient=True)
    assert named(task.seeds, task) == {group(en="http://en.org/a", fr="http://fr.org/a")}
    assert_says(caplog.text, tmp_path / name, "1 entity in the groups", "; dropped", "'http://de.org/q'")


@pytest.mark.parametrize("name", [*LINKS, "seeds.tsv", "groups.tsv", "held_out.tsv"])
def test_lenient_reading_is_refused_if_no_group_is_left(tmp_path: Path, name: str) -> None:
    folder = write_files(tmp_path / "data", {**GOOD, name: LINKS.get(name, "en\tfr\nno1\tx\nno2\tno3\n")})
    message = refused("inspect", folder, "--lenient")
    assert_says(message, f"{folder / name}: no group is left without unknown entities; 3 entities in the groups")
    assert_says(message, "Compare the ids with those of the KGs, or leave the groups out")


def test_in_python_lenient_drops_members_of_listed_seeds_unless_none_is_left() -> None:
    tables = {kg: pl.DataFrame({"id": ["1", "2"], "name": ["Oslo", "Voss"]}) for kg in ("a", "b")}
    seeds = [{"a": "1", "b": "1"}, {"a": "2", "b": "9"}]
    assert len(multiea.load(tables, seeds=seeds, lenient=True).seeds) == 1
    with pytest.raises(multiea.InputError, match=r"no group is left without unknown entities; 1 entity .* '9'"):
        multiea.load(tables, seeds=seeds[1:], lenient=True)


def test_a_table_of_entities_without_entities_is_mentioned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    multiea.load(write_files(tmp_path, {**GOOD, "entities.tsv": "kg\tentity\tlabel\n"}))
    assert f"{tmp_path / 'entities.tsv'}: a header and no entities" in caplog.text


@pytest.mark.parametrize("name", ["groups.tsv", "seeds.csv", "seeds.sssom.tsv"])
def test_a_repeated_column_is_named(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {**GOOD, name: "en\tfr\ten\na\tx\tb\n".replace("\t", "," if "csv" in name else "\t")})
    assert_says(message, f"{tmp_path / name}, line 1: the header contains 'en' twice", "expected ", " column")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seeds.nt", "".join(SAME_AS.format(f"http://en.org/{x}", "http://fr.org/a") for x in "ab")),
        ("seeds.sssom.tsv", SSSOM_HEADER + "".join(f"http://en.org/{x}\towl:sameAs\thttp://fr.org/a\n" for x in "ab")),
    ],
)
def test_links_that_join_two_entities_of_a_kg_are_named(tmp_path: Path, name: str, text: str) -> None:
    message = refusal(tmp_path, {**IRIS, name: text})
    assert_says(
        message, f"{tmp_path / name}: the links put two entities of KG 'en' into one group", "expected at most one"
    )
    assert_says(message, "'http://en.org/a'", "'http://en.org/b'", "Remove the wrong link")


def test_an_entity_in_two_groups_is_named_with_both_lines(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": "en\tfr\na\tx\n\nb\ty\na\tz\n"})
    assert_says(message, f"{tmp_path / 'groups.tsv'}: entity 'a' of KG 'en' is in two groups (lines 2 and 5; 1 such")
    assert_says(message, "expected each entity in at most one group")


def test_an_entity_in_a_seed_and_in_a_held_out_group_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "seeds.tsv": "en\tfr\na\tx\n", "held_out.tsv": "en\tfr\na\ty\n"})
    assert_says(
        message,
        "entity 'a' of KG 'en' is in two groups, of the seeds and of the held-out",
        "expected each entity in at most one group",
    )


@pytest.mark.parametrize("name", ["groups.tsv", "seeds.csv", "seeds.parquet"])
def test_a_header_with_an_unknown_kg_is_named(tmp_path: Path, name: str) -> None:
    table = pl.DataFrame({"en": ["a"], "english": ["b"]})
    content: str | bytes = table.write_csv(separator="\t" if "tsv" in name else ",")
    message = refusal(tmp_path, {**GOOD, name: parquet(table) if "parquet" in name else content})
    assert_says(
        message, tmp_path / name, "the header names 'english', which is not a KG", "expected KG names from: en, fr"
    )


def test_groups_without_a_header_are_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": "a\tx\nb\ty\n"})
    assert_says(message, f"{tmp_path / 'groups.tsv'}, line 1: the header names 'a', 'x', which are no KGs", "header")


def test_a_ragged_line_of_groups_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": "en\tfr\na\tx\n\nb\n"})
    assert_says(message, f"{tmp_path / 'groups.tsv'}, line 4: 1 field;", "expected 2 as in the first line", "tabs")


@pytest.mark.parametrize("empty", ["", "\n\n"])
def test_an_empty_file_of_groups_is_named(tmp_path: Path, empty: str) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": empty})
    assert_says(
        message, f"{tmp_path / 'groups.tsv'}: the file is empty", "expected a header with one KG name per column"
    )


def test_groups_and_seeds_together_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": "en\tfr\na\tx\n", "seeds.tsv": "en\tfr\na\tx\n"})
    assert_says(message, "both groups (to be split) and seeds", "expected one of the two", "held_out")


def test_two_files_of_seeds_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "seeds.csv": "en,fr\na,x\n", "seeds.tsv": "en\tfr\na\tx\n"})
    assert_says(message, "two files are named 'seeds': seeds.csv and seeds.tsv")


def test_an_iri_of_two_kgs_cannot_be_linked(tmp_path: Path) -> None:
    shared = "<http://both.org/a> <http://x.org/p> <http://{}.org/b> .\n"
    files = {"en.nt": shared.format("en"), "fr.nt": shared.format("fr")}
    message = refusal(tmp_path, {**files, "seeds.nt": SAME_AS.format("http://both.org/a", "http://fr.org/b")})
    assert_says(
        message, f"{tmp_path / 'seeds.nt'}: 'http://both.org/a' is an entity of several KGs (en, fr)", "groups.tsv"
    )


def test_a_file_without_same_as_links_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**IRIS, "seeds.nt": NT * 2})
    assert_says(message, f"{tmp_path / 'seeds.nt'}: 2 triples and no link", "owl#sameAs")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no mappings", "expected a header line with subject_id"]),
        ("#curie_map:\n", ["no mappings"]),
        (
            "subject_id\tobject_id\na\tx\n",
            ["no column predicate_id", "expected subject_id, predicate_id and object_id"],
        ),
        (SSSOM_HEADER, ["no exact mapping", "skos:exactMatch"]),
        (SSSOM_HEADER + "a\tskos:closeMatch\tx\n", ["no exact mapping"]),
        (SSSOM_HEADER + "a\towl:sameAs\n", ["line 2: 2 fields", "expected 3 as in the header"]),
        ("#a: [\n" + SSSOM_HEADER, ["not valid YAML"]),
        ("#just words\n" + SSSOM_HEADER, ["no keys"]),
        ("#curie_map: [x]\n" + SSSOM_HEADER, ["no keys"]),
    ],
)
def test_invalid_sssom_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    assert_says(refusal(tmp_path, {**GOOD, "seeds.sssom.tsv": text}), tmp_path / "seeds.sssom.tsv", *words)


@pytest.mark.parametrize(
    "metadata",
    ["mapping_date: 2024-02-31", f"version: {'1' * 5000}", f"other: {'[' * 3000}", "count: 0b_", "size: !!float x"],
)
def test_sssom_metadata_that_yaml_cannot_load_is_refused(tmp_path: Path, metadata: str) -> None:
    text = f"#{metadata}\n{SSSOM_HEADER}a\towl:sameAs\tx\n"
    try:
        task = multiea.load(write_files(tmp_path, {**GOOD, "seeds.sssom.tsv": text}))
    except MultiEAError as error:
        assert_says(str(error), tmp_path / "seeds.sssom.tsv")
    else:
        assert len(task.seeds) == 1


def test_a_sssom_prefix_that_is_not_text_is_refused(tmp_path: Path) -> None:
    text = f'#curie_map: {{"EN": "\\ud800"}}\n{SSSOM_HEADER}EN:a\towl:sameAs\tx\n'
    assert_says(refusal(tmp_path, {**GOOD, "seeds.sssom.tsv": text}), tmp_path / "seeds.sssom.tsv")


def test_entities_of_an_unknown_kg_are_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "entities.tsv": "kg\tentity\tlabel\nen\ta\tA\nde\tb\tB\n"})
    assert_says(message, tmp_path / "entities.tsv", "line 3", "the entity 'b' of KG 'de'", "expected a KG from: en, fr")


@pytest.mark.parametrize("text", ["", "entity\tlabel\na\tA\n", "en\ta\tA\n"])
def test_entities_tsv_without_its_header_is_named(tmp_path: Path, text: str) -> None:
    message = refusal(tmp_path, {**GOOD, "entities.tsv": text})
    assert_says(message, f"{tmp_path / 'entities.tsv'}, line 1: the header", "expected kg, entity, label")
