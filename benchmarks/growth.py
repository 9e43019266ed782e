"""How `multiea align` grows: seconds, peak memory and scores for generated KGs of several sizes.

Past some size entities are compared only where they share labels near them. For sizes where comparing every pair is
still bearable, the same embeddings are searched both ways: recall is the share of an exact search's mutual best matches
that are among the restricted search's candidates.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from measure import growth_exponents, measure, print_growth, print_table
from multiea.data.synth import Synthesis, write_synthetic


@dataclass(frozen=True)
class Aligned:
    """One size's line of the table."""

    entities: int
    triples: int
    seconds: float
    peak_mb: float
    search: str
    m_hits_at_1: float
    pairs_f1: float
    recall: float | None


def main() -> None:
    """Aligns each size in a fresh process and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kgs", type=int, default=3)
    parser.add_argument(
        "--entities", type=int, nargs="+", default=[10_000, 30_000, 100_000, 300_000], help="of each KG"
    )
    parser.add_argument("--recall-up-to", type=int, default=30_000, help="the largest size at which recall is measured")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = []
    for entities in sorted(options.entities):
        lines.append(aligned(options.kgs, entities, with_recall=entities <= options.recall_up_to))
        if not options.json:
            print(lines[-1], flush=True)
    costs = {cost: [getattr(line, cost) for line in lines] for cost in ("seconds", "peak_mb")}
    growth = growth_exponents([line.triples for line in lines], costs)
    if options.json:
        print(json.dumps({"kgs": options.kgs, "sizes": [asdict(line) for line in lines], "growth_exponent": growth}))
        return
    rows = [
        (
            f"{options.kgs} x {line.entities:,}",
            f"{line.triples:,}",
            f"{line.seconds:.0f}",
            f"{line.peak_mb:.0f}",
            line.search,
            f"{line.m_hits_at_1:.1%}",
            f"{line.pairs_f1:.3f}",
            "" if line.recall is None else f"{line.recall:.4f}",
        )
        for line in lines
    ]
    print_table(("entities", "triples", "seconds", "peak MB", "search", "M-Hits@1", "pairs F1", "recall"), rows)
    print_growth(growth)


def aligned(kgs: int, entities: int, *, with_recall: bool) -> Aligned:
    """Measures one size."""
    with tempfile.TemporaryDirectory() as folder:
        made = write_synthetic(Synthesis(kgs=kgs, entities=entities), Path(folder))
        run = measure(align_folder, Path(folder))
        recall = measure(recall_of_restricted_search, Path(folder)).result if with_recall else None
    triples = sum(kg["triples"] for kg in made["kgs"].values())
    scores = run.result
    at_1, f1 = scores["m_hits"]["all"]["1"], scores["pairs"]["f1"]
    return Aligned(entities, triples, run.seconds, run.peak_mb, scores["search"], at_1, f1, recall)


def align_folder(folder: Path) -> dict[str, Any]:
    """Reads, aligns and scores with default settings."""
    import multiea

    alignment = multiea.align(multiea.load(folder))
    return alignment.evaluate() | {"search": alignment.history["search"]}


def recall_of_restricted_search(folder: Path) -> float:
    """Of an exact search's mutual best matches, the share among the candidates of a restricted one.

    Both search the embeddings of all entities that come of the seeds and of what a default run finds.
    """
    import torch

    import multiea
    from multiea.engines.propagation import Propagation, Wiring, embed
    from multiea.engines.signatures import signatures
    from multiea.pipeline import CANDIDATES
    from multiea.similarity import search
    from multiea.similarity.comparing import Comparable

    task = multiea.load(folder)
    labels = task.seeds.joined(multiea.align(task).found.groups)
    sizes = [len(kg.entities) for kg in task.kgs]
    embeddings = torch.split(embed([Wiring(kg) for kg in task.kgs], labels, Propagation(), 0), sizes)
    marks, starts = signatures(task.kgs, labels), [sum(sizes[:kg]) for kg in range(len(sizes))]
    compared = [Comparable(part) for part in embeddings]
    of_kgs = [marks[slice(start, start + size)] for start, size in zip(starts, sizes, strict=True)]
    wanted = kept = 0
    for a, b in combinations(range(len(sizes)), 2):
        search.EXACT_PAIRS["cpu"] = float("inf")
        exact = search.search(compared[a], compared[b], 2)
        there, back = exact.best(1)[0][:, 0], exact.transposed().best(1)[0][:, 0]
        rows = torch.nonzero((there >= 0) & (back[there] == torch.arange(len(there))))[:, 0]
        search.EXACT_PAIRS["cpu"] = 0.0
        restricted = search.search(compared[a], compared[b], CANDIDATES, (of_kgs[a], of_kgs[b]))
        kept += int((restricted.at(rows, there[rows]) > 0).sum())
        wanted += len(rows)
    return kept / wanted


if __name__ == "__main__":
    main()
