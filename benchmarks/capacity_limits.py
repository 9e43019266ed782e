"""At which number of entities per KG something breaks: from the code, and from measured memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from multiea.kernels.edges import LARGEST_KEY
from multiea.similarity.large_tasks import ROWS_AT_ONCE
from stage_growth import Scaling

LARGEST_PACKED = 2**63 - 1
BLOCKS = ("searching", "comparing")  # their memory is bounded, but for scratch memory
OPEN_FILES = 1024  # of a process, on many systems; a mapped array is an open file


@dataclass(frozen=True)
class Limit:
    """entities: per KG from which on it breaks. what: happens; where: in the code."""

    entities: int
    what: str
    where: str


def limits(scaling: Scaling, memory: float, relations: int) -> list[Limit]:
    """All limits, for nodes with so much memory and KGs with so many relations; KGs and density as in the scaling."""
    size, kgs = scaling.size, scaling.size.kgs
    found = [
        Limit(
            isqrt(LARGEST_KEY // (2 * relations)) + 1,
            f"the 64-bit key of an edge, entities x entities x 2 x {relations:,} relations: refused",
            "kernels/edges.py",
        ),
        Limit(
            isqrt(LARGEST_PACKED // relations) + 1,
            f"the 64-bit key of a triple, entities x entities x {relations:,} relations: sorted row by row instead",
            "data/packed_triples.py",
        ),
        Limit(
            int(np.iinfo(np.int32).max) + 1,
            "int32 positions of entities",
            "data/knowledge_graph.py, kernels/edges.py",
        ),
        Limit(
            int(np.iinfo(np.int32).max) // kgs + 1,
            "int32 numbers of all candidates in the components of matches",
            "grouping/matching.py, scipy.sparse.csgraph",
        ),
        Limit(
            round(OPEN_FILES / 2 * ROWS_AT_ONCE / scaling.candidates * size.entities),
            f"lists of all blocks, both ways, open in one task: more than {OPEN_FILES:,} files, a usual limit",
            "similarity/large_tasks.py, write_pairs",
        ),
    ]
    stages = [stage for stage in scaling.stages() if stage.name not in BLOCKS]
    for name in dict.fromkeys(stage.name for stage in stages):
        own = [stage for stage in stages if stage.name == name]
        each = max(work.memory for stage in own for work in stage.works) / size.entities
        who = "the driver" if own[0].by_driver else "one task"
        if each:
            what = f"{each:,.0f} bytes per entity of a KG in {who}, while {name}, of {memory / 1e9:,.0f} GB"
            found.append(Limit(int(memory / each), what, "measured"))
    return sorted(found, key=lambda limit: limit.entities)
