"""Undo tables: with them, every fact of a merged KG can be traced back to the original fact of its KG."""

from __future__ import annotations

import numpy as np
import polars as pl

from multiea.exports.representatives import MergedNames
from multiea.runs.run import Run


def undo_entities(run: Run, names: MergedNames) -> pl.DataFrame:
    """The original entities of merged ones: source, entity, merged. Only those whose id has changed."""
    kgs = run.alignment.task.kgs
    table = pl.DataFrame(
        {
            "source": pl.concat([_repeated(kg.name, len(kg.entities)) for kg in kgs]),
            "entity": pl.concat([kg.entities for kg in kgs]),
            "merged": names.merged,
        }
    )
    return table.filter(pl.col("entity") != pl.col("merged"))


def undo_facts(run: Run, names: MergedNames) -> pl.DataFrame:
    """The original facts that undo_entities alone cannot restore: source, head, relation, tail, type.

    These are facts about entities of a KG that were merged with another entity of the same KG.
    """
    parts = []
    for number, kg in enumerate(run.alignment.task.kgs):
        ambiguous = names.merged_in_kg(number).is_duplicated()
        head, relation, tail = kg.triples.T
        rows = np.flatnonzero(ambiguous.to_numpy()[head] | ambiguous.to_numpy()[tail])
        parts.append(
            pl.DataFrame(
                {
                    "source": _repeated(kg.name, len(rows)),
                    "head": kg.entities.gather(head[rows]),
                    "relation": kg.relations.gather(relation[rows]),
                    "tail": kg.entities.gather(tail[rows]),
                    "type": _repeated(None, len(rows)),
                }
            )
        )
        literals = kg.literals.filter(ambiguous.gather(kg.literals["entity"]))
        parts.append(
            pl.DataFrame(
                {
                    "source": _repeated(kg.name, len(literals)),
                    "head": kg.entities.gather(literals["entity"]),
                    "relation": literals["property"].cast(pl.String),
                    "tail": literals["value"],
                    "type": literals["type"].cast(pl.String),
                }
            )
        )
    return pl.concat(parts)


def _repeated(text: str | None, times: int) -> pl.Series:
    return pl.Series([text] * times, dtype=pl.String)
