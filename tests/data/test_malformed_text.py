"""Reading a file with any content gives a consistent result or an error that a user can correct."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import multiea
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.readers import GROUP_READERS, KG_READERS, read_groups, read_kg, stem_and_format
from multiea.data.readers.tables import CSV, TSV, text_rows
from multiea.data.write import write_task
from multiea.foundation.errors import InputError, MultiEAError
from support.datasets import assert_same_kg, named, parquet, write_files
from support.records import excel

SUPPRESSED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
# The same examples in every run: of 10,000 flipped bits in a Parquet file about three make polars abort the process.
thorough = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=SUPPRESSED)

NT = "".join(f"<http://{{0}}.org/{i}> <http://{{0}}.org/p> <http://{{0}}.org/{i + 1}> .\n" for i in range(3))
XML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE rdf:RDF [<!ENTITY x "http://x.org/">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/" xml:base="http://x.org/">
<rdf:Description rdf:about="a"><x:p rdf:resource="&x;b"/><x:q xml:lang="en">é</x:q></rdf:Description>
<x:Thing rdf:nodeID="n"><x:p rdf:parseType="Collection"><x:Thing rdf:ID="c"/></x:p></x:Thing>
</rdf:RDF>
"""
TURTLE = """@prefix : <http://x.org/> . @base <http://x.org/> .
:a :p :b , [ :q "x"@en , 3 , '''long
text''' ] ; a <T> . _:b :list ( 1 :c "é"^^:type ) .
"""
SSSOM = """#curie_map:
#  en: http://en.org/
#  fr: "http://fr.org/"
#mapping_date: 2024-01-01
subject_id\tpredicate_id\tobject_id\tpredicate_modifier\tsubject_source
en:0\towl:sameAs\tfr:0\t\ten
en:1\tskos:exactMatch\tfr:1\tNot\t
http://en.org/2\tskos:exactMatch\tfr:2\t\t
"""
TOML = """name = "set"
entities = "entities.tsv"
seeds = {file = "links.tsv", format = "tsv"}
[kgs.en]
file = ["a.tsv", "b.csv"]
columns = ["head", "relation", "tail"]
[kgs.fr]
file = "c.nt"
format = "n-triples"
"""
TABLE = "a\tr\tb\nb\tr\tc\né\ts\ta\n"
KGS: dict[str, str | bytes] = {"en.tsv": TABLE, "fr.tsv": "x\tr\ty\ny\tr\tz\n"}
OPENEA: dict[str, str | bytes] = {"rel_triples_1": TABLE, "rel_triples_2": "x\tr\ty\n", "ent_links": "a\tx\nb\ty\n"}
DBP15K: dict[str, str | bytes] = {
    "ent_ids_1": "0\ta\n1\tb\n",
    "ent_ids_2": "2\tx\n3\ty\n",
    "rel_ids_1": "7\tp\n",
    "triples_1": "0\t7\t1\n1\t7\t0\n",
    "triples_2": "2\t8\t3\n",
    "ref_ent_ids": "0\t2\n",
    "sup_ent_ids": "1\t3\n",
}
TOML_FILES: dict[str, str | bytes] = {
    "a.tsv": "head\trelation\ttail\na\tr\tb\n",
    "b.csv": "tail,relation,head\nc,r,b\n",
    "c.nt": NT.format("fr"),
    "links.tsv": "en\tfr\na\thttp://fr.org/0\n",
    "entities.tsv": "kg\tentity\tlabel\nen\tq\tQ\n",
}
SAME_AS = "".join(
    f"<http://en.org/{i}> <http://www.w3.org/2002/07/owl#sameAs> <http://fr.org/{i}> .\n" for i in range(3)
)
PARQUET = parquet(pl.DataFrame({"head": ["a", "b"], "relation": ["r", None], "tail": [1, 2]}))

ENGLISH = KnowledgeGraph.from_triples("en", [("a", "r", "b"), ("http://en.org/0", "r", "http://en.org/1")])
FRENCH = KnowledgeGraph.from_triples("fr", [("x", "r", "y"), ("http://fr.org/0", "r", "http://fr.org/1")])


