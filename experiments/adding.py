"""Adding a KG: is it as good as aligning all KGs anew, and what do a few ties to the new one suffice for?

python experiments/adding.py run world FOLDER     takes each KG in turn out of `world` and of a data set, and adds it
python experiments/adding.py show                 writes the page from what is stored

FOLDER is a data set as `multiea build dbp-4` writes it. What is stored already is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from default_engine import machine

if TYPE_CHECKING:
    from multiea import Alignment, Groups, KnowledgeGraph, Task

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "adding.json"
PAGE = FOLDER.parent / "docs" / "results" / "adding.md"
TIES = (1.0, 0.2)  # shares of the seeds that are known in the new KG
Row = dict[str, Any]
Key = tuple[str, int, int, "str | None", float]


def main() -> None:
    """Runs what is missing, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("sources", nargs="*", help="of run: world, or folders of data sets")
    parser.add_argument("--splits", type=int, nargs="+", default=range(6), help="random states of the split")
    parser.add_argument("--random-states", type=int, nargs="+", default=(0, 1), help="random states of aligning")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else []
    if options.what == "show":
        PAGE.write_text(page(stored), encoding="utf-8")
        return
    for row in runs(options, {key_of(row) for row in stored}):
        stored.append(row)
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        print(*key_of(row), f"{row['pairs']['f1']:.4f}", file=sys.stderr, flush=True)


def key_of(row: Row) -> Key:
    """What tells one run from another."""
    return row["data"], row["split"], row["random_state"], row["new"], row["ties"]


def runs(options: argparse.Namespace, done: set[Key]) -> Iterator[Row]:
    """For each split and random state a run over all KGs, then each KG added to the others."""
    from multiea import add, align, load

    for source in options.sources:
        for split in options.splits:
            task = load(source, random_state=split, train_ratio=0.3)
            for state in options.random_states:
                how = {"random_state": state, "device": options.device}
                key = (task.name, split, state)
                if (*key, None, 1.0) not in done:
                    yield _row((*key, None, 1.0), lambda: align(task, **how))  # noqa: B023 (called at once)
                for number, kg in enumerate(task.kgs):
                    missing = [ties for ties in TIES if (*key, kg.name, ties) not in done]
                    if not missing:
                        continue
                    before, seeds, held_out = parted(task, number)
                    old = align(before, **how)
                    for ties in missing:
                        known = seeds.take(np.random.default_rng(split).random(len(seeds)) < ties)
                        row = _row((*key, kg.name, ties), lambda: add(old, kg, known, held_out=held_out, **how))  # noqa: B023
                        yield row


def _row(key: Key, make: Any) -> Row:
    start = time.perf_counter()
    alignment: Alignment = make()
    seconds = time.perf_counter() - start
    scores = alignment.evaluate()
    kept = {"pairs": scores["pairs"], "groups": scores["groups"], "ece": scores["confidence"]["ece"]}
    names = ("data", "split", "random_state", "new", "ties")
    return dict(zip(names, key, strict=True)) | {"seconds": seconds, **kept, **machine(alignment.settings["device"])}


def parted(task: Task, new: int) -> tuple[Task, Groups, Groups]:
    """A task without one of its KGs, and the seeds and held-out groups of all, that KG's column last."""
    from multiea import Groups, Task

    others = [kg for kg in range(len(task.kgs)) if kg != new]

    def over(groups: Groups, order: Sequence[int]) -> Groups:
        members = groups.members[:, order]
        return Groups(tuple(task.kg_names[kg] for kg in order), members[(members >= 0).sum(axis=1) > 1])

    kgs: list[KnowledgeGraph] = [task.kgs[kg] for kg in others]
    before = Task(kgs, over(task.seeds, others), over(task.held_out, others), name=task.name)
    return before, over(task.seeds, [*others, new]), over(task.held_out, [*others, new])


