"""The merged KG as a file: N-Quads with one named graph per KG, or a Parquet table with the sources of each fact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from multiea.data.iris import kg_iri
from multiea.data.n_triples import literal_terms
from multiea.exports.merged_graph import merge
from multiea.exports.merged_literals import literal_blocks
from multiea.exports.representatives import MergedNames
from multiea.exports.text_lines import ROWS_PER_BLOCK, write_lines
from multiea.foundation import progress
from multiea.runs.run import Run


def write_nquads(run: Run, names: MergedNames, path: Path) -> int:
    """Writes N-Quads and returns their number. A fact that several KGs state is in the named graph of each."""
    merged, kgs, count = merge(run, names), run.alignment.task.kgs, 0
    total = sum(len(facts) for facts in merged.facts) + sum(len(kg.literals) for kg in kgs)
    with path.open("wb") as file, progress.stage("writing the merged KG", total) as advance:
        for number, (kg, facts) in enumerate(zip(kgs, merged.facts, strict=True)):
            graph = kg_iri(kg.name)
            for start in range(0, len(facts), ROWS_PER_BLOCK):
                head, relation, tail = facts[start : start + ROWS_PER_BLOCK].T
                quads = pl.DataFrame(
                    {
                        "head": merged.nodes.gather(head),
                        "relation": merged.relations.gather(relation),
                        "tail": merged.nodes.gather(tail),
                    }
                )
                write_lines(file, quads, f"<{{}}> <{{}}> <{{}}> <{graph}> .", "head", "relation", "tail")
                count += len(quads)
                advance(len(quads))
            for block in literal_blocks(kg, names.merged_in_kg(number)):
                quads = block.select("subject", "property", value=literal_terms(block)).unique(maintain_order=True)
                write_lines(file, quads, f"<{{}}> <{{}}> {{}} <{graph}> .", "subject", "property", "value")
                count += len(quads)
                advance(len(block))
    return count


def write_parquet(run: Run, names: MergedNames, path: Path) -> int:
    """Writes a table and returns its number of rows: head, relation, tail, type, sources.

    type: the type of a value, null between entities. IRIs are looked up block by block while writing, so that the
    table is never in memory as a whole.
    """
    merged, kgs = merge(run, names), run.alignment.task.kgs
    facts, stated = merged.distinct_facts()
    combinations, combination = np.unique(stated, axis=0, return_inverse=True)
    sources = [[kg.name for kg, states in zip(kgs, row, strict=True) if states] for row in combinations]
    numbers = dict(zip(("head", "relation", "tail"), facts.T, strict=True))
    tables = [
        pl.LazyFrame(numbers | {"sources": combination.ravel()}).select(
            _looked_up("head", merged.nodes),
            _looked_up("relation", merged.relations),
            _looked_up("tail", merged.nodes),
            pl.lit(None, pl.String).alias("type"),
            _looked_up("sources", pl.Series(sources, dtype=pl.List(pl.String))),
        )
    ]
    blocks = [
        block.select(head="subject", relation="property", tail="value", type="type", source=pl.lit(kg.name))
        for number, kg in enumerate(kgs)
        for block in literal_blocks(kg, names.merged_in_kg(number))
    ]
    key = ["head", "relation", "tail", "type"]
    literals = pl.concat(blocks).group_by(key).agg(sources=pl.col("source").unique().sort()).sort(key)
    with progress.stage("writing the merged KG"):
        pl.concat([*tables, literals.lazy()]).sink_parquet(path)
    return len(facts) + len(literals)


def _looked_up(column: str, values: pl.Series) -> pl.Expr:
    """Positions replaced by the values at these positions."""
    return pl.col(column).map_batches(values.gather, return_dtype=values.dtype, is_elementwise=True)


MERGED_FILES: dict[str, tuple[str, Callable[[Run, MergedNames, Path], int]]] = {
    ".nq": ("quad", write_nquads),
    ".parquet": ("fact", write_parquet),
}
