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
FEW = 0.2  # share of the seeds of which something is told, where few are
# What is run: over all KGs at once; a KG added with all that is known; with a few ties; and with these, aligned anew,
# all other seeds without a counterpart there.
WAYS = ("anew", "added", "few ties", "few ties anew")
Row = dict[str, Any]
Key = tuple[str, int, int, str, "str | None"]


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
    return row["data"], row["split"], row["random_state"], row["way"], row["new"]


def runs(options: argparse.Namespace, done: set[Key]) -> Iterator[Row]:
    """For each split and random state a run over all KGs, then each KG added to the others."""
    from multiea import load

    for source in options.sources:
        for split in options.splits:
            task = load(source, random_state=split, train_ratio=0.3)
            for state in options.random_states:
                how = {"random_state": state, "device": options.device}
                key = (task.name, split, state)
                if (*key, "anew", None) not in done:
                    yield row_of((*key, "anew", None), *timed(task, how))
                for number, kg in enumerate(task.kgs):
                    if not {(*key, way, kg.name) for way in WAYS[1:]} <= done:
                        yield from added(key, task, number, how)


def added(key: tuple[str, int, int], task: Task, number: int, how: dict[str, Any]) -> Iterator[Row]:
    """One KG added to the others, with all ties and with few, and what few give when all is aligned anew."""
    from multiea import Task, add, align

    kg = task.kgs[number]
    before, seeds, held_out = parted(task, number)
    old = align(before, **how)
    told = np.random.default_rng(key[1]).random(len(seeds)) < FEW
    for way, known in (("added", seeds), ("few ties", seeds.take(told))):
        start = time.perf_counter()
        new = add(old, kg, known, held_out=held_out, **how)
        row = row_of((*key, way, kg.name), new, time.perf_counter() - start)
        assert new.ids is not None
        yield row | {"fates": new.ids.fates(), "completed": completed(new, seeds)}
    all_known = new.task.seeds.joined(new.task.open_seeds.groups)
    blank = Task(new.task.kgs, all_known, held_out, name=task.name)
    yield row_of((*key, "few ties anew", kg.name), *timed(blank, how))


def completed(alignment: Alignment, seeds: Groups) -> dict[str, int]:
    """How many members were found for open seeds, how many of these can be checked, and how many are right."""
    if alignment.adopted is None:
        return {"found": 0, "checked": 0, "right": 0}
    groups = alignment.adopted.groups
    rows = groups.take(groups.present[:, -1] & ~groups.members_in(alignment.task.open_seeds.groups)[:, -1])
    of_seed = seeds.rows_of(rows.members)[:, :-1].max(axis=1, initial=-1)
    true = seeds.members[of_seed, -1]
    checked = (of_seed >= 0) & (true >= 0)
    right = checked & (rows.members[:, -1] == true)
    return {"found": len(rows), "checked": int(checked.sum()), "right": int(right.sum())}


def timed(task: Task, how: dict[str, Any]) -> tuple[Alignment, float]:
    """A run over all KGs, and its seconds."""
    from multiea import align

    start = time.perf_counter()
    return align(task, **how), time.perf_counter() - start


def row_of(key: Key, alignment: Alignment, seconds: float) -> Row:
    """What is stored of a run."""
    scores = alignment.evaluate()
    kept = {"pairs": scores["pairs"], "groups": scores["groups"], "ece": scores["confidence"]["ece"]}
    names = ("data", "split", "random_state", "way", "new")
    of_machine = machine(alignment.settings["device"])
    return dict(zip(names, key, strict=True)) | {"seconds": seconds, **kept, **of_machine}


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


def _rows(rows: list[Row], data: str, way: str, new: str | None = None) -> list[Row]:
    """The runs of a way, of one KG or of all."""
    return [row for row in rows if row["data"] == data and row["way"] == way and new in (None, row["new"])]


def _f1(rows: list[Row]) -> float:
    return float(mean(row["pairs"]["f1"] for row in rows))


