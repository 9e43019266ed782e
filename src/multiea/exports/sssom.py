"""SSSOM: the Simple Standard for Sharing Ontological Mappings, https://mapping-commons.github.io/sssom/."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from multiea.data.iris import KG, in_ascii, kg_iri
from multiea.exports.mappings import mapping_table
from multiea.exports.prefixes import Prefixes
from multiea.foundation.errors import resolve
from multiea.foundation.version import __version__
from multiea.runs.run import Run

PREDICATES = {
    "owl:sameAs": "http://www.w3.org/2002/07/owl#",
    "skos:exactMatch": "http://www.w3.org/2004/02/skos/core#",
}
SEMAPV = "https://w3id.org/semapv/vocab/"
GROUP_SLOT = "ext_group_id"
# Seeds are curated and mutual best matches come from similarity; the other pairs of a group follow from those.
JUSTIFICATION = (
    pl.when(pl.col("status") == "seed")
    .then(pl.lit("semapv:ManualMappingCuration"))
    .when("matched")
    .then(pl.lit("semapv:SemanticSimilarityThresholdMatching"))
    .otherwise(pl.lit("semapv:MappingChaining"))
)


def write_sssom(run: Run, path: Path, *, predicate: str = "owl:sameAs") -> int:
    """Writes SSSOM 1.1 as TSV, one mapping per pair of members, and returns their number."""
    namespace = resolve(predicate, PREDICATES, what="predicate")
    kg_names = run.alignment.task.kg_names
    table = mapping_table(run)
    table = table.with_columns(in_ascii(table[name]) for name in ("left_iri", "right_iri"))
    prefixes = Prefixes({predicate.split(":")[0]: namespace, "semapv": SEMAPV, "kg": KG})
    for kg in kg_names:
        used = [table.filter(pl.col(f"{side}_kg") == kg)[f"{side}_iri"] for side in ("left", "right")]
        prefixes.add_namespaces(kg, pl.concat(used).unique())
    sources = {kg: prefixes.curies(pl.Series([kg_iri(kg)]))[0] for kg in kg_names}
    mappings = table.select(
        subject_id=prefixes.curies(table["left_iri"]),
        subject_label="left_name",
        predicate_id=pl.lit(predicate),
        object_id=prefixes.curies(table["right_iri"]),
        object_label="right_name",
        mapping_justification=JUSTIFICATION,
        subject_source=pl.col("left_kg").replace(sources),
        object_source=pl.col("right_kg").replace(sources),
        confidence=pl.col("confidence").round(6),
        **{GROUP_SLOT: "group_id"},
    ).sort("subject_id", "predicate_id", "object_id")
    with path.open("wb") as file:
        file.write("".join(f"#{line}\n" for line in _metadata(run, prefixes)).encode())
        mappings.write_csv(file, separator="\t")
    return len(mappings)


def _metadata(run: Run, prefixes: Prefixes) -> list[str]:
    """The lines of YAML above the mappings."""
    alignment = run.alignment
    return [
        'sssom_version: "1.1"',
        "curie_map:",
        *(f"  {prefix}: {_quoted(namespace)}" for prefix, namespace in sorted(prefixes.namespaces.items())),
        f"mapping_set_id: {_quoted('urn:multiea:run:' + alignment.fingerprint)}",
        f"mapping_set_title: {_quoted('Alignment of ' + alignment.task.name)}",
        "license: https://w3id.org/sssom/license/unspecified",
        "mapping_tool: multiea",
        f'mapping_tool_version: "{__version__}"',
        "extension_definitions:",
        f"  - slot_name: {GROUP_SLOT}",
        "    property: urn:multiea:property:group_id",
        "    type_hint: xsd:string",
    ]


def _quoted(text: str) -> str:
    """A YAML string in double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
