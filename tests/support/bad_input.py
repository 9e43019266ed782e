"""Small valid data sets to break, and the errors that load() raises for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import multiea
from multiea.foundation.errors import MultiEAError
from support.datasets import write_files

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
XML = (
    '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/">\n'
    '<rdf:Description rdf:about="http://x.org/a"><x:p rdf:resource="http://x.org/b"/></rdf:Description>\n'
)


def refusal(folder: Path, files: Mapping[str, str | bytes]) -> str:
    """The message of the error that load() raises for a folder with these files."""
    with pytest.raises(MultiEAError) as caught:
        multiea.load(write_files(folder, files))
    return str(caught.value)


def assert_says(message: str, *words: str | Path) -> None:
    for word in words:
        assert str(word) in message, message