@dataclass(frozen=True)
class FuzzedFile:
    """A file whose content is varied: valid content to start from, how it is read, and the files around it."""

    name: str
    valid: bytes
    check: Callable[[Path, bool], None]
    around: Mapping[str, str | bytes] = field(default_factory=dict)

    def with_content(self, content: bytes, *, lenient: bool = False) -> None:
        """Reads the content. Anything but a consistent result or a MultiEAError fails the test."""
        with tempfile.TemporaryDirectory() as place:
            path = write_files(Path(place) / "zh_en", {**self.around, self.name: content}) / self.name
            complaint = "none"
            try:
                self.check(path, lenient)
            except MultiEAError as error:
                complaint = str(error)
            assert complaint


def check_consistent(kg: KnowledgeGraph) -> None:
    assert kg.entities.n_unique() == len(kg.entities) > 0
    assert not kg.entities.has_nulls()
    assert not kg.relations.has_nulls()
    bounds = [len(kg.entities), len(kg.relations), len(kg.entities)]
    assert ((kg.triples >= 0) & (kg.triples < bounds)).all()
    assert len(np.unique(kg.triples, axis=0)) == len(kg.triples)


def check_kg(path: Path, lenient: bool) -> None:
    check_consistent(read_kg("de", [path]))


def check_groups(path: Path, lenient: bool) -> None:
    groups = read_groups(path, [ENGLISH, FRENCH], lenient=lenient)
    assert (groups.members < [len(ENGLISH.entities), len(FRENCH.entities)]).all()


def check_folder(path: Path, lenient: bool) -> None:
    task = multiea.load(path.parent, lenient=lenient)
    multiea.inspect(task)
    for kg in task.kgs:
        check_consistent(kg)
    assert (task.known.members < [len(kg.entities) for kg in task.kgs]).all()


FUZZED_FILES = {
    "TSV": FuzzedFile("de.tsv", TABLE.encode(), check_kg),
    "TSV with header": FuzzedFile("de.tsv", b"extra\ttail\thead\trelation\nq\ta\tb\tc\n", check_kg),
    "CSV": FuzzedFile("de.csv", b'head,relation,tail\n"a, ""x""\nb",r,c\r\nd,"",e\nf,r,"g"\n', check_kg),
    "records": FuzzedFile("de.csv", b'id,name,in\nx,"Os\nlo",y\ny,Norway,\nz,,y\nq,"a ""b""",z\n', check_kg),
    "records with semicolons": FuzzedFile("de.csv", b"code;label;year;note\nx;Oslo;1;\ny;Voss;2,5;n\n", check_kg),
    "JSON Lines": FuzzedFile(
        "de.jsonl", b'{"id": 1, "a": ["x"], "b": {"c": 2.0}}\n\n{"id": "y", "a": null}\n', check_kg
    ),
    "Excel": FuzzedFile("de.xlsx", excel(("s", [["id", "label"], [1, "Oslo"], ["x", 2.5]])), check_kg),
    "JSON-LD": FuzzedFile("de.jsonld", b'{"@id": "http://x/a", "http://x/p": [{"@id": "http://x/b"}, "c"]}', check_kg),
    "N-Triples": FuzzedFile(
        "de.nt", NT.format("de").encode() + b'_:b <http://x.org/l> "a\\n\\u00e9"@en-GB .\n', check_kg
    ),
    "N-Quads": FuzzedFile("de.nq", NT.format("de").replace(" .", " <http://x.org/g> .").encode(), check_kg),
    "Turtle": FuzzedFile("de.ttl", TURTLE.encode(), check_kg),
    "RDF/XML": FuzzedFile("de.rdf", XML.encode(), check_kg),
    "Parquet": FuzzedFile("de.parquet", PARQUET, check_kg),
    "groups.tsv": FuzzedFile("groups.tsv", b"en\tfr\na\tx\n\ty\nb\t\n", check_groups),
    "seeds.csv": FuzzedFile("seeds.csv", b'"en",fr\na,x\n"b","y"\n', check_groups),
    "seeds.parquet": FuzzedFile(
        "seeds.parquet", parquet(pl.DataFrame({"en": ["a", None], "fr": ["x", "y"]})), check_groups
    ),
    "SSSOM": FuzzedFile("seeds.sssom.tsv", SSSOM.encode(), check_groups),
    "owl:sameAs": FuzzedFile("seeds.nt", SAME_AS.encode(), check_groups),
    "entities.tsv": FuzzedFile("entities.tsv", b"kg\tentity\tlabel\nen\ta\tA\nfr\tnew\t\n", check_folder, KGS),
    "dataset.toml": FuzzedFile("dataset.toml", TOML.encode(), check_folder, TOML_FILES),
    "OpenEA triples": FuzzedFile("rel_triples_2", b"x\tr\ty\ny\tr\tx\n", check_folder, OPENEA),
    "OpenEA links": FuzzedFile("ent_links", b"a\tx\nb\ty\n", check_folder, OPENEA),
    "DBP15K triples": FuzzedFile("triples_1", b"0\t7\t1\n1\t7\t0\n", check_folder, DBP15K),
    "DBP15K entity ids": FuzzedFile("ent_ids_2", b"2\tx\n3\ty\n", check_folder, DBP15K),
    "DBP15K links": FuzzedFile("ref_ent_ids", b"0\t2\n", check_folder, DBP15K),
}

