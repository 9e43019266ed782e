"""What a user gets wrong is named: the file, the line, what was found, what was expected; on the command line too."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.foundation.errors import MultiEAError, SettingError
from support.datasets import facts, group, named, parquet, write_files

TSV = "a\tr\tb\nb\tr\tc\nc\tr\td\n"
OTHER = "x\ts\ty\ny\ts\tz\n"
GOOD: dict[str, str | bytes] = {"en.tsv": TSV, "fr.tsv": OTHER}
NT = "<http://en.org/a> <http://en.org/p> <http://en.org/b> .\n"
NT_OTHER = NT.replace("en.org", "fr.org")
IRIS: dict[str, str | bytes] = {"en.nt": NT, "fr.nt": NT_OTHER}
SAME_AS = "<{}> <http://www.w3.org/2002/07/owl#sameAs> <{}> .\n"
SSSOM_HEADER = "subject_id\tpredicate_id\tobject_id\n"
DBP15K: dict[str, str | bytes] = {
    "ent_ids_1": "0\tzh a\n1\tzh b\n",
    "ent_ids_2": "2\ten a\n3\ten b\n",
    "triples_1": "0\t7\t1\n",
    "triples_2": "2\t8\t3\n",
    "ref_ent_ids": "0\t2\n",
}
OPENEA: dict[str, str | bytes] = {"rel_triples_1": TSV, "rel_triples_2": OTHER, "ent_links": "a\tx\n"}


def refusal(folder: Path, files: dict[str, str | bytes], **options: bool) -> str:
    """What load() says about a folder it must refuse."""
    with pytest.raises(MultiEAError) as caught:
        multiea.load(write_files(folder, files), **options)  # type: ignore[arg-type]
    return str(caught.value)


def assert_says(message: str, *words: str | Path) -> None:
    for word in words:
        assert str(word) in message, message


# Files that are not there, or not what they seem


def test_a_missing_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / "nowhere")
    assert_says(str(caught.value), tmp_path / "nowhere", "no data set", "expected a folder", "world", "Check")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    with pytest.raises(MultiEAError) as caught:
        multiea.load([tmp_path / "en.tsv", tmp_path / "de.tsv"])
    assert_says(str(caught.value), f"{tmp_path / 'de.tsv'}: no such file", "Check the spelling")


def test_a_missing_file_of_dataset_toml_is_named(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = "en.tsv"\n[kgs.fr]\nfile = "gone.nt"\n'
    assert_says(refusal(tmp_path, {**GOOD, "dataset.toml": toml}), f"{tmp_path / 'gone.nt'}: no such file")


def test_a_missing_dataset_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(MultiEAError, match="no such file") as caught:
        multiea.load(tmp_path / "my.toml")
    assert_says(str(caught.value), tmp_path / "my.toml")


def test_missing_seeds_are_named(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    with pytest.raises(MultiEAError, match="no such file") as caught:
        multiea.load(tmp_path, seeds=tmp_path / "links.tsv")
    assert_says(str(caught.value), tmp_path / "links.tsv")


def test_a_name_longer_than_the_system_allows_is_an_error_like_any_other(tmp_path: Path) -> None:
    with pytest.raises(MultiEAError):
        multiea.load(tmp_path / ("a" * 300))
    toml = f'[kgs.en]\nfile = "{"a" * 300}.tsv"\n[kgs.fr]\nfile = "fr.tsv"\n'
    assert_says(refusal(tmp_path, {**GOOD, "dataset.toml": toml}), "aaa.tsv")


def test_a_single_file_is_no_data_set(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    for source in (tmp_path / "en.tsv", [tmp_path / "en.tsv"]):
        with pytest.raises(MultiEAError, match="a single file is no data set") as caught:
            multiea.load(source)
        assert_says(str(caught.value), tmp_path / "en.tsv", "expected at least two KGs")


@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.nt", "en.nt.gz", "en.parquet", "en.rdf"])
def test_a_folder_where_a_file_is_expected_is_named(tmp_path: Path, name: str) -> None:
    toml = f'[kgs.en]\nfile = "{name}"\n[kgs.fr]\nfile = "fr.tsv"\n'
    message = refusal(tmp_path, {f"{name}/inside.tsv": TSV, "fr.tsv": OTHER, "dataset.toml": toml})
    assert_says(message, f"{tmp_path / name}: this is a folder", "expected a file")


@pytest.mark.parametrize("folder", ["dataset.toml", "my.toml"])
def test_a_folder_in_the_place_of_a_toml_file_is_named(tmp_path: Path, folder: str) -> None:
    write_files(tmp_path / folder, {"inside.txt": "x"})
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / folder)
    assert_says(str(caught.value), tmp_path / folder)


@pytest.mark.parametrize("empty", ["", "\n", "\r\n\n", "\ufeff"])
@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.tsv.gz"])
def test_an_empty_table_is_named(tmp_path: Path, name: str, empty: str) -> None:
    message = refusal(tmp_path, {name: empty, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: KG 'en' is empty", "expected at least one triple")


@pytest.mark.parametrize("name", ["en.nt", "en.nq", "en.ttl", "en.nt.gz"])
def test_empty_rdf_is_named(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {name: "# nothing\n", "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: KG 'en' is empty", "expected at least one triple")


def test_a_file_of_a_header_only_is_an_empty_kg(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.csv": "head,relation,tail\n", "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}: KG 'en' is empty")


def test_an_empty_kg_of_a_pair_benchmark_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path / "zh_en", {**OPENEA, "rel_triples_2": ""})
    assert_says(message, tmp_path / "zh_en" / "rel_triples_2", "KG 'en' is empty", "expected at least one triple")


@pytest.mark.parametrize("name", ["en.doc", "en", "en.json.gz", ".tsv"])
def test_an_unknown_format_is_named_with_those_that_are_known(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {name: TSV, "fr.tsv": OTHER})
    with pytest.raises(MultiEAError) as caught:
        multiea.load([tmp_path / name, tmp_path / "fr.tsv"])
    assert_says(
        str(caught.value), f"{tmp_path / name}: unknown format", "expected a name ending in", ".tsv", ".nt", ".gz"
    )


def test_a_file_of_mappings_that_is_no_kg_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "mappings.sssom.tsv": SSSOM_HEADER})
    assert_says(message, "mappings.sssom.tsv")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such file names")
def test_a_file_name_that_is_no_text_is_an_error_like_any_other(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    (tmp_path / os.fsdecode(b"\xff.tsv")).write_text(TSV)
    with pytest.raises(MultiEAError):
        multiea.load(tmp_path)


# Tables


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("wrong", [["a", "r"], ["a", "r", "b", "c"], ["a"]])
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_line_with_too_few_or_too_many_fields_is_named(
    tmp_path: Path, separator: str, wrong: list[str], gz: str
) -> None:
    name = ("en.csv" if separator == "," else "en.tsv") + gz
    lines = ["a r b", "", "b r c", " ".join(wrong), "c r d"]
    message = refusal(tmp_path, {name: "\n".join(lines).replace(" ", separator), "fr.tsv": OTHER})
    count = f"{len(wrong)} field" + "s" * (len(wrong) > 1)
    kind = "commas" if separator == "," else "tabs"
    assert_says(message, f"{tmp_path / name}, line 4: {count};", "expected 3", kind, "head, relation, tail")


@pytest.mark.parametrize("fields", [1, 2, 4])
def test_a_table_of_another_width_is_named(tmp_path: Path, fields: int) -> None:
    message = refusal(tmp_path, {"en.tsv": ("\t".join("abcd"[:fields]) + "\n") * 3, "fr.tsv": OTHER})
    assert_says(
        message, f"{tmp_path / 'en.tsv'}, line 1: {fields} field", "expected three fields: head, relation, tail"
    )


@pytest.mark.parametrize("line", ["a\t\tb", "\tr\tb", "a\tr\t", "a\tr\t\r", "\t\t"])
@pytest.mark.parametrize("separator", ["\t", ","])
def test_an_empty_field_is_named(tmp_path: Path, line: str, separator: str) -> None:
    name = "en.csv" if separator == "," else "en.tsv"
    message = refusal(tmp_path, {name: f"{TSV}\n{line}\n{TSV}".replace("\t", separator), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}, line 5: an empty field", "expected head, relation, tail, none empty")


def test_a_quoted_empty_field_is_empty(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.csv": 'a,r,b\n"a\nb",r,c\na,"",b\n', "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 4: an empty field")


@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.tsv.gz", "groups.tsv", "entities.tsv"])
def test_text_that_is_not_utf_8_is_named_by_its_line(tmp_path: Path, name: str) -> None:
    data = "a\tr\té\n\n".encode() * 3 + "a\tr\té\n".encode("latin-1")
    files = {**GOOD, name: gzip.compress(data) if name.endswith(".gz") else data}
    if name not in GOOD and name.startswith("en."):
        del files["en.tsv"]
    message = refusal(tmp_path, files)
    assert_says(message, f"{tmp_path / name}, line 7: not UTF-8 (byte 0xe9)", "expected UTF-8 text", "iconv")


def test_the_line_of_a_broken_byte_is_right_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 64)
    message = refusal(tmp_path, {"en.tsv": b"a\tr\tb\n" * 123 + b"a\tr\t\xff\n", "fr.tsv": OTHER})
    assert_says(message, "line 124: not UTF-8 (byte 0xff)")


def test_the_line_of_a_wrong_record_is_right_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 64)
    message = refusal(tmp_path, {"en.csv": '"a\n",r,"b\r\n"\n\n' * 100 + "a,r\n", "fr.tsv": OTHER})
    assert_says(message, "line 401: 2 fields")


def test_utf_16_is_not_taken_for_text(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.tsv": TSV.encode("utf-16"), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.tsv'}, line 1: not UTF-8")


def test_a_record_without_an_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr("multiea.data.files.LONGEST_RECORD", 1 << 20)
    message = refusal(tmp_path, {"en.csv": 'a,r,b\nc,r,"' + "d,e,f\n" * 200_000, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 2: a record longer than 1 MiB", "A quote that is never closed")


@pytest.mark.parametrize("line", ['a,say "hi",b', '"a"b,r,c', 'a,r,b"', 'a"b,r,c', '"a" ,r,c', 'a, "r",c'])
def test_a_stray_quote_is_named(tmp_path: Path, line: str) -> None:
    message = refusal(tmp_path, {"en.csv": f'a,r,"two\nlines"\n{line}\nb,r,c\n', "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 3: a quote", "expected a field with quotes")


def test_a_quote_that_is_never_closed_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.csv": 'a,r,b\nb,"r,c\nc,r,d\n', "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 2: a quote")


@pytest.mark.parametrize("data", [b"", b"no parquet", b"PAR1" + b"\xff" * 40 + b"PAR1"])
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_corrupt_parquet_file_is_named(tmp_path: Path, data: bytes, gz: str) -> None:
    name = f"en.parquet{gz}"
    message = refusal(tmp_path, {name: gzip.compress(data) if gz else data, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: not a Parquet table")


def test_a_parquet_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    whole = parquet(pl.DataFrame({"head": range(99), "relation": range(99), "tail": range(99)}))
    for cut in (whole[:-1], whole[: len(whole) // 2], whole[4:]):
        assert_says(
            refusal(tmp_path, {"en.parquet": cut, "fr.tsv": OTHER}), f"{tmp_path / 'en.parquet'}: not a Parquet"
        )


def test_a_parquet_file_without_the_usual_columns_is_named(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": ["x"], "b": ["x"], "c": ["x"], "d": ["x"]})
    message = refusal(tmp_path, {"en.parquet": parquet(table), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / 'en.parquet'}: 4 fields", "expected three fields: head, relation, tail")


def test_an_empty_cell_of_a_parquet_file_is_named(tmp_path: Path) -> None:
    table = pl.DataFrame({"head": ["a", "b"], "relation": ["r", None], "tail": ["c", "d"]})
    message = refusal(tmp_path, {"en.parquet": parquet(table), "fr.tsv": OTHER})
    assert_says(message, str(tmp_path / "en.parquet"), "2: an empty field", "none empty")


def test_a_column_that_a_table_does_not_have_is_named_with_the_nearest(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = "en.csv"\ncolumns = ["who", "does", "whom"]\n[kgs.fr]\nfile = "fr.tsv"\n'
    message = refusal(tmp_path, {"en.csv": "who,dose,whom\na,r,b\n", "fr.tsv": OTHER, "dataset.toml": toml})
    assert_says(message, f"{tmp_path / 'en.csv'}, line 1", "unknown column 'does'", "Did you mean 'dose'?")


XML = (
    '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/">\n'
    '<rdf:Description rdf:about="http://x.org/a"><x:p rdf:resource="http://x.org/b"/></rdf:Description>\n'
)

# Gzip

LONG_TEXTS = {
    "en.tsv.gz": "".join(f"a{i}\tr\tb{i}\n" for i in range(500)),
    "en.csv.gz": "".join(f"a{i},r,b{i}\n" for i in range(500)),
    "en.nt.gz": "".join(NT.replace("/a>", f"/{i}>") for i in range(500)),
    "en.nq.gz": "".join(NT.replace("/a>", f"/{i}>") for i in range(500)),
    "en.ttl.gz": "".join(NT.replace("/a>", f"/{i}>") for i in range(500)),
    "en.rdf.gz": XML
    + "".join(f"<rdf:Description><x:p>{i}</x:p></rdf:Description>\n" for i in range(500))
    + "</rdf:RDF>",
    "en.parquet.gz": "PAR1" + "".join(map(str, range(500))),
}


@pytest.mark.parametrize("name", LONG_TEXTS)
@pytest.mark.parametrize("keep", [5, 0.5, -4])
def test_gzip_that_is_cut_off_is_named(tmp_path: Path, name: str, keep: float) -> None:
    packed = gzip.compress(LONG_TEXTS[name].encode())
    cut = packed[: int(len(packed) * keep) if isinstance(keep, float) else keep]
    message = refusal(tmp_path, {name: cut, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: the gzip data is cut off or damaged", "again")


@pytest.mark.parametrize("name", ["en.tsv.gz", "en.nt.gz", "en.rdf.gz", "en.parquet.gz"])
def test_a_file_named_gz_that_is_not_gzipped_is_named(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {name: TSV.encode(), "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}: the name ends in .gz but the file is not gzipped", "Rename it")


@pytest.mark.parametrize("name", ["en.tsv", "en.csv", "en.nt", "en.nq", "en.ttl", "en.rdf"])
def test_a_gzipped_file_not_named_gz_is_named(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {name: gzip.compress(TSV.encode()), "fr.tsv": OTHER})
    assert_says(message, tmp_path / name, "It looks gzipped: let its name end in .gz")


def test_what_follows_the_gzip_data_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.tsv.gz": gzip.compress(TSV.encode()) + b"junk", "fr.tsv": OTHER})
    assert_says(message, tmp_path / "en.tsv.gz")


# RDF


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "text", "line", "kind"),
    [
        ("en.nt", NT * 3 + "<http://x.org/a> <http://x.org/p> .\n" + NT, 4, "N-Triples"),
        ("en.nt", NT + "<http://x.org/a> <http://x.org/p> <not an iri> .\n", 2, "N-Triples"),
        ("en.nt", NT + TSV, 2, "N-Triples"),
        ("en.nq", NT * 2 + "<http://x.org/a> <http://x.org/p> <http://x.org/b> <x> . .\n", 3, "N-Quads"),
        ("en.ttl", "@prefix : <http://x.org/> .\n:a :p :b .\n:a :p\n:b :c .\n", 4, "Turtle"),
        ("en.ttl", ":a :b :c .\n", 1, "Turtle"),
        ("en.rdf", XML + "<rdf:Description>\n</rdf:RDF>\n", 5, "RDF/XML"),
        ("en.rdf", XML + "<a & b/>", 4, "RDF/XML"),
    ],
)
def test_broken_rdf_is_named_by_its_line(tmp_path: Path, name: str, text: str, line: int, kind: str, gz: str) -> None:
    message = refusal(tmp_path, {f"{name}{gz}": text, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}{gz}, line {line}: broken {kind}: ", "Correct the line")


@pytest.mark.parametrize("name", ["en.nt", "en.nq", "en.ttl", "en.rdf"])
def test_rdf_that_is_not_utf_8_is_named(tmp_path: Path, name: str) -> None:
    text = (
        XML + "<rdf:Description><x:p>é</x:p></rdf:Description></rdf:RDF>"
        if name == "en.rdf"
        else NT * 3 + '<http://x.org/é> <http://x.org/p> "é" .\n'
    ).encode("latin-1")
    message = refusal(tmp_path, {name: text, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}, line 4: ")


@pytest.mark.parametrize("encoding", ["nonsense", "big5", "utf-7", "iso-8859-1"])
def test_xml_in_another_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    text = XML.replace('"1.0"', f'"1.0" encoding="{encoding}"') + "</rdf:RDF"
    assert_says(refusal(tmp_path, {"en.rdf": text, "fr.tsv": OTHER}), tmp_path / "en.rdf", "broken RDF/XML")


def test_rdf_xml_that_ends_too_early_is_named(tmp_path: Path) -> None:
    for text in (XML, XML + XML.splitlines()[-1][:50], XML + "<rdf:Description><x:p>lit"):
        assert_says(refusal(tmp_path, {"en.rdf": text, "fr.tsv": OTHER}), tmp_path / "en.rdf", "broken RDF/XML")


def test_xml_that_is_no_rdf_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.xml": '<?xml version="1.0"?>\n<html><p>hello</p></html>', "fr.tsv": OTHER})
    assert_says(message, tmp_path / "en.xml")


# Groups


@pytest.mark.parametrize("name", ["groups.tsv", "seeds.csv", "held_out.tsv", "seeds.tsv.gz"])
def test_groups_of_unknown_entities_are_counted_and_the_first_five_named(tmp_path: Path, name: str) -> None:
    rows = ["en\tfr", "a\tx", *(f"no{i}\tno{i}" for i in range(4)), "c\tno more"]
    text = "\n".join(rows).replace("\t", "," if "csv" in name else "\t")
    message = refusal(tmp_path, {**GOOD, name: text})
    assert_says(message, f"{tmp_path / name}: 9 entities of groups are not in the KG: ", ", ...", "--lenient")
    assert_says(
        message,
        "'no0' (en, line 3)",
        "'no3' (en, line 6)",
        "'no0' (fr, line 3)",
        "expected entities that occur in the KG's file",
    )
    assert "'no1' (fr" not in message


def test_lenience_drops_unknown_entities_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {**GOOD, "de.tsv": "k\tr\tl\n", "seeds.tsv": "en\tfr\tde\na\tx\tgone\nb\tgone\t\n\ty\tl\n"}
    task = multiea.load(write_files(tmp_path, files), lenient=True)
    assert named(task.seeds, task) == {group(en="a", fr="x"), group(fr="y", de="l")}
    assert_says(
        caplog.text,
        tmp_path / "seeds.tsv",
        "dropped 2 entities of groups",
        "'gone' (fr, line 3)",
        "'gone' (de, line 2)",
    )
    assert "1 group with a single member left out" in caplog.text


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
    assert_says(message, f"{tmp_path / name}: 1 entity of groups is not in the KG: 'http://de.org/q'", "--lenient")
    task = multiea.load(tmp_path, lenient=True)
    assert named(task.seeds, task) == {group(en="http://en.org/a", fr="http://fr.org/a")}
    assert_says(caplog.text, tmp_path / name, "dropped 1 entity", "'http://de.org/q'")


@pytest.mark.parametrize("name", LINKS)
def test_lenience_survives_that_no_link_is_left(tmp_path: Path, name: str) -> None:
    task = multiea.load(write_files(tmp_path, {**GOOD, name: LINKS[name]}), lenient=True)
    assert len(task.seeds) == 0


@pytest.mark.parametrize("name", ["groups.tsv", "seeds.csv", "seeds.sssom.tsv"])
def test_a_repeated_column_would_put_two_entities_of_a_kg_into_a_group(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, {**GOOD, name: "en\tfr\ten\na\tx\tb\n".replace("\t", "," if "csv" in name else "\t")})
    assert_says(message, f"{tmp_path / name}, line 1: the header names 'en' twice", "expected ", " column")


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
    assert_says(message, "'http://en.org/a'", "'http://en.org/b'", "Remove the link that is wrong")


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
def test_a_header_that_names_no_kg_is_named(tmp_path: Path, name: str) -> None:
    table = pl.DataFrame({"en": ["a"], "english": ["b"]})
    content: str | bytes = table.write_csv(separator="\t" if "tsv" in name else ",")
    message = refusal(tmp_path, {**GOOD, name: parquet(table) if "parquet" in name else content})
    assert_says(
        message, tmp_path / name, "the header names 'english', which is no KG", "expected KG names from: en, fr"
    )


def test_groups_without_a_header_are_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": "a\tx\nb\ty\n"})
    assert_says(message, f"{tmp_path / 'groups.tsv'}, line 1: the header names 'a', 'x', which is no KG", "header")


def test_a_ragged_line_of_groups_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": "en\tfr\na\tx\n\nb\n"})
    assert_says(message, f"{tmp_path / 'groups.tsv'}, line 4: 1 field;", "expected 2 as in the first line", "tabs")


@pytest.mark.parametrize("empty", ["", "\n\n"])
def test_an_empty_file_of_groups_is_named(tmp_path: Path, empty: str) -> None:
    message = refusal(tmp_path, {**GOOD, "groups.tsv": empty})
    assert_says(message, f"{tmp_path / 'groups.tsv'}: the file is empty", "expected a header with one KG name a column")


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


def test_a_file_of_other_triples_is_no_file_of_links(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**IRIS, "seeds.nt": NT * 2})
    assert_says(message, f"{tmp_path / 'seeds.nt'}: 2 triples, none of them a link", "owl#sameAs")


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
        ("#a: [\n" + SSSOM_HEADER, ["no YAML"]),
        ("#just words\n" + SSSOM_HEADER, ["no keys"]),
        ("#curie_map: [x]\n" + SSSOM_HEADER, ["no keys"]),
    ],
)
def test_broken_sssom_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    assert_says(refusal(tmp_path, {**GOOD, "seeds.sssom.tsv": text}), tmp_path / "seeds.sssom.tsv", *words)


@pytest.mark.parametrize(
    "metadata",
    ["mapping_date: 2024-02-31", f"version: {'1' * 5000}", f"other: {'[' * 3000}", "count: 0b_", "size: !!float x"],
)
def test_sssom_metadata_that_yaml_cannot_make_a_value_of_is_an_error_like_any_other(
    tmp_path: Path, metadata: str
) -> None:
    text = f"#{metadata}\n{SSSOM_HEADER}a\towl:sameAs\tx\n"
    try:
        task = multiea.load(write_files(tmp_path, {**GOOD, "seeds.sssom.tsv": text}))
    except MultiEAError as error:
        assert_says(str(error), tmp_path / "seeds.sssom.tsv")
    else:
        assert len(task.seeds) == 1


def test_a_sssom_prefix_that_is_no_text_is_an_error_like_any_other(tmp_path: Path) -> None:
    text = f'#curie_map: {{"EN": "\\ud800"}}\n{SSSOM_HEADER}EN:a\towl:sameAs\tx\n'
    assert_says(refusal(tmp_path, {**GOOD, "seeds.sssom.tsv": text}), tmp_path / "seeds.sssom.tsv")


def test_entities_of_an_unknown_kg_are_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "entities.tsv": "kg\tentity\tlabel\nen\ta\tA\nde\tb\tB\n"})
    assert_says(message, tmp_path / "entities.tsv", "line 3", "an entity 'b' of KG 'de'", "expected a KG from: en, fr")


@pytest.mark.parametrize("text", ["", "entity\tlabel\na\tA\n", "en\ta\tA\n"])
def test_a_file_of_entities_without_its_header_is_named(tmp_path: Path, text: str) -> None:
    message = refusal(tmp_path, {**GOOD, "entities.tsv": text})
    assert_says(message, f"{tmp_path / 'entities.tsv'}, line 1: the header", "expected kg, entity, label")


# Data sets


@pytest.mark.parametrize("files", [{}, {"en.tsv": TSV}, {"groups.tsv": "en\n", "README.md": "x"}])
def test_fewer_than_two_kgs_are_no_data_set(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    message = refusal(tmp_path, files)
    assert_says(message, tmp_path, "a data set of", "KG", "expected at least two triples files", ".tsv", *files)


def test_no_file_at_all_is_no_data_set() -> None:
    with pytest.raises(MultiEAError, match="no KG; expected at least two KGs"):
        multiea.load([])


def test_two_files_of_one_name_in_a_folder_are_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "en.nt": NT})
    assert_says(message, f"{tmp_path}: two files are named 'en': en.nt and en.tsv", "expected a name of its own")


def test_two_given_files_of_one_name_are_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"en.tsv": TSV, "en.nt": NT})
    with pytest.raises(MultiEAError, match="two KGs are named 'en'; expected a name of its own for each KG"):
        multiea.load([tmp_path / "en.tsv", tmp_path / "en.nt"])


TWO_KGS = '[kgs.en]\nfile = "en.tsv"\n[kgs.fr]\nfile = "fr.tsv"\n'


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("name = \n", ["broken TOML", "line 1"]),
        ('name = "x"\nname = "y"\n', ["broken TOML", "line 2"]),
        ('nmae = "x"\n' + TWO_KGS, ["nmae", "Did you mean 'name'?"]),
        ('kg = "x"\n' + TWO_KGS, ["kg", "Did you mean 'kgs'?"]),
        (TWO_KGS + 'colums = ["a", "b", "c"]\n', ["kgs.fr.colums", "Did you mean 'columns'?"]),
        ('[kgs.en]\nfiel = "en.tsv"\n[kgs.fr]\nfile = "fr.tsv"\n', ["kgs.en", "fiel", "Did you mean 'file'?"]),
        (TWO_KGS + '[seeds]\nfile = "s.tsv"\nfromat = "tsv"\n', ["seeds", "fromat", "Did you mean 'format'?"]),
        ("seeds = 3\n" + TWO_KGS, ["seeds"]),
        ('name = ["x"]\n' + TWO_KGS, ["name", "string"]),
        ("kgs = 3\n", ["kgs"]),
        ('[kgs]\nen = "en.tsv"\nfr = "fr.tsv"\n', ["kgs.en"]),
        (TWO_KGS + 'columns = ["a", "b"]\n', ["kgs.fr.columns"]),
        (TWO_KGS + 'format = "tvs"\n', ["unknown format 'tvs'", "Did you mean 'tsv'?"]),
        (TWO_KGS + 'format = "sssom"\n', ["unknown format 'sssom'"]),
        (TWO_KGS + '[seeds]\nfile = "s.tsv"\nformat = "sssmo"\n', ["unknown format of groups 'sssmo'", "'sssom'"]),
        ("[kgs.en]\nfile = []\n[kgs.fr]\nfile = []\n", ["KG 'en' has no file"]),
        (f"name = {'1' * 5000}\n", []),
        (f"name = {'[' * 5000}\n", []),
    ],
)
def test_a_broken_dataset_toml_is_named(tmp_path: Path, toml: str, words: list[str]) -> None:
    assert_says(refusal(tmp_path, {**GOOD, "dataset.toml": toml}), tmp_path / "dataset.toml", *words)


def test_a_dataset_toml_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "dataset.toml": b'name = "\xe9"\n'})
    assert_says(message, f"{tmp_path / 'dataset.toml'}: not UTF-8", "expected TOML")


def test_an_error_in_a_toml_of_another_name_names_that_file(tmp_path: Path) -> None:
    write_files(tmp_path, {**GOOD, "my.toml": TWO_KGS + 'format = "tvs"\n'})
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / "my.toml")
    assert_says(str(caught.value), tmp_path / "my.toml")


def test_one_kg_in_dataset_toml_is_too_few(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**GOOD, "dataset.toml": '[kgs.en]\nfile = "en.tsv"\n'})
    assert_says(message, "a data set of 1 KG", "at least two", "[kgs.NAME]")


def test_columns_are_for_tables_only(tmp_path: Path) -> None:
    toml = '[kgs.en]\nfile = "en.nt"\ncolumns = ["a", "b", "c"]\n[kgs.fr]\nfile = "fr.tsv"\n'
    assert_says(refusal(tmp_path, {"en.nt": NT, "fr.tsv": OTHER, "dataset.toml": toml}), "'en'", "columns", "n-triples")


# Pair benchmarks


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"triples_1": "0\t7\t1\n0\t7\t9\n"}, ["triples_1, line 2: entity id 9 (1 such case)", "expected ids from"]),
        ({"rel_ids_1": "6\tp\n"}, ["triples_1, line 1: relation id 7", "expected ids from the relation ids file"]),
        ({"ref_ent_ids": "0\t2\n1\t9\n"}, ["ref_ent_ids, line 2: entity id 9"]),
        ({"ref_ent_ids": "0\t2\n0\t3\n"}, ["ref_ent_ids: entity 'zh a' of KG 'zh' is in two groups (lines 1 and 2"]),
        ({"ent_ids_1": "0\tzh a\n0\tzh b\n1\tc\n"}, ["ent_ids_1", "the id 0 stands twice", "expected each id once"]),
        ({"ent_ids_1": ""}, ["ent_ids_1: the file is empty", "expected an id and a name in every line"]),
        ({"ent_ids_1": "0\tzh a\n1\n"}, ["ent_ids_1, line 2: 1 field", "expected 2"]),
        ({"ent_ids_1": "0\tzh\ta\n"}, ["ent_ids_1, line 1: 3 fields", "expected 2"]),
        ({"triples_1": "0\t7\n"}, ["triples_1, line 1: 2 fields", "expected 3"]),
        ({"triples_1": "0\t7\t1\n0\t\t1\n"}, ["triples_1, line 2: an empty field", "expected 3 fields, none empty"]),
        ({"ent_ids_1": "0\tzh a\n1\t\n"}, ["ent_ids_1, line 2: an empty field", "expected 2 fields, none empty"]),
        ({"ref_ent_ids": b"\xff"}, ["ref_ent_ids, line 1: not UTF-8"]),
    ],
)
def test_a_broken_dbp15k_folder_is_named(tmp_path: Path, files: dict[str, str | bytes], words: list[str]) -> None:
    assert_says(refusal(tmp_path / "zh_en", {**DBP15K, **files}), tmp_path / "zh_en", *words)


@pytest.mark.parametrize("missing", ["ent_ids_2", "triples_2", "ref_ent_ids"])
def test_a_missing_file_of_a_dbp15k_folder_is_named(tmp_path: Path, missing: str) -> None:
    message = refusal(tmp_path / "zh_en", {name: text for name, text in DBP15K.items() if name != missing})
    assert_says(message, tmp_path / "zh_en", missing)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"rel_triples_1": "a\tr\n"}, ["rel_triples_1, line 1: 2 fields", "expected 3"]),
        ({"rel_triples_1": "a\tr\tb\na\tr\n"}, ["rel_triples_1, line 2: 2 fields", "expected 3"]),
        ({"rel_triples_1": "a\tr\tb\n\na\t\tb\n"}, ["rel_triples_1, line 3: an empty field", "none empty"]),
        ({"ent_links": "a\tx\nb\tno\n"}, ["ent_links: 1 entity of groups is not in the KG: 'no' (en, line 2)"]),
        ({"ent_links": "a\tx\n\na\ty\n"}, ["ent_links: entity 'a' of KG 'zh' is in two groups (lines 1 and 3"]),
        ({"ent_links": "a\tx\ty\n"}, ["ent_links, line 1: 3 fields", "expected 2"]),
    ],
)
def test_a_broken_openea_folder_is_named(tmp_path: Path, files: dict[str, str | bytes], words: list[str]) -> None:
    assert_says(refusal(tmp_path / "zh_en", {**OPENEA, **files}), tmp_path / "zh_en", *words)


def test_an_error_in_a_gzipped_pair_file_names_the_file_that_is_there(tmp_path: Path) -> None:
    files = {"rel_triples_1.gz": "a\tr\n", "rel_triples_2": OTHER, "ent_links": ""}
    assert_says(refusal(tmp_path / "zh_en", files), tmp_path / "zh_en" / "rel_triples_1.gz", "2 fields")


@pytest.mark.parametrize("missing", ["rel_triples_2", "ent_links"])
def test_a_missing_file_of_an_openea_folder_is_named(tmp_path: Path, missing: str) -> None:
    message = refusal(tmp_path / "zh_en", {name: text for name, text in OPENEA.items() if name != missing})
    assert_says(message, f"{tmp_path / 'zh_en' / missing}: no such file", "Check that the folder is whole")


# Kept from becoming a result by accident


@pytest.mark.parametrize("name", ["\ud800", None, ""])
def test_names_that_no_file_can_hold_are_refused_where_they_come_in(name: str) -> None:
    with pytest.raises(MultiEAError):
        multiea.KnowledgeGraph.from_triples("en", [(name, "r", "b")])


def test_what_the_reader_of_one_file_refuses_does_not_touch_the_other(tmp_path: Path) -> None:
    refusal(tmp_path, {**GOOD, "groups.tsv": "en\tde\n"})
    (tmp_path / "groups.tsv").unlink()
    assert len(facts(multiea.load(tmp_path).kgs[0])) == 3


# The command line

RUNNER = CliRunner()
BAD: dict[str, dict[str, str | bytes]] = {
    "no file": {},
    "two fields": {"en.tsv": "a\tb\n", "fr.tsv": OTHER},
    "not UTF-8": {"en.tsv": b"a\tr\t\xff\n", "fr.tsv": OTHER},
    "cut off gzip": {"en.tsv.gz": gzip.compress(TSV.encode())[:-3], "fr.tsv": OTHER},
    "broken Turtle": {"en.ttl": ":a :b :c .", "fr.tsv": OTHER},
    "broken XML": {"en.rdf": '<?xml version="1.0" encoding="nonsense"?><a', "fr.tsv": OTHER},
    "no Parquet": {"en.parquet": b"PAR1", "fr.tsv": OTHER},
    "unknown seeds": {**GOOD, "seeds.tsv": "en\tfr\n[bold]q[/bold]\tx\n"},
    "broken TOML": {**GOOD, "dataset.toml": "name = "},
}


@pytest.mark.parametrize("case", BAD)
def test_the_command_line_names_the_error_and_exits_with_2(tmp_path: Path, case: str) -> None:
    tmp_path.joinpath("data").mkdir()
    result = RUNNER.invoke(app, ["inspect", str(write_files(tmp_path / "data", BAD[case]))])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert str(tmp_path / "data") in result.stderr
    assert "Traceback" not in result.output
    with pytest.raises(MultiEAError) as caught:
        multiea.load(tmp_path / "data")
    assert result.stderr == f"error: {caught.value}\n"


@pytest.mark.parametrize("case", BAD)
def test_the_command_line_gives_errors_as_json_too(tmp_path: Path, case: str) -> None:
    tmp_path.joinpath("data").mkdir()
    result = RUNNER.invoke(app, ["inspect", "--json", str(write_files(tmp_path / "data", BAD[case]))])
    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert list(answer) == ["error"]
    assert str(tmp_path / "data") in answer["error"]
    assert result.stderr.startswith("error: ")


def test_warnings_of_a_lenient_inspection_go_to_stderr_and_into_the_json(tmp_path: Path) -> None:
    write_files(tmp_path, {**GOOD, "seeds.tsv": "en\tfr\na\tx\nb\tgone\n"})
    result = RUNNER.invoke(app, ["inspect", "--json", "--lenient", str(tmp_path)])
    assert result.exit_code == 0
    assert any("dropped 1 entity" in warning for warning in json.loads(result.stdout)["warnings"])
    assert "warning: " in result.stderr


def test_the_command_line_leaves_the_library_logging_as_it_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_files(tmp_path, {**GOOD, "seeds.tsv": "en\tfr\na\tx\nb\tgone\n"})
    RUNNER.invoke(app, ["inspect", str(tmp_path), "--lenient"])
    multiea.load(tmp_path, lenient=True)
    assert "dropped 1 entity" in caplog.text


@pytest.mark.parametrize("json_option", [[], ["--json"]])
@pytest.mark.parametrize(
    "source",
    [
        {},
        {"fr_en/triples_1": "x"},
        {f"{pair}/{name}": text for pair in ("fr_en", "ja_en", "zh_en") for name, text in DBP15K.items()}
        | {"zh_en/ref_ent_ids": "0\t99\n"},
        {f"{pair}/{name}": text for pair in ("fr_en", "ja_en", "zh_en") for name, text in DBP15K.items()}
        | {"zh_en/triples_1": b"\xff"},
        {"dbp15k.zip": b"PK no zip"},
        {"dbp15k.tar.gz": gzip.compress(b"no tar")[:-5]},
        {"dbp15k.tar.xz": b"no xz"},
    ],
)
def test_a_build_that_fails_leaves_nothing_behind(
    tmp_path: Path, source: dict[str, str | bytes], json_option: list[str]
) -> None:
    tmp_path.joinpath("source").mkdir()
    write_files(tmp_path / "source", source)
    out = tmp_path / "results" / "dbp-4"
    out.parent.mkdir()
    arguments = ["build", "dbp-4", "--source", str(tmp_path / "source"), "--out", str(out), *json_option]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    assert list(out.parent.iterdir()) == []
    assert (list(json.loads(result.stdout)) == ["error"]) if json_option else (result.stdout == "")


def test_a_build_that_fails_leaves_an_older_result_as_it_was(tmp_path: Path) -> None:
    write_files(tmp_path, {"out/old.txt": "old", "source/x": "y"})
    for options in ([], ["--force"]):
        source, out = str(tmp_path / "source"), str(tmp_path / "out")
        result = RUNNER.invoke(app, ["build", "dwy-3", "--source", source, "--out", out, *options])
        assert result.exit_code == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["old.txt"]


def run_multiea(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from multiea.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, env=os.environ | environment, check=False)


def test_the_installed_command_behaves_like_the_library(tmp_path: Path) -> None:
    write_files(tmp_path, {"en.tsv": "a\tr\tb\na\tb\n", "fr.tsv": OTHER})
    result = run_multiea("inspect", "--json", str(tmp_path))
    assert result.returncode == 2
    assert "line 2: 2 fields" in json.loads(result.stdout)["error"]
    assert result.stderr.startswith(b"error: ")
    assert b"Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such file names")
def test_a_path_that_is_no_text_can_be_reported(tmp_path: Path) -> None:
    for options in ([], ["--json"]):
        result = run_multiea("inspect", *options, os.fsencode(tmp_path) + b"/\xff", PYTHONIOENCODING="utf-8")
        assert result.returncode == 2
        assert result.stderr.startswith(b"error: ")
        assert b"Traceback" not in result.stderr
        assert not options or list(json.loads(result.stdout)) == ["error"]


@pytest.mark.parametrize("name", ['"x\ty"', '"x\ny"'])
def test_a_name_of_several_lines_is_refused_before_anything_is_aligned(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.csv").write_text(f"head,relation,tail\n{name},r,z\n")
    (tmp_path / "b.tsv").write_text("x\tr\tz\n")
    (tmp_path / "seeds.tsv").write_text("a\tb\nz\tz\n")
    result = CliRunner().invoke(app, ["align", str(tmp_path), "--out", str(tmp_path / "run"), "--no-progress"])
    assert result.exit_code == 2
    assert "KG 'a': 1 names hold a tab or a line break" in result.stderr
    assert not (tmp_path / "run").exists()


def test_what_is_no_task_is_not_aligned() -> None:
    with pytest.raises(SettingError, match=r"align takes a Task, got 'mydata'; multiea\.load reads one"):
        multiea.align("mydata")  # type: ignore[arg-type]
