"""How `multiea align` grows: seconds, peak memory and scores for generated KGs of several sizes.

Past some size entities are compared only where they share labels near them. Then the same embeddings are searched both
ways: recall is the share of an exact search's mutual best matches, for some entities of each KG, that are among the
restricted search's candidates; and the same of those matches that are right. Where embeddings are short, an exact
search matches some entities by chance that have nothing in common.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import multiea
from measure import measure, report_sizes, sizes_as_json
from multiea.data.synthetic import Synthesis, write_synthetic

SAMPLE = 5_000  # entities of a KG by which recall is told


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
    recall: float
    recall_of_right: float


def main() -> None:
    """Aligns each size in a fresh process and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kgs", type=int, default=3)
    parser.add_argument(
        "--entities", type=int, nargs="+", default=[10_000, 30_000, 100_000, 300_000], help="of each KG"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        for entities in options.entities:
            Synthesis(kgs=options.kgs, entities=entities)
    except multiea.MultiEAError as error:
        parser.error(str(error))
    lines = []
    for entities in sorted(options.entities):
        lines.append(aligned(options.kgs, entities))
        if not options.json:
            print(lines[-1], flush=True)
    if options.json:
        print(sizes_as_json(options.kgs, lines))
        return
    report_sizes(
        options.kgs,
        lines,
        ("triples", "seconds", "peak MB", "search", "M-Hits@1", "pairs F1", "recall", "of right"),
        lambda line: (
            f"{line.triples:,}",
            f"{line.seconds:.0f}",
            f"{line.peak_mb:.0f}",
            line.search,
            f"{line.m_hits_at_1:.1%}",
            f"{line.pairs_f1:.3f}",
            f"{line.recall:.4f}",
            f"{line.recall_of_right:.4f}",
        ),
    )


def aligned(kgs: int, entities: int) -> Aligned:
    """Measures one size."""
    with tempfile.TemporaryDirectory() as folder:
        made = write_synthetic(Synthesis(kgs=kgs, entities=entities), Path(folder))
        run = measure(align_folder, Path(folder))
        recall = measure(recall_of_restricted_search, Path(folder)).result
    triples = sum(kg["triples"] for kg in made["kgs"].values())
    scores = run.result
    at_1, f1 = scores["m_hits"]["all"]["1"], scores["pairs"]["f1"]
    return Aligned(entities, triples, run.seconds, run.peak_mb, scores["search"], at_1, f1, *recall)


def align_folder(folder: Path) -> dict[str, Any]:
    """Reads, aligns, scores and writes a run folder, with default settings."""
    alignment = multiea.align(multiea.load(folder))
    alignment.save(folder / "run")
    return alignment.evaluate() | {"search": alignment.history["search"]}


def recall_of_restricted_search(folder: Path) -> tuple[float, float]:
    """Of an exact search's mutual best matches, the share among the candidates of a restricted one; and of right ones.

    Both search the embeddings of a run; the exact one for some entities of a KG only, against all of the other KG.
    """
    import torch

    from multiea.settings.how import CANDIDATES
    from multiea.similarity import search
    from multiea.similarity.int8_embeddings import Comparable
    from multiea.similarity.signatures import signatures

    task, alignment = multiea.load(folder), multiea.open(folder / "run")
    marks = alignment.signatures
    if marks is None:
        marks = signatures(task.kgs, task.seeds.joined(alignment.found.groups))
    sizes = [len(kg.entities) for kg in task.kgs]
    embeddings = torch.split(alignment.embeddings.float(), sizes)
    starts = [sum(sizes[:kg]) for kg in range(len(sizes))]
    of_kgs = [marks[slice(start, start + size)] for start, size in zip(starts, sizes, strict=True)]
    answers = task.held_out.joined(task.seeds).members
    wanted = kept = all_right = right_kept = 0
    for a, b in combinations(range(len(sizes)), 2):
        left, right = Comparable(embeddings[a]), Comparable(embeddings[b])
        rows = torch.arange(0, sizes[a], max(1, sizes[a] // SAMPLE))
        search.EXACT_PAIRS["cpu"] = float("inf")
        there = search.search(Comparable(embeddings[a][rows]), right, 1).best(1)[0][:, 0]
        rows, there = rows[there >= 0], there[there >= 0]
        back = search.search(Comparable(embeddings[b][there]), left, 1).best(1)[0][:, 0]
        rows, there = rows[back == rows], there[back == rows]
        search.EXACT_PAIRS["cpu"] = 0.0
        restricted = search.search(left, right, CANDIDATES, (of_kgs[a], of_kgs[b]))
        found = restricted.at(rows, there) > 0
        counterpart = torch.full((sizes[a],), -2)
        counterpart[answers[:, a][answers[:, a] >= 0]] = torch.from_numpy(answers[:, b][answers[:, a] >= 0]).long()
        is_right = counterpart[rows] == there
        wanted, kept = wanted + len(rows), kept + int(found.sum())
        all_right, right_kept = all_right + int(is_right.sum()), right_kept + int((found & is_right).sum())
    return kept / wanted, right_kept / all_right


if __name__ == "__main__":
    main()