UNUSUAL: list[bytes | str] = [
    *(bytes([code]) for code in (0, 1, 9, 10, 11, 12, 13, 28, 34, 35, 38, 39, 40, 44, 45, 46, 58, 60, 62, 91, 92, 93)),
    *("\ufeff", "\u2028", "\x85", "\ufffe", "\u0301", "😀", "é"),
    *(b"\xff", b"\xfe\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\x1f\x8b", b"x^", b"x\x01"),
    *(b"\r\n", b"\r\r\n", b'""', b'"""', b"\\u", b"\\uD800", b"\\U00110000", b"\\x00", b"&#0;", b"&#xD800;", b"&x;"),
    *(b"99999999999999999999999999", b"-1", b"9" * 5000, b"1e999", b"0b_", b"2024-99-99", b"[" * 2000, b"nan", b"null"),
    *(
        b"a" * 70_000,
        b"\t" * 1000,
        b"\n" * 1000,
        b",,",
        b"*x",
        b"&a ",
        b"!!float x",
        b"!!python/none",
        b"---\n",
        b"%x\n",
    ),
    *(b"<!DOCTYPE a>", b"<![CDATA[", b"<?xml?>", b' encoding="big5"', b"<<", b">>", b"<<(", b"{|", b"#", b"\x1a"),
]
PIECES = [piece.encode() if isinstance(piece, str) else piece for piece in UNUSUAL]