def page(rows: list[Row]) -> str:
    """The page of results, from the stored rows alone."""
    data = list(dict.fromkeys(row["data"] for row in rows))
    return TEXT.format(
        all_tied="\n".join(_line(rows, name, kg) for name in data for kg in _kgs(rows, name)),
        few_tied="\n".join(_few(rows, name, kg) for name in data for kg in _kgs(rows, name)),
        spread="; ".join(f"{name} {100 * _spread(rows, name):.1f}" for name in data),
        runs="; ".join(_runs(rows, name) for name in data),
        results=RESULTS.name,
    )


def _kgs(rows: list[Row], data: str) -> list[str | None]:
    """The KGs of a data set, and last none: all of them."""
    return [*sorted({row["new"] for row in rows if row["data"] == data and row["new"]}), None]


def _added(rows: list[Row], data: str, new: str | None, ties: float) -> list[Row]:
    return [
        row for row in rows if row["data"] == data and row["ties"] == ties and row["new"] and new in (None, row["new"])
    ]


def _full(rows: list[Row], data: str) -> dict[int, list[float]]:
    """F1 of pairs of the runs over all KGs, split by split."""
    result: dict[int, list[float]] = {}
    for row in rows:
        if row["data"] == data and row["new"] is None:
            result.setdefault(row["split"], []).append(row["pairs"]["f1"])
    return result


def _line(rows: list[Row], data: str, new: str | None) -> str:
    """A line of the first table: F1 added and anew, the difference with its standard error, seconds as a ratio."""
    full, added = _full(rows, data), _added(rows, data, new, 1.0)
    by_split = {split: mean(r["pairs"]["f1"] for r in added if r["split"] == split) for split in full}
    differences = [100 * (by_split[split] - mean(anew)) for split, anew in full.items()]
    error = stdev(differences) / len(differences) ** 0.5
    anew = mean(f1 for values in full.values() for f1 in values)
    seconds = mean(row["seconds"] for row in rows if row["data"] == data and row["new"] is None)
    cells = (
        data,
        new or "**all**",
        f"{mean(row['pairs']['f1'] for row in added):.3f}",
        f"{anew:.3f}",
        f"{mean(differences):+.1f} ± {error:.1f}",
        f"{mean(row['seconds'] for row in added) / seconds:.1f}",
        str(len(added)),
    )
    return "| " + " | ".join(cells) + " |"


def _few(rows: list[Row], data: str, new: str | None) -> str:
    """A line of the second table: F1 with all ties and with few."""
    all_tied, few = (_added(rows, data, new, ties) for ties in TIES)
    cells = (data, new or "**all**", *(f"{mean(row['pairs']['f1'] for row in part):.3f}" for part in (all_tied, few)))
    return "| " + " | ".join([*cells, str(len(few))]) + " |"


def _spread(rows: list[Row], data: str) -> float:
    """How much F1 varies among runs over all KGs that differ in nothing but the random state."""
    full = [values for values in _full(rows, data).values() if len(values) > 1]
    return float(mean(stdev(values) ** 2 for values in full) ** 0.5)


def _runs(rows: list[Row], data: str) -> str:
    own = [row for row in rows if row["data"] == data]
    splits, states = ({row[name] for row in own} for name in ("split", "random_state"))
    devices = ", ".join(sorted({row["device"] for row in own}))
    return f"{data}: {len(splits)} splits, {len(states)} random states on each, on {devices}"


TEXT = """# Adding a KG

Each KG in turn is taken out of a data set, the others are aligned (`multiea align`), and it is added to that run
(`multiea add`). The same seeds and held-out groups as in a run over all KGs at once; F1 of pairs, means over splits and
random states. The difference is in points, with its standard error over the splits.

| data | added | F1 added | F1 aligned anew | difference | seconds, ratio | runs |
|---|---|---|---|---|---|---|
{all_tied}

Single runs differ by more: runs over all KGs that differ in nothing but the random state have a standard deviation, in
points, of {spread}.

## Few ties
All seeds of the run are known in the new KG, or a fifth of them; those of which nothing is told are open, and find
their members there by themselves.

| data | added | F1, all tied | F1, a fifth tied | runs |
|---|---|---|---|---|
{few_tied}

{runs}.
Made by `python experiments/adding.py`; stored results: `experiments/results/{results}`.
"""


if __name__ == "__main__":
    main()
