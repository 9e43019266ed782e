"""Invalid RDF is refused with an error that names the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.bad_input import (
    NT,
    OTHER,
    TSV,
    XML,
    assert_says,
    refusal,
)


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
def test_invalid_rdf_is_named_with_line(tmp_path: Path, name: str, text: str, line: int, kind: str, gz: str) -> None:
    message = refusal(tmp_path, {f"{name}{gz}": text, "fr.tsv": OTHER})
    assert_says(message, f"{tmp_path / name}{gz}, line {line}: invalid {kind}: ", "Correct the line")


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
    assert_says(refusal(tmp_path, {"en.rdf": text, "fr.tsv": OTHER}), tmp_path / "en.rdf", "invalid RDF/XML")


def test_truncated_rdf_xml_is_named(tmp_path: Path) -> None:
    for text in (XML, XML + XML.splitlines()[-1][:50], XML + "<rdf:Description><x:p>lit"):
        assert_says(refusal(tmp_path, {"en.rdf": text, "fr.tsv": OTHER}), tmp_path / "en.rdf", "invalid RDF/XML")


def test_xml_that_is_not_rdf_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"en.xml": '<?xml version="1.0"?>\n<html><p>hello</p></html>', "fr.tsv": OTHER})
    assert_says(message, tmp_path / "en.xml")
