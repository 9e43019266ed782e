"""Similarities of all pairs of large KGs: tasks for pairs and for blocks of rows, so that memory is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from multiea.settings.enhancement import Enhancement
from multiea.similarity.large_candidates import LargeCandidates, Pair
from multiea.similarity.large_scores import LargeScores
from multiea.similarity.large_tasks import (
    ROWS_AT_ONCE,
    write_cosines,
    write_direct,
    write_index,
    write_lists,
    write_pairs,
    write_scores,
)
from multiea.similarity.many_kgs import candidates_per_block, kept_after_paths, sample_per_block
from multiea.similarity.paths import candidates_per_step
from multiea.similarity.row_scores import RowScores
from multiea.similarity.search import SHARED
from multiea.similarity.sparse_sinkhorn import SAMPLE
from multiea.tasks.runner import Runner, Task

PART_OF_MEMORY = 4  # a quarter of it may hold embeddings of the other KG, half of that those of the rows


def large_similarities(candidates: LargeCandidates, enhancement: Enhancement) -> LargeScores:
    """The scores of the candidates of all KGs."""
    shards, pairs = candidates.runner.shards, candidates.pairs
    names = dict(zip(pairs, candidates.names("scores"), strict=True))
    if not candidates.are_compared:
        _search(candidates, enhancement)
        _score(candidates, enhancement)
    kept = {}
    for (a, b), name in names.items():
        found = shards.get(name)
        shape = (candidates.sizes[a], candidates.sizes[b])
        kept[a, b] = RowScores(found["starts"], found["column"], found["values"], shape)
    return LargeScores(kept, candidates.sizes)


def _search(candidates: LargeCandidates, enhancement: Enhancement) -> None:
    """The pairs that are compared, and their cosines."""
    runner, prefix, sizes = candidates.runner, candidates.prefix, candidates.sizes
    names = zip(candidates.pairs, candidates.names("direct"), candidates.names("scores"), strict=True)
    pairs = [pair for pair, *later in names if not any(name in runner.shards for name in later)]
    _join(candidates, [(a, b) for a, b in pairs if f"{prefix}/pairs/{a}-{b}" not in runner.shards], enhancement)
    cosines = [
        Task(
            _cosines(prefix, (a, b), rows),
            write_cosines,
            (prefix, (a, b), rows, _ends(candidates, a, b), _at_once(candidates, b)),
        )
        for a, b in pairs
        for rows in _blocks(sizes[a], _at_once(candidates, a) // 2)
    ]
    runner.run("comparing", cosines)


def _join(candidates: LargeCandidates, pairs: Sequence[Pair], enhancement: Enhancement) -> None:
    """The candidates of some pairs of KGs with most in common, both ways."""
    runner, prefix, sizes = candidates.runner, candidates.prefix, candidates.sizes
    count = min(candidates_per_block(len(sizes), enhancement.candidates), SHARED)
    kgs = sorted({kg for pair in pairs for kg in pair})
    runner.run("indexing", [Task(f"{prefix}/index/{kg}", write_index, (prefix, kg)) for kg in kgs])
    lists = [
        Task(f"{prefix}/lists/{a}-{b}/{rows.start}", write_lists, (prefix, (a, b), rows, count))
        for pair in pairs
        for a, b in (pair, pair[::-1])
        for rows in _blocks(sizes[a])
    ]
    runner.run("searching", lists)
    joined = [
        Task(f"{prefix}/pairs/{a}-{b}", write_pairs, (prefix, (a, b), (_bounds(sizes[a]), _bounds(sizes[b]))))
        for a, b in pairs
    ]
    runner.run("joining", joined)
    _drop(runner, [task.name for task in lists], [f"{prefix}/index/{kg}" for kg in kgs])


def _score(candidates: LargeCandidates, enhancement: Enhancement) -> None:
    """Sinkhorn, and paths through third KGs."""
    runner, prefix, sizes, pairs = candidates.runner, candidates.prefix, candidates.sizes, candidates.pairs
    filled = [kg for kg, size in enumerate(sizes) if size]
    weights = tuple(part / sum(enhancement.weights) for part in enhancement.weights)
    has_paths = enhancement.mode == "sharpened" and len(filled) > 2 and len(weights) > 1 and weights[1] > 0
    steps = candidates_per_step(len(filled) - 2, len(sizes)) if has_paths else 0
    stage, sample = "direct" if has_paths else "scores", sample_per_block(len(sizes), SAMPLE)
    cosines = {
        (a, b): [_cosines(prefix, (a, b), rows) for rows in _blocks(sizes[a], _at_once(candidates, a) // 2)]
        for a, b in pairs
    }
    direct = [
        Task(
            f"{prefix}/{stage}/{a}-{b}",
            write_direct,
            (prefix, (a, b), cosines[a, b], _ends(candidates, a, b), enhancement, sample, steps),
        )
        for a, b in pairs
    ]
    runner.run("normalising", direct)
    _drop(runner, candidates.names("pairs"), *cosines.values())
    if not has_paths:
        return
    kept = kept_after_paths(len(sizes), sum(sizes)) or SHARED
    with_paths = [
        Task(
            f"{prefix}/scores/{a}-{b}",
            write_scores,
            (prefix, (a, b), [kg for kg in filled if kg not in (a, b)], weights[:2], kept),
        )
        for a, b in pairs
    ]
    runner.run("adding paths", with_paths)
    _drop(runner, candidates.names("direct"))


def _ends(candidates: LargeCandidates, a: int, b: int) -> tuple[str, str]:
    """The shards of the embeddings of two KGs."""
    return candidates.embeddings[a], candidates.embeddings[b]


def _cosines(prefix: str, pair: Pair, rows: slice) -> str:
    """The shard of the cosines of some rows; how many there are at once depends on the memory."""
    return f"{prefix}/cosines/{pair[0]}-{pair[1]}/{rows.start}-{rows.stop}"


def _bounds(size: int, at_once: int = ROWS_AT_ONCE) -> list[int]:
    """Where the blocks of rows begin, and the number of rows."""
    return [*range(0, size, max(at_once, ROWS_AT_ONCE)), size]


def _blocks(size: int, at_once: int = ROWS_AT_ONCE) -> list[slice]:
    return [slice(start, stop) for start, stop in pairwise(_bounds(size, at_once))]


def _at_once(candidates: LargeCandidates, kg: int) -> int:
    """How many embeddings of a KG may be in memory at once."""
    width = int(candidates.runner.shards.get(candidates.embeddings[kg])["numbers"].shape[1])
    return max(ROWS_AT_ONCE, candidates.runner.memory // PART_OF_MEMORY // max(width, 1))


def _drop(runner: Runner, *names: Sequence[str]) -> None:
    for some in names:
        for name in some:
            runner.shards.drop(name)
