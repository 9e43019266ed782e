"""How `multiea align` scales: seconds, peak memory and scores for generated KGs of several sizes.

Above some size, entities are compared only if they share nearby marks (blocking). The benchmark searches the same
embeddings with and without blocking. Recall is the share of the mutual best matches of an exact search, for a sample of
the entities of each KG, that are among the candidates of the search with blocking. It is also given for the right
matches only, because with short embeddings an exact search matches some entities by chance.

With --evidence all the KGs have names and attributes too. Each size is then also aligned without them, with the same
triples and groups, and the table gives the ratio of the seconds; --no-ratio leaves that out, which halves the time.
Reading literals takes long and grows linearly; so that this does not hide another growth, the exponent is also given
for aligning alone.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import multiea
from measure import COSTS, measure, report_sizes
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.engines.embeddings import Embeddings
from multiea.kernels.edges import Edges
from multiea.settings.engines import PROPAGATION_CANDIDATES
from multiea.similarity import search
from multiea.similarity.signatures import signatures

SAMPLE = 5_000  # entities of a KG for which recall is measured


@dataclass(frozen=True)
class Aligned:
    """One row of the table."""

    entities: int
    triples: int
    seconds: float
    peak_mb: float
    search: str
    pairs_f1: float
    m_hits_at_1: float
    recall: float
    recall_of_right: float


@dataclass(frozen=True)
class AlignedWithLiterals:
    """One row of the table with names and attributes."""

    entities: int
    triples: int
    literals: int
    seconds: float
    align_seconds: float
    peak_mb: float
    pairs_f1: float
    rounds: int
    ratio: float | None  # to the seconds of structure alone
    align_ratio: float | None
    structure_pairs_f1: float | None


def main() -> None:
    """Aligns each size in a fresh process and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kgs", type=int, default=3)
    parser.add_argument(
        "--entities",
        type=int,
        nargs="+",
        default=[10_000, 30_000, 100_000, 300_000],
        help="entities per KG; several sizes",
    )
    parser.add_argument("--evidence", choices=("structure", "all"), default="structure")
    parser.add_argument(
        "--ratio",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="with all evidence: also align by structure alone",
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        for entities in options.entities:
            Synthesis(kgs=options.kgs, entities=entities)
    except multiea.MultiEAError as error:
        parser.error(str(error))
    with_literals = options.evidence == "all"
    lines: list[Aligned | AlignedWithLiterals] = []
    for entities in sorted(options.entities):
        if with_literals:
            lines.append(aligned_with_literals(options.kgs, entities, with_ratio=options.ratio))
        else:
            lines.append(aligned(options.kgs, entities))
        if not options.json:
            print(lines[-1], flush=True)
    header: tuple[str, ...]
    if with_literals:
        header = (
            "triples",
            "literals",
            "seconds",
            "ratio",
            "align",
            "ratio",
            "rounds",
            "peak MB",
            "F1",
            "structure F1",
        )
        costs = (*COSTS, "align_seconds")
        report_sizes(options.kgs, lines, header, cells_with_literals, as_json=options.json, costs=costs)
    else:
        header = ("triples", "seconds", "peak MB", "search", "pairs F1", "M-Hits@1", "recall", "of right")
        report_sizes(options.kgs, lines, header, cells, as_json=options.json)


def cells(line: Aligned) -> tuple[str, ...]:
    """The cells of one row of the table."""
    return (
        f"{line.triples:,}",
        f"{line.seconds:.0f}",
        f"{line.peak_mb:.0f}",
        line.search,
        f"{line.pairs_f1:.3f}",
        f"{line.m_hits_at_1:.1%}",
        f"{line.recall:.4f}",
        f"{line.recall_of_right:.4f}",
    )


def cells_with_literals(line: AlignedWithLiterals) -> tuple[str, ...]:
    """The cells of one row of the table with names and attributes."""
    return (
        f"{line.triples:,}",
        f"{line.literals:,}",
        f"{line.seconds:.0f}",
        _number(line.ratio, 2),
        f"{line.align_seconds:.0f}",
        _number(line.align_ratio, 2),
        str(line.rounds),
        f"{line.peak_mb:.0f}",
        f"{line.pairs_f1:.3f}",
        _number(line.structure_pairs_f1, 3),
    )


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def aligned(kgs: int, entities: int) -> Aligned:
    """Measures one size."""
    with tempfile.TemporaryDirectory() as folder:
        made = write_synthetic(Synthesis(kgs=kgs, entities=entities), Path(folder))
        run = measure(align_folder, Path(folder))
        recall, recall_of_right = measure(recall_of_blocking, Path(folder)).result
    scores = run.result
    return Aligned(
        entities=entities,
        triples=sum(kg["triples"] for kg in made["kgs"].values()),
        seconds=run.seconds,
        peak_mb=run.peak_mb,
        search=scores["search"],
        pairs_f1=scores["pairs"]["f1"],
        m_hits_at_1=scores["m_hits"]["all"]["1"],
        recall=recall,
        recall_of_right=recall_of_right,
    )


def aligned_with_literals(kgs: int, entities: int, *, with_ratio: bool) -> AlignedWithLiterals:
    """Measures one size with names and attributes, and with the same triples and groups without them."""
    structure = None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        made = write_synthetic(Synthesis(kgs=kgs, entities=entities, names=True, attributes=True), Path(folder))
        run = measure(align_folder, Path(folder))
        if with_ratio:
            write_synthetic(Synthesis(kgs=kgs, entities=entities), Path(other))
            structure = measure(align_folder, Path(other))
    align_seconds = run.result["align_seconds"]
    return AlignedWithLiterals(
        entities=entities,
        triples=sum(kg["triples"] for kg in made["kgs"].values()),
        literals=sum(kg["literals"] for kg in made["kgs"].values()),
        seconds=run.seconds,
        align_seconds=align_seconds,
        peak_mb=run.peak_mb,
        pairs_f1=run.result["pairs"]["f1"],
        rounds=run.result["rounds"],
        ratio=None if structure is None else run.seconds / structure.seconds,
        align_ratio=None if structure is None else align_seconds / structure.result["align_seconds"],
        structure_pairs_f1=None if structure is None else structure.result["pairs"]["f1"],
    )


def align_folder(folder: Path, **settings: Any) -> dict[str, Any]:
    """Reads, aligns, evaluates and saves a run folder, with default settings except for those given."""
    task = multiea.load(folder)
    start = time.perf_counter()
    alignment = multiea.align(task, **settings)
    align_seconds = time.perf_counter() - start
    alignment.save(folder / "run")
    history = alignment.history
    return alignment.evaluate() | {
        "search": history["search"],
        "rounds": len(history["rounds"]),
        "align_seconds": align_seconds,
    }


def edges_of(task: multiea.Task) -> list[Edges]:
    """The edges of all KGs."""
    return [Edges.of(kg.triples, len(kg.entities), len(kg.relations)) for kg in task.kgs]


def recall_of_blocking(folder: Path) -> tuple[float, float]:
    """The share of the mutual best matches of an exact search that blocking finds, and the share of the right ones.

    Both search the embeddings of a run; the exact search takes a sample of one KG against all entities of the other.
    """
    task, alignment = multiea.load(folder), multiea.open(folder / "run")
    of_all = alignment.signatures
    if of_all is None:
        of_all = signatures(edges_of(task), task.seeds.joined(alignment.found.groups))
    starts = task.entity_offsets.tolist()
    slices = [slice(start, end) for start, end in pairwise(starts)]
    embeddings = [alignment.embeddings_of(np.arange(part.start, part.stop)) for part in slices]
    of_kgs = [of_all[part] for part in slices]
    known = task.held_out.joined(task.seeds).members
    found_and_right = [torch.zeros(2, 0, dtype=torch.bool)]
    for a, b in combinations(range(len(slices)), 2):
        left, right = Embeddings(embeddings[a]).in_8_bits(), Embeddings(embeddings[b]).in_8_bits()
        rows, columns = sampled_mutual_best(left, right)
        with exact_search_up_to(0.0):
            with_blocking = search.search(left, right, PROPAGATION_CANDIDATES, (of_kgs[a], of_kgs[b]))
        found = with_blocking.at(rows, columns) > 0
        found_and_right.append(torch.stack([found, counterparts(known[:, [a, b]], len(left))[rows] == columns]))
    found, is_right = torch.cat(found_and_right, dim=1)
    return float(found.double().mean()), float(found[is_right].double().mean())


def sampled_mutual_best(left: Embeddings, right: Embeddings) -> tuple[Tensor, Tensor]:
    """Rows and columns of mutual best matches by exact search, for a sample of the rows."""
    rows = torch.arange(0, len(left), max(1, len(left) // SAMPLE))
    with exact_search_up_to(float("inf")):
        there = search.search(left[rows], right, 1).top(1)[0][:, 0]
        rows, there = rows[there >= 0], there[there >= 0]
        back = search.search(right[there], left, 1).top(1)[0][:, 0]
    return rows[back == rows], there[back == rows]


def counterparts(members: np.ndarray, entities: int) -> Tensor:
    """For each entity of a KG its counterpart in another, (entities,), from the (groups, 2) members of known groups.

    -1 where the known group has no member in the other KG, -2 where there is no known group.
    """
    present = members[:, 0] >= 0
    result = torch.full((entities,), -2)
    result[members[present, 0]] = torch.from_numpy(members[present, 1]).long()
    return result


@contextmanager
def exact_search_up_to(pairs: float) -> Iterator[None]:
    """Changes the number of pairs up to which all pairs are compared."""
    before = search.EXACT_PAIRS["cpu"]
    search.EXACT_PAIRS["cpu"] = pairs
    try:
        yield
    finally:
        search.EXACT_PAIRS["cpu"] = before


if __name__ == "__main__":
    main()
