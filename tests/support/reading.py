"""Small valid files, and helpers that read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import multiea
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.readers import read_kg
from support.datasets import Triple, write_files

FACTS: set[Triple] = {("Oslo", "capital of", "Norway"), ("Bergen", "lies in", "Norway"), ("Norway", "is a", "country")}
TSV = "Oslo\tcapital of\tNorway\nBergen\tlies in\tNorway\nNorway\tis a\tcountry\n"
FRENCH = "Norvège\test un\tpays\nOslo\tcapitale de\tNorvège\n"
GERMAN = "Norwegen\tist ein\tLand\n"
X = "http://x.org/"
SAME_AS = "<{}> <http://www.w3.org/2002/07/owl#sameAs> <{}> .\n"

RDF_FACTS: set[Triple] = {(f"{X}a", f"{X}p", f"{X}b"), (f"{X}b", f"{X}p", f"{X}c"), (f"{X}a", f"{X}q", f"{X}c")}
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


def kg_of(folder: Path, files: Mapping[str, str | bytes], **options: object) -> KnowledgeGraph:
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


def load_with(folder: Path, files: Mapping[str, str | bytes], **options: object) -> multiea.Task:
    return multiea.load(write_files(folder, files), **options)  # type: ignore[arg-type]
