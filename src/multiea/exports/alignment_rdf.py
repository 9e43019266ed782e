"""The Alignment format (RDF/XML) of the Ontology Alignment Evaluation Initiative: one file per pair of KGs."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from xml.sax.saxutils import quoteattr

import polars as pl

from multiea.data.iris import kg_iri
from multiea.exports.mappings import mapping_table
from multiea.exports.text_lines import write_lines
from multiea.runs.run import Run

NAMESPACE = "http://knowledgeweb.semanticweb.org/heterogeneity/alignment#"
CELL = (
    "  <map><Cell><entity1 rdf:resource='{}'/><entity2 rdf:resource='{}'/><relation>=</relation>"
    "<measure rdf:datatype='http://www.w3.org/2001/XMLSchema#float'>{}</measure></Cell></map>"
)
XML_ESCAPES = {"&": "&amp;", "'": "&apos;", "<": "&lt;"}


def write_alignment_rdf(run: Run, folder: Path) -> int:
    """Writes one file for each pair of KGs and returns the number of pairs of entities in all of them."""
    table = mapping_table(run).filter(pl.col("left_kg") != pl.col("right_kg"))  # there is no file for one KG
    values = [pl.col(side).str.replace_many(XML_ESCAPES) for side in ("left_iri", "right_iri")]
    values.append(pl.col("confidence").round(6))
    for a, b in combinations(run.alignment.task.kg_names, 2):
        cells = table.filter((pl.col("left_kg") == a) & (pl.col("right_kg") == b)).sort("left_iri", "right_iri")
        with (folder / f"{_file_name(a)}-{_file_name(b)}.rdf").open("wb") as file:
            file.write(_header(a, b).encode())
            write_lines(file, cells, CELL, *values)
            file.write(b"</Alignment>\n</rdf:RDF>\n")
    return len(table)


def _header(a: str, b: str) -> str:
    ontologies = "".join(
        f"  <onto{number}><Ontology rdf:about={quoteattr(kg_iri(kg))}>"
        f"<location>{kg_iri(kg).replace('&', '&amp;')}</location></Ontology></onto{number}>\n"
        for number, kg in ((1, a), (2, b))
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<rdf:RDF xmlns="{NAMESPACE}"\n'
        '         xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        f"<Alignment>\n  <xml>yes</xml>\n  <level>0</level>\n  <type>11</type>\n{ontologies}"
    )


def _file_name(kg: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in kg)
