"""multiea beside LightEA (Mao et al., 2022) on the same generated KGs in one run: seconds, peak memory and Hits@1.

LightEA aligns two KGs (lightea_method.py), so it aligns each pair of KGs in turn; multiea aligns all KGs at once. Each
runs in a fresh process from reading the files to Hits@1, with the same seeds, structure only. The candidates are the
same: members of held-out groups, as in the literature (`test`), or every non-seed entity (`all`); pseudo-labels come
from them too. Hits@1 is the average of both directions.

CPU seconds are those of all threads. Where other processes use the machine too, threads of both methods waste much of
their time waiting for each other; OMP_WAIT_POLICY=passive avoids that.

The similarities of all pairs of entities take (entities of a pool)^2 numbers. Where they fit into 4 GiB, the table also
has LightEA with Sinkhorn on all of them instead of on the best 500 of each row.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import multiea
from growth import align_folder
from lightea_method import LightEA, Normalise, align_pair, dense_sinkhorn, sparse_sinkhorn
from measure import Measured, measure, print_table
from multiea.data.groups import ABSENT
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.evaluation.ranks import hits
from multiea.foundation.memory import keep_freed_blocks
from multiea.similarity.pools import POOLS, candidate_pools, positions_in_pool

MOST_DENSE = 1 << 30  # similarities of two pools that dense Sinkhorn may hold: 4 GiB
DENSE = "LightEA, dense Sinkhorn"
METHODS: dict[str, Normalise] = {"LightEA": sparse_sinkhorn, DENSE: dense_sinkhorn}
OURS = "multiea"
HEADER = ("method", "KGs x entities", "triples", "seconds", "CPU s", "peak MB", "Hits@1")
RATIOS = ("ratio of s", "of CPU s", "of MB", "of Hits@1")  # LightEA / multiea


@dataclass(frozen=True)
class Compared:
    """One row of the table. The ratios are LightEA / multiea; None for multiea itself."""

    method: str
    kgs: int
    entities: int
    triples: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    hits_at_1: float
    seconds_ratio: float | None = None
    cpu_ratio: float | None = None
    memory_ratio: float | None = None
    hits_ratio: float | None = None


def main() -> None:
    """Runs the methods for each size and number of KGs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, nargs="+", default=[30_000, 100_000], help="entities per KG")
    parser.add_argument("--kgs", type=int, nargs="+", default=[2, 3], help="several numbers of KGs")
    parser.add_argument("--pool", choices=POOLS, default=POOLS[0], help="the candidates")
    parser.add_argument("--dense", action=argparse.BooleanOptionalAction, default=True, help="also dense Sinkhorn")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to a file")
    options = parser.parse_args()
    try:
        plans = [Synthesis(kgs=kgs, entities=entities) for entities in options.entities for kgs in options.kgs]
    except multiea.MultiEAError as error:
        parser.error(str(error))
    lines: list[Compared] = []
    for plan in plans:
        for line in compared(plan, options.pool, with_dense=options.dense):
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
            if options.json:
                options.json.write_text(json.dumps([asdict(line) for line in lines], indent=2) + "\n")
    print_table((*HEADER, *RATIOS), [cells(line) for line in lines])


def compared(plan: Synthesis, pool: str, *, with_dense: bool) -> Iterator[Compared]:
    """The rows of one plan: multiea first."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        triples = sum(kg["triples"] for kg in write_synthetic(plan, folder)["kgs"].values())
        ours = _row(OURS, plan, triples, measure(run_multiea, folder, pool))
        yield ours
        for method in ("LightEA", DENSE) if with_dense else ("LightEA",):
            if method == DENSE and (numbers := measure(largest_comparison, folder, pool).result) > MOST_DENSE:
                print(f"{method} is left out: {numbers * 4 / 2**30:.1f} GiB of similarities", file=sys.stderr)
                continue
            yield _row(method, plan, triples, measure(run_lightea, folder, pool, method), ours)


def cells(line: Compared) -> tuple[str, ...]:
    """The cells of one row of the table."""
    ratios = (line.seconds_ratio, line.cpu_ratio, line.memory_ratio, line.hits_ratio)
    return (
        line.method,
        f"{line.kgs} x {line.entities:,}",
        f"{line.triples:,}",
        f"{line.seconds:.1f}",
        f"{line.cpu_seconds:.1f}",
        f"{line.peak_mb:.0f}",
        f"{line.hits_at_1:.3f}",
        *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
    )


def run_multiea(folder: Path, pool: str) -> float:
    """Hits@1 of multiea with default settings but for the pool; memory as the command line sets it up."""
    keep_freed_blocks()
    return float(align_folder(folder, bootstrap=pool)["hits"][pool]["overall"]["1"])


def run_lightea(folder: Path, pool: str, method: str, settings: LightEA | None = None) -> float:
    """Hits@1 of LightEA over all pairs of KGs."""
    keep_freed_blocks()
    task, settings = multiea.load(folder), settings or LightEA()
    pools = candidate_pools(pool, task, task.seeds, task.held_out)
    ranks = []
    for a, b in combinations(range(len(task.kgs)), 2):
        found = align_pair(
            (task.kgs[a], task.kgs[b]),
            _of_both(task.seeds.members[:, [a, b]]),
            [torch.from_numpy(pools[kg]) for kg in (a, b)],
            settings,
            METHODS[method],
        )
        truth = _of_both(task.held_out.members[:, [a, b]])
        places = (positions_in_pool(pools[kg], members.numpy()) for kg, members in zip((a, b), truth, strict=True))
        ranks.append(found.ranks(*map(torch.from_numpy, places)))
    return sum(hits(torch.cat(side), 1) for side in zip(*ranks, strict=True)) / 2


def largest_comparison(folder: Path, pool: str) -> int:
    """The number of pairs of entities in the largest two pools."""
    task = multiea.load(folder)
    sizes = sorted(map(len, candidate_pools(pool, task, task.seeds, task.held_out)))
    return sizes[-1] * sizes[-2]


def _of_both(members: np.ndarray) -> Tensor:
    """The members of the groups that both of two KGs have, (2, groups)."""
    return torch.from_numpy(members[(members != ABSENT).all(axis=1)].T.astype(np.int64))


def _row(method: str, plan: Synthesis, triples: int, run: Measured[float], ours: Compared | None = None) -> Compared:
    line = Compared(method, plan.kgs, plan.entities, triples, run.seconds, run.cpu_seconds, run.peak_mb, run.result)
    if ours is None:
        return line
    return replace(
        line,
        seconds_ratio=line.seconds / ours.seconds,
        cpu_ratio=line.cpu_seconds / ours.cpu_seconds,
        memory_ratio=line.peak_mb / ours.peak_mb,
        hits_ratio=line.hits_at_1 / ours.hits_at_1,
    )


if __name__ == "__main__":
    main()
