"""Pairs of members as mappings: SSSOM, and the Alignment format of the ontology alignment evaluations."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import polars as pl

from multiea.data.entity_table import entity_table
from multiea.data.iris import KG, entity_iris, in_ascii, kg_iri
from multiea.exports.prefixes import Prefixes
from multiea.exports.same_as import ROWS, write_lines
from multiea.foundation.errors import resolve
from multiea.foundation.version import __version__

if TYPE_CHECKING:
    from multiea.grouping.alignment import AlignmentResult

PREDICATES = {
    "owl:sameAs": "http://www.w3.org/2002/07/owl#",
    "skos:exactMatch": "http://www.w3.org/2004/02/skos/core#",
}
SEMAPV = "https://w3id.org/semapv/vocab/"
GROUP_SLOT = "ext_group_id"
ALIGNMENT = "http://knowledgeweb.semanticweb.org/heterogeneity/alignment#"


def mappings(alignment: AlignmentResult) -> pl.DataFrame:
    """All pairs of members with IRIs and labels: what both formats are made of."""
    kgs, table = alignment.task.kgs, alignment.pairs
    known = entity_table(kgs).with_columns(iri=pl.concat([entity_iris(kg.entities, kg.name) for kg in kgs]))
    for side in ("left", "right"):
        own = known.rename({"kg": f"{side}_kg", "entity": side, "iri": f"{side}_iri", "name": f"{side}_name"})
        table = table.join(own, on=[f"{side}_kg", side], how="left", maintain_order="left")
    return table


def write_sssom(alignment: AlignmentResult, path: Path, *, predicate: str = "owl:sameAs") -> int:
    """Writes SSSOM TSV (1.1), a mapping a pair of members; returns how many.

    Seeds are curated, mutual best matches come from similarity, the other pairs of a group follow from those.
    """
    namespace = resolve(predicate, PREDICATES, what="predicate")
    table = mappings(alignment)
    table = table.with_columns(in_ascii(table[name]) for name in ("left_iri", "right_iri"))
    prefixes = Prefixes({predicate.split(":")[0]: namespace, "semapv": SEMAPV, "kg": KG})
    for kg in alignment.task.kg_names:
        used = [table.filter(pl.col(f"{side}_kg") == kg)[f"{side}_iri"] for side in ("left", "right")]
        prefixes.learn(kg, pl.concat(used).unique())
    justification = (
        pl.when(pl.col("status") == "seed")
        .then(pl.lit("semapv:ManualMappingCuration"))
        .when("matched")
        .then(pl.lit("semapv:SemanticSimilarityThresholdMatching"))
        .otherwise(pl.lit("semapv:MappingChaining"))
    )
    sources = {kg: prefixes.curies(pl.Series([kg_iri(kg)]))[0] for kg in alignment.task.kg_names}
    result = table.select(
        subject_id=prefixes.curies(table["left_iri"]),
        subject_label="left_name",
        predicate_id=pl.lit(predicate),
        object_id=prefixes.curies(table["right_iri"]),
        object_label="right_name",
        mapping_justification=justification,
        subject_source=pl.col("left_kg").replace(sources),
        object_source=pl.col("right_kg").replace(sources),
        confidence=pl.col("confidence").round(6),
        **{GROUP_SLOT: "group_id"},
    ).sort("subject_id", "predicate_id", "object_id")
    with path.open("wb") as file:
        file.write("".join(f"#{line}\n" for line in _metadata(alignment, prefixes)).encode())
        result.write_csv(file, separator="\t")
    return len(result)


def _metadata(alignment: AlignmentResult, prefixes: Prefixes) -> list[str]:
    """The block of YAML above the mappings."""
    lines = ['sssom_version: "1.1"', "curie_map:"]
    lines += [f"  {prefix}: {_quoted(namespace)}" for prefix, namespace in sorted(prefixes.expansions.items())]
    lines += [f"mapping_set_id: {_quoted('urn:multiea:run:' + alignment.fingerprint)}"]
    lines += [f"mapping_set_title: {_quoted('Alignment of ' + alignment.task.name)}"]
    lines += ["license: https://w3id.org/sssom/license/unspecified"]
    lines += ["mapping_tool: multiea", f'mapping_tool_version: "{__version__}"']
    lines += ["extension_definitions:", f"  - slot_name: {GROUP_SLOT}"]
    return [*lines, "    property: urn:multiea:property:group_id", "    type_hint: xsd:string"]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def write_alignment_rdf(alignment: AlignmentResult, folder: Path) -> int:
    """Writes a file of the Alignment format for each pair of KGs; returns how many pairs of entities."""
    table = mappings(alignment)
    for a, b in combinations(alignment.task.kg_names, 2):
        own = table.filter((pl.col("left_kg") == a) & (pl.col("right_kg") == b)).sort("left_iri", "right_iri")
        with (folder / f"{_file_name(a)}-{_file_name(b)}.rdf").open("wb") as file:
            file.write(_head(a, b).encode())
            for start in range(0, len(own), ROWS):
                write_lines(file, _cells(own.slice(start, ROWS)))
            file.write(b"</Alignment>\n</rdf:RDF>\n")
    return len(table)


def _head(a: str, b: str) -> str:
    ontologies = "".join(
        f"  <onto{number}><Ontology rdf:about={quoteattr(kg_iri(kg))}>"
        f"<location>{kg_iri(kg).replace('&', '&amp;')}</location></Ontology></onto{number}>\n"
        for number, kg in ((1, a), (2, b))
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<rdf:RDF xmlns="{ALIGNMENT}"\n'
        '         xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        f"<Alignment>\n  <xml>yes</xml>\n  <level>0</level>\n  <type>11</type>\n{ontologies}"
    )


def _cells(rows: pl.DataFrame) -> pl.Series:
    in_xml = [
        pl.col(side).str.replace_many({"&": "&amp;", "'": "&apos;", "<": "&lt;"}) for side in ("left_iri", "right_iri")
    ]
    cell = (
        "  <map><Cell><entity1 rdf:resource='{}'/><entity2 rdf:resource='{}'/><relation>=</relation>"
        "<measure rdf:datatype='http://www.w3.org/2001/XMLSchema#float'>{}</measure></Cell></map>"
    )
    return rows.select(pl.format(cell, *in_xml, pl.col("confidence").round(6))).to_series()


def _file_name(kg: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in kg)
