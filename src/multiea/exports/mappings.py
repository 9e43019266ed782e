"""Mappings: all pairs of members with their IRIs and names, the common source of SSSOM and the Alignment format."""

from __future__ import annotations

import polars as pl

from multiea.data.entity_table import entity_table
from multiea.data.iris import entity_iris
from multiea.runs.run import Run


def mapping_table(run: Run) -> pl.DataFrame:
    """All pairs of the alignment with the columns left_iri, right_iri, left_name and right_name added.

    Pairs of duplicates come last, those inside a KG included.
    """
    alignment, kgs = run.alignment, run.alignment.task.kgs
    pairs = pl.concat([alignment.pairs, alignment.duplicate_pairs])
    entities = entity_table(kgs).with_columns(iri=pl.concat([entity_iris(kg.entities, kg.name) for kg in kgs]))
    for side in ("left", "right"):
        columns = {"kg": f"{side}_kg", "entity": side, "iri": f"{side}_iri", "name": f"{side}_name"}
        pairs = pairs.join(entities.rename(columns), on=[f"{side}_kg", side], how="left", maintain_order="left")
    return pairs
