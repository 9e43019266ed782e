"""The tasks of comparing large KGs: candidates by shared marks, cosines, direct scores, and paths through third KGs.

Shards of a round: `candidates/{kg}` (which rows of `embedding/{kg}` they are, and their signatures), `index/{kg}`,
`lists/{a}-{b}/{first row}` both ways, `pairs/{a}-{b}` for a < b, `cosines/{a}-{b}/{rows}`, `direct/{a}-{b}`, and
the result, `scores/{a}-{b}`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multiea.data.groups import ABSENT
from multiea.kernels.compiling import use_threads
from multiea.kernels.pair_scores import joined_lists
from multiea.kernels.shared_marks import cosines_of_rows, index_of_marks, sharing_marks
from multiea.settings.enhancement import Enhancement
from multiea.similarity.blocking import ENTITIES_PER_MARK, LEAST_IN_COMMON
from multiea.similarity.large_pairs import sinkhorn, with_paths
from multiea.similarity.row_scores import RowScores
from multiea.similarity.sides import Side
from multiea.tasks.shards import Shards, let_go

ROWS_AT_ONCE = 1 << 17  # of a task of the search
Bounds = Sequence[int]  # where blocks of rows begin, and the number of rows


def write_index(shards: Shards, name: str, prefix: str, kg: int) -> None:
    """For each mark the candidates of a KG for which it counts most."""
    use_threads()
    own = shards.get(f"{prefix}/candidates/{kg}")
    marks = 1 + int(own["marks"].max(initial=ABSENT))
    index = index_of_marks(own["marks"], own["weights"].astype(np.float32), marks, ENTITIES_PER_MARK)
    shards.put(name, dict(zip(("starts", "entities", "values"), index, strict=True)))


def write_lists(shards: Shards, name: str, prefix: str, pair: tuple[int, int], rows: slice, count: int) -> None:
    """For some candidates of one KG those of the other whose signatures have most in common."""
    use_threads()
    own, index = (f"{prefix}/candidates/{pair[0]}"), shards.get(f"{prefix}/index/{pair[1]}")
    marks, weights = (shards.rows(own, key, rows.start, rows.stop) for key in ("marks", "weights"))
    others = len(shards.get(f"{prefix}/candidates/{pair[1]}")["entities"])
    of_marks = (index["starts"], index["entities"], index["values"])
    columns = sharing_marks((marks, weights.astype(np.float32)), of_marks, others, count, LEAST_IN_COMMON)
    shards.put(name, {"columns": columns})


def write_pairs(shards: Shards, name: str, prefix: str, pair: tuple[int, int], bounds: tuple[Bounds, Bounds]) -> None:
    """The pairs of candidates of two KGs that are in a list of one of them."""
    use_threads()
    sides = []
    for (a, b), begins in zip((pair, pair[::-1]), bounds, strict=True):
        parts = [shards.get(f"{prefix}/lists/{a}-{b}/{begin}")["columns"] for begin in begins[:-1]]
        sides.append(np.concatenate(parts))
    starts, column = joined_lists(sides[0], sides[1])
    shards.put(name, {"starts": starts, "column": column})


def write_cosines(
    shards: Shards, name: str, prefix: str, pair: tuple[int, int], rows: slice, ends: tuple[str, str], at_once: int
) -> None:
    """The cosines of the pairs of some rows; so many embeddings of the other KG are in memory at once.

    ends: the shards of the embeddings.
    """
    use_threads()
    pairs = f"{prefix}/pairs/{pair[0]}-{pair[1]}"
    starts = shards.rows(pairs, "starts", rows.start, rows.stop + 1)
    column = shards.rows(pairs, "column", int(starts[0]), int(starts[-1]))
    own, other = (shards.get(f"{prefix}/candidates/{kg}")["entities"] for kg in pair)
    values = np.zeros(len(column), np.float32)
    left = _block(shards, ends[0], own[rows], *_span(own[rows]))
    first, last = _span(other)
    for start in range(first, last, at_once):
        right = _block(shards, ends[1], other, start, min(start + at_once, last))
        cosines_of_rows(left, right, starts - starts[0], column, values)
        let_go(right[0])
    let_go(left[0])
    shards.put(name, {"values": values})


def _span(entities: np.ndarray) -> tuple[int, int]:
    """The first and last of some entities, which rise."""
    return (int(entities[0]), int(entities[-1]) + 1) if len(entities) else (0, 0)


def _block(
    shards: Shards, embedding: str, entities: np.ndarray, start: int, stop: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some embeddings, their scales, and which of them the entities have."""
    numbers, scales = (shards.rows(embedding, key, start, stop) for key in ("numbers", "scales"))
    return numbers, scales, entities - start


def write_direct(
    shards: Shards,
    name: str,
    prefix: str,
    pair: tuple[int, int],
    cosines: Sequence[str],
    ends: tuple[str, str],
    enhancement: Enhancement,
    *sizes: int,
) -> None:
    """Direct scores, and the best of each row and column.

    cosines: the shards of these, in the order of rows. sizes: of the sample of others, and how many are best.
    """
    use_threads()
    sample, steps = sizes
    pairs = shards.get(f"{prefix}/pairs/{pair[0]}-{pair[1]}")
    parts = [shards.get(of_rows)["values"] for of_rows in cosines]
    values = np.concatenate([np.empty(0, np.float32), *parts])
    sides = [
        Side(shards, end, shards.get(f"{prefix}/candidates/{kg}")["entities"])
        for kg, end in zip(pair, ends, strict=True)
    ]
    scores = RowScores(pairs["starts"], pairs["column"], values, (len(sides[0]), len(sides[1]))).above(0)
    del values, pairs
    if enhancement.mode == "sharpened":
        scores = sinkhorn(scores, sides[0], sides[1], enhancement, sample)
    arrays = {"starts": scores.starts, "column": scores.column, "values": scores.values}
    if steps:
        for direction, best in (("forward", scores.best(steps)), ("backward", scores.transposed().best(steps))):
            arrays |= {f"{direction}_columns": best[0], f"{direction}_values": best[1]}
    shards.put(name, arrays)


def write_scores(
    shards: Shards,
    name: str,
    prefix: str,
    pair: tuple[int, int],
    thirds: Sequence[int],
    weights: tuple[float, float],
    kept: int,
) -> None:
    """Direct scores with paths through third KGs."""
    a, b = pair
    first, second = (
        [_steps(shards, prefix, *ends) for ends in route]
        for route in ([(a, kg) for kg in thirds], [(kg, b) for kg in thirds])
    )
    direct = shards.get(f"{prefix}/direct/{a}-{b}")
    of_pair = RowScores(
        direct["starts"], direct["column"], direct["values"], (len(first[0][0]), len(_steps(shards, prefix, b, a)[0]))
    )
    scores = with_paths(of_pair, first, second, weights, kept)
    shards.put(name, {"starts": scores.starts, "column": scores.column, "values": scores.values})


def _steps(shards: Shards, prefix: str, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """The best candidates in KG b of each one in KG a."""
    direct = shards.get(f"{prefix}/direct/{min(a, b)}-{max(a, b)}")
    direction = "forward" if a < b else "backward"
    return direct[f"{direction}_columns"], direct[f"{direction}_values"]