def differences(rows: list[Row], data: str, new: str | None) -> list[float]:
    """F1 of pairs added less that of runs over all KGs, in points, a number a split."""
    anew, added = _rows(rows, data, "anew"), _rows(rows, data, "added", new)
    splits = sorted({row["split"] for row in anew})
    means = [[_f1([row for row in some if row["split"] == split]) for split in splits] for some in (added, anew)]
    return [100 * (one - other) for one, other in zip(*means, strict=True)]


def _line(rows: list[Row], data: str, new: str | None) -> str:
    """A line of the first table: F1 added and anew, the difference with its standard error, what became of groups."""
    anew, added = _rows(rows, data, "anew"), _rows(rows, data, "added", new)
    points = differences(rows, data, new)
    fates = {fate: sum(row["fates"][fate] for row in added) for fate in added[0]["fates"]}
    old = sum(count for fate, count in fates.items() if fate not in ("new", "retired"))
    seconds = mean(row["seconds"] for row in added) / mean(row["seconds"] for row in anew)
    cells = (
        data,
        new or "**all**",
        f"{_f1(added):.3f}",
        f"{_f1(anew):.3f}",
        f"{mean(points):+.1f} ± {stdev(points) / len(points) ** 0.5:.1f}",
        f"{(fates['kept'] + fates['grown']) / old:.0%}",
        f"{seconds:.1f}",
        str(len(added)),
    )
    return "| " + " | ".join(cells) + " |"


def _few(rows: list[Row], data: str, new: str | None) -> str:
    """A line of the second table: F1 with all ties, with few, and with these anew; members found for open seeds."""
    few = _rows(rows, data, "few ties", new)
    f1 = [f"{_f1(_rows(rows, data, way, new)):.3f}" for way in ("added", "few ties", "few ties anew")]
    found, checked, right = (sum(row["completed"][key] for row in few) for key in ("found", "checked", "right"))
    cells = [data, new or "**all**", *f1, f"{found / len(few):,.0f}", f"{right / max(checked, 1):.0%}", str(len(few))]
    return "| " + " | ".join(cells) + " |"


def _spread(rows: list[Row], data: str) -> float:
    """How much F1 varies among runs over all KGs that differ in nothing but the random state."""
    anew = _rows(rows, data, "anew")
    splits = [[row["pairs"]["f1"] for row in anew if row["split"] == split] for split in {row["split"] for row in anew}]
    return float(mean(stdev(values) ** 2 for values in splits) ** 0.5)


def _runs(rows: list[Row], data: str) -> str:
    own = [row for row in rows if row["data"] == data]
    splits, states = ({row[name] for row in own} for name in ("split", "random_state"))
    devices = ", ".join(sorted({row["device"] for row in own}))
    return f"{data}: {len(splits)} splits, {len(states)} random states on each, on {devices}"


TEXT = """# Adding a KG

Each KG in turn is taken out of a data set, the others are aligned (`multiea align`), and it is added to that run
(`multiea add`). The same seeds and held-out groups as in a run over all KGs at once; F1 of pairs, means over splits and
random states. The difference is in points, with its standard error over the splits. The share of old groups is that of
the run's groups, seeds among them, whose members are all together still, alone or with more.

| data | added | F1 added | F1 aligned anew | difference | old groups kept or grown | seconds, ratio | runs |
|---|---|---|---|---|---|---|---|
{all_tied}

Single runs differ by more: runs over all KGs that differ in nothing but the random state have a standard deviation, in
points, of {spread}.

## Few ties
Something is told of every seed, or of a fifth of them; the others are open, and their members in the new KG are looked
for. Aligned anew with the same ties, they are seeds without a counterpart there. Of the members found for open seeds
those are checked whose counterpart in the new KG is known.

| data | added | F1, all told | F1, a fifth told | the same, anew | members found for open seeds | of those checked, right | runs |
|---|---|---|---|---|---|---|---|
{few_tied}

{runs}.
Made by `python experiments/adding.py`; stored results: `experiments/results/{results}`.
"""  # noqa: E501 (a table)


if __name__ == "__main__":
    main()