@st.composite
def mutated(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid file after a few random changes to its bytes or lines."""
    data = valid
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        to = min(len(data), at + draw(st.integers(0, 12)))
        lines = data.split(b"\n")
        line = draw(st.integers(0, len(lines) - 1))
        data = draw(
            st.sampled_from(
                [
                    data[:at] + draw(st.sampled_from(PIECES)) + data[at:],
                    data[:at] + draw(st.sampled_from(PIECES)) + data[to:],
                    data[:at] + data[to:],
                    data[:at]
                    + bytes(byte ^ (1 << draw(st.integers(0, 7))) for byte in data[at : at + 1])
                    + data[at + 1 :],
                    data[:at] + data[at:to] * 2 + data[to:],
                    data[:at],
                    b"\n".join([*lines[:line], *lines[line + 1 :]]),
                    b"\n".join([*lines[:line], lines[line], *lines[line:]]),
                    b"\n".join([lines[line], *lines[:line], *lines[line + 1 :]]),
                ]
            )
        )
    return data


def contents(valid: bytes) -> st.SearchStrategy[bytes]:
    return st.one_of(
        mutated(valid),
        mutated(valid),
        st.lists(st.sampled_from([*PIECES, *valid.split(b"\n")]), max_size=8).map(b"".join),
        st.binary(max_size=60),
        st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    )


@pytest.mark.parametrize("name", FUZZED_FILES)
@thorough
@given(st.data())
def test_any_content_is_read_or_refused(name: str, data: st.DataObject) -> None:
    fuzzed = FUZZED_FILES[name]
    fuzzed.with_content(data.draw(contents(fuzzed.valid)), lenient=data.draw(st.booleans()))


ALMOST_NOTHING = [b"", b"\n" * 5, b"\r", b"\r\n\r\n", b"\0", b"\xef\xbb\xbf", b"\t", b"\t\t\n", b",,\n", b'"', b"# x\n"]


@pytest.mark.parametrize("name", FUZZED_FILES)
def test_an_almost_empty_file_is_read_or_refused(name: str) -> None:
    for content in ALMOST_NOTHING:
        FUZZED_FILES[name].with_content(content)


@pytest.mark.parametrize("name", FUZZED_FILES)
def test_a_valid_file_with_an_unusual_insertion_is_read_or_refused(name: str) -> None:
    fuzzed = FUZZED_FILES[name]
    end = len(fuzzed.valid)
    places = itertools.cycle([0, end // 2, fuzzed.valid.find(b"\n") + 1, end])
    for piece, at in zip(PIECES, places, strict=False):
        fuzzed.with_content(fuzzed.valid[:at] + piece + fuzzed.valid[at:])


@pytest.mark.parametrize("name", ["TSV", "CSV", "N-Triples", "Turtle", "RDF/XML", "Parquet", "SSSOM"])
@thorough
@given(st.data())
def test_any_gzip_is_read_or_refused(name: str, data: st.DataObject) -> None:
    plain = FUZZED_FILES[name]
    packed = gzip.compress(plain.valid, mtime=0)
    content = data.draw(contents(packed) | contents(plain.valid).map(gzip.compress) | st.just(packed * 2))
    FuzzedFile(f"{plain.name}.gz", packed, plain.check).with_content(content)


def test_a_flipped_bit_in_a_parquet_file_is_read_or_refused() -> None:
    fuzzed = FUZZED_FILES["Parquet"]
    valid = parquet(pl.DataFrame({"head": ["a", "b"], "relation": ["r", "s"], "tail": ["c", "d"]}))
    for at in range(2, len(valid), 3):
        fuzzed.with_content(valid[:at] + bytes([valid[at] ^ 2]) + valid[at + 1 :])


# What is written is read back

ANY_CHARACTER = st.characters(exclude_categories=["Cs"])
NAME = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), min_size=1, max_size=6),
    st.sampled_from(
        ["head", "relation", "tail", "subject", "predicate", "object", "x^2", "x\x01", "xک", "\ufeff", '"', '"a']
    ),
    st.sampled_from(
        [" ", "null", "NA", "#a", ",", "\x00", "\x0b", "\u2028", "\x85", "0", "-1", "en", "kg", "_:b", "e\u0301", "é"]
    ),
)


@st.composite
def kgs(draw: st.DrawFn, name: str) -> KnowledgeGraph:
    triples = draw(st.lists(st.tuples(NAME, NAME, NAME), max_size=8, unique=True))
    extra = draw(st.dictionaries(NAME, st.none() | NAME, min_size=not triples, max_size=3))
    builder = KnowledgeGraphBuilder(name)
    builder.add_triples(*(pl.Series([triple[i] for triple in triples], dtype=pl.String) for i in range(3)))
    builder.add_entities(pl.Series(list(extra)), pl.Series(list(extra.values()), dtype=pl.String))
    return builder.build()


@st.composite
def tasks(draw: st.DrawFn) -> multiea.Task:
    graphs = [draw(kgs(name)) for name in draw(st.permutations(["en", "fr", "de.x", "Ω ω"]))[: draw(st.integers(2, 4))]]
    rows = draw(st.integers(0, max(len(kg.entities) for kg in graphs)))
    table = {}
    for kg in graphs:
        cells = [*draw(st.permutations(kg.entities.to_list())), *[None] * rows][:rows]
        table[kg.name] = [draw(st.sampled_from([cell, cell, None])) for cell in cells]
    groups = multiea.Groups.from_table(graphs, pl.DataFrame(table, schema=dict.fromkeys(table, pl.String)))
    return multiea.Task(graphs, groups, name="set")


@settings(thorough, max_examples=60)
@given(tasks())
def test_any_ids_survive_writing_and_reading(task: multiea.Task) -> None:
    with tempfile.TemporaryDirectory() as place:
        write_task(task, Path(place), split=True)
        again = multiea.load(place)
    for kg, twin in zip(sorted(task.kgs, key=lambda kg: kg.name), again.kgs, strict=True):
        assert_same_kg(kg, twin)
    assert named(task.seeds, task) == named(again.seeds, again)


def rows_of(content: bytes, read: Callable[[Path], Sequence[object]]) -> Sequence[object]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "table"
        path.write_bytes(content)
        return read(path)


def fields_of(path: Path, *, quoted: bool) -> list[list[str]]:
    tables = [rows.table for rows in text_rows(path, CSV if quoted else TSV, "fields")]
    return [[field or "" for field in row] for table in tables for row in table.iter_rows()]


FIELD = st.text(ANY_CHARACTER, max_size=4) | st.sampled_from(
    ['"', '""', ",", "\n", "\r", "\r\n", '",\n"', "x^", "\ufeff", "\0", " "]
)


@st.composite
def csv_texts(draw: st.DrawFn) -> str:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(FIELD, min_size=width, max_size=width), max_size=8))
    buffer = io.StringIO(newline="")
    quote_all, line_end = draw(st.sampled_from([(True, "\n"), (True, "\r\n"), (False, "\r\n")]))
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(buffer, quoting=quoting, lineterminator=line_end).writerows(rows)
    return buffer.getvalue()


@settings(thorough, max_examples=150)
@given(csv_texts(), st.integers(1, 40) | st.just(1 << 20), st.booleans())
@example("x^,r\r\na,r\r\n", 1 << 20, False)
@example('"\n\r\n"\r\n"a"\r\n', 3, True)
def test_csv_is_read_as_python_reads_it(text: str, block_bytes: int, marked: bool) -> None:
    assume(marked or not text.startswith("\ufeff"))
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    content = ("\ufeff" if marked else "").encode() + text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
        assert rows_of(content, lambda path: fields_of(path, quoted=True)) == expected


@settings(thorough, max_examples=100)
@given(
    st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(NAME, min_size=width, max_size=width), max_size=8)),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 40),
)
def test_tsv_fields_are_the_text_between_tabs(rows: list[list[str]], line_end: str, block_bytes: int) -> None:
    text = "".join("\t".join(row) + line_end for row in rows)
    assume(not text.startswith("\ufeff"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
        assert rows_of(text.encode(), lambda path: fields_of(path, quoted=False)) == rows


@thorough
@given(csv_texts(), st.integers(0, 8), st.integers(1, 60))
def test_the_reported_line_of_a_ragged_row_is_right_at_any_place(text: str, at: int, block_bytes: int) -> None:
    assume(text and not text.startswith("\ufeff"))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    at = max(1, min(at, len(rows)))
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerows(rows[:at])
    line = buffer.getvalue().count("\n") + 1
    writer.writerow([*rows[0], "one too many"])
    writer.writerows(rows[at:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
        with pytest.raises(InputError) as caught:
            rows_of(buffer.getvalue().encode(), lambda path: fields_of(path, quoted=True))
    assert caught.value.line == line
    assert f"{len(rows[0]) + 1} fields" in str(caught.value)


def test_every_format_of_kgs_and_groups_has_an_example_here() -> None:
    formats = {
        known[1] for fuzzed in FUZZED_FILES.values() if (known := stem_and_format(Path(fuzzed.name))) is not None
    }
    assert formats >= {*KG_READERS, *GROUP_READERS}
