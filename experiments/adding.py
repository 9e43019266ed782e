"""Adding a KG: is the result as good as aligning all KGs again, and what do a few seeds of the new KG achieve?

python experiments/adding.py run world FOLDER     removes each KG in turn from `world` and from a data set, and adds it
python experiments/adding.py show                 writes the page from the stored results

FOLDER is a data set as `multiea build dbp-4` writes it. Stored runs are not repeated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import multiea
from adding_page import page
from multiea import Alignment, Groups, KnowledgeGraph, Task
from stored_rows import Row, machine, read_rows, store_rows

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "adding.json"
PAGE = FOLDER.parent / "docs" / "results" / "adding.md"
FEW = 0.2  # share of the seeds that are known in the new KG, where only few are
# The four ways of a run, as they are called in the stored results: all KGs aligned at once; a KG added with all seeds;
# a KG added with few seeds, the others open; all KGs aligned at once with the same few seeds.
WAYS = ("anew", "added", "few ties", "few ties anew")
Key = tuple[str, int, int, str, "str | None"]


def main() -> None:
    """Runs what is not stored yet, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("sources", nargs="*", help="for run: world, or folders of data sets")
    parser.add_argument("--splits", type=int, nargs="+", default=range(6), help="random states of the split")
    parser.add_argument("--random-states", type=int, nargs="+", default=(0, 1), help="random states of the alignment")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = read_rows(options.results)
    if options.what == "show":
        PAGE.write_text(page(stored, RESULTS.name), encoding="utf-8")
        return
    for row in store_rows(options.results, stored, runs(options, {key_of(row) for row in stored})):
        print(*key_of(row), f"{row['pairs']['f1']:.4f}", file=sys.stderr, flush=True)


def key_of(row: Row) -> Key:
    """The values that identify a run."""
    return row["data"], row["split"], row["random_state"], row["way"], row["new"]


def runs(options: argparse.Namespace, done: set[Key]) -> Iterator[Row]:
    """For each split and random state one run over all KGs, then each KG added to the others."""
    for source in options.sources:
        for split in options.splits:
            task = multiea.load(source, random_state=split, train_ratio=0.3)
            for state in options.random_states:
                settings = {"random_state": state, "device": options.device, "evidence": "structure"}
                key = (task.name, split, state)
                if (*key, "anew", None) not in done:
                    yield row_of((*key, "anew", None), *timed(task, settings))
                for number, kg in enumerate(task.kgs):
                    if not {(*key, way, kg.name) for way in WAYS[1:]} <= done:
                        yield from added(key, task, number, settings)


def added(key: tuple[str, int, int], task: Task, number: int, settings: dict[str, Any]) -> Iterator[Row]:
    """One KG added to the others with all seeds and with few, and all KGs aligned again with these few."""
    kg = task.kgs[number]
    before, seeds, held_out = without_kg(task, number)
    old = multiea.align(before, **settings)
    few = np.random.default_rng(key[1]).random(len(seeds)) < FEW
    for way, known in (("added", seeds), ("few ties", seeds.take(few))):
        start = time.perf_counter()
        new = multiea.add(old, kg, known, held_out=held_out, **settings)
        row = row_of((*key, way, kg.name), new, time.perf_counter() - start)
        assert new.ids is not None
        yield row | {"fates": new.ids.fates(), "completed": completed(new, seeds)}
    all_known = new.task.seeds.joined(new.task.open_seeds.groups)
    all_at_once = Task(new.task.kgs, all_known, held_out, name=task.name)
    yield row_of((*key, "few ties anew", kg.name), *timed(all_at_once, settings))


def completed(alignment: Alignment, seeds: Groups) -> dict[str, int]:
    """How many members were found for open seeds, how many of them can be checked, and how many are right."""
    if alignment.completed_seeds is None:
        return {"found": 0, "checked": 0, "right": 0}
    groups = alignment.completed_seeds.groups
    rows = groups.take(groups.present[:, -1] & ~groups.members_in(alignment.task.open_seeds.groups)[:, -1])
    of_seed = seeds.rows_of(rows.members)[:, :-1].max(axis=1, initial=-1)
    true = seeds.members[of_seed, -1]
    checked = (of_seed >= 0) & (true >= 0)
    right = checked & (rows.members[:, -1] == true)
    return {"found": len(rows), "checked": int(checked.sum()), "right": int(right.sum())}


def timed(task: Task, settings: dict[str, Any]) -> tuple[Alignment, float]:
    """An alignment of all KGs, and its seconds."""
    start = time.perf_counter()
    return multiea.align(task, **settings), time.perf_counter() - start


def row_of(key: Key, alignment: Alignment, seconds: float) -> Row:
    """The row that is stored for a run."""
    scores = alignment.evaluate()
    kept = {"pairs": scores["pairs"], "groups": scores["groups"], "ece": scores["confidence"]["ece"]}
    names = ("data", "split", "random_state", "way", "new")
    return dict(zip(names, key, strict=True)) | {"seconds": seconds, **kept, **machine(alignment.settings.device)}


def without_kg(task: Task, new: int) -> tuple[Task, Groups, Groups]:
    """A task without one of its KGs, and the seeds and held-out groups over all KGs, with that KG last."""
    others = [kg for kg in range(len(task.kgs)) if kg != new]

    def over(groups: Groups, order: Sequence[int]) -> Groups:
        members = groups.members[:, order]
        return Groups(tuple(task.kg_names[kg] for kg in order), members[(members >= 0).sum(axis=1) > 1])

    kgs: list[KnowledgeGraph] = [task.kgs[kg] for kg in others]
    before = Task(kgs, over(task.seeds, others), over(task.held_out, others), name=task.name)
    return before, over(task.seeds, [*others, new]), over(task.held_out, [*others, new])


if __name__ == "__main__":
    main()
