"""The default engine: scores, seconds and memory of whole commands, what each part adds, what confidences are worth.

python experiments/default_engine.py run --source FOLDER        builds the data sets and runs `multiea align` on each
python experiments/default_engine.py ablate --source FOLDER     leaves out one part after another
python experiments/default_engine.py alone --source FOLDER      takes counterparts away and counts who is left alone
python experiments/default_engine.py show                       writes the page from what is stored

FOLDER holds DBP15K and DWY15K, unpacked or as archives. What is stored already is not run again.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from multiea import Task

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "default_engine.json"
PAGE = FOLDER.parent / "docs" / "results" / "default-engine.md"
STATES = (0, 1, 2)
PAIRS = ("zh_en", "ja_en", "fr_en")


@dataclass(frozen=True)
class Case:
    """A data set, how it is made, and how it is aligned."""

    title: str
    build: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    pool: str = "all"


FULL_DBP, FULL_DWY = ("dbp-4", "--full"), ("dwy-3", "--full")
CASES = {
    "dbp-4": Case("DBP-4", ("dbp-4",)),
    "dbp-4 test": Case("DBP-4, `--bootstrap test`", ("dbp-4",), ("--bootstrap", "test"), "test"),
    "dwy-3-15k": Case("dwy-3-15k, whole graphs", ("dwy-3", "--graphs", "whole")),
    "dbp15k full": Case("dbp15k `--full`, partial groups", FULL_DBP),
    "dwy15k full": Case("dwy15k `--full`, partial groups", FULL_DWY),
    "world": Case("world"),
    **{f"{pair} none": Case(f"{pair}, `--bootstrap none`", (pair,), ("--bootstrap", "none"), "test") for pair in PAIRS},
    **{f"{pair} test": Case(f"{pair}, `--bootstrap test`", (pair,), ("--bootstrap", "test"), "test") for pair in PAIRS},
}
PARTS = {
    "propagation alone": "cosines of embeddings, seeds as the only labels",
    "+ Sinkhorn": "candidates compete for each other",
    "+ products": "paths through third KGs",
    "+ bootstrapping": "what is found becomes a label: the default",
    "+ fusion": "`--engine propagation+multiea`",
}
ABLATED = ("dbp-4", "world")
RELIABLE = ("world", "dbp15k full")
ALONE = ("world", "dbp-4")
SHARE_TAKEN = 0.2


def main() -> None:
    """Runs what is missing, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "ablate", "alone", "show"])
    parser.add_argument("--source", type=Path, help="where DBP15K and DWY15K lie")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), help="of run")
    parser.add_argument("--random-states", type=int, nargs="+", default=STATES)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else []
    if options.what == "show":
        PAGE.write_text(page(stored), encoding="utf-8")
        return
    if options.source is None or not options.source.is_dir():
        parser.error(f"{options.what} needs --source FOLDER, the folder with DBP15K and DWY15K; got {options.source}")
    work = {"run": commands, "ablate": ablations, "alone": left_alone}[options.what]
    with tempfile.TemporaryDirectory() as folder:
        for row in work(options, Path(folder), {(row["what"], row["case"], row["random_state"]) for row in stored}):
            stored.append(row)
            options.results.parent.mkdir(parents=True, exist_ok=True)
            options.results.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            print(row["what"], row["case"], row["random_state"], row.get("m_hits"), row.get("pairs"), flush=True)


def commands(options: argparse.Namespace, folder: Path, done: set[tuple[str, str, int]]) -> Iterator[dict[str, Any]]:
    """Each case as a whole command, in a process of its own."""
    for name in options.cases:
        case = CASES[name]
        for state in options.random_states:
            if ("command", name, state) in done:
                continue
            data = data_set(case.build, options.source, folder)
            command = ["align", str(data), *case.options, "--random-state", str(state), "--out", str(folder / "run")]
            start = time.perf_counter()
            answer = json.loads(multiea(*command, "--force", "--json", "--no-progress"))
            seconds = time.perf_counter() - start
            kept = {key: answer[key] for key in ("m_hits", "pairs", "groups", "confidence", "peak_rss_mb", "search")}
            kept |= {"hits_overall": {pool: hits["overall"] for pool, hits in answer["hits"].items()}}
            yield {"what": "command", "case": name, "random_state": state, "seconds": seconds, **kept, **machine()}


def ablations(options: argparse.Namespace, folder: Path, done: set[tuple[str, str, int]]) -> Iterator[dict[str, Any]]:
    """One part after another, each added to those before."""
    from multiea import align
    from multiea.settings.how import default_enhancement

    best = default_enhancement("propagation")
    settings: dict[str, dict[str, Any]] = {
        "propagation alone": {"bootstrap": "none", "enhancement": default_enhancement("propagation", "none")},
        "+ Sinkhorn": {"bootstrap": "none", "enhancement": replace(best, weights=(1.0,))},
        "+ products": {"bootstrap": "none"},
        "+ bootstrapping": {},
        "+ fusion": {"engine": "propagation+multiea"},
    }
    for name in ABLATED:
        for state in options.random_states:
            for part, chosen in settings.items():
                if (part, name, state) in done:
                    continue
                scores = align(task_of(name, state, options.source, folder), random_state=state, **chosen).evaluate()
                kept = {key: scores[key] for key in ("m_hits", "pairs")}
                yield {"what": part, "case": name, "random_state": state, **kept, **machine()}


def left_alone(options: argparse.Namespace, folder: Path, done: set[tuple[str, str, int]]) -> Iterator[dict[str, Any]]:
    """Of some held-out groups all members but one are taken out of their KGs: is the one that stays left alone?"""
    from multiea import align
    from multiea.evaluation.reliability import share_left_alone

    for name in ALONE:
        for state in options.random_states:
            if ("alone", name, state) in done:
                continue
            task, lonely = without_counterparts(task_of(name, state, options.source, folder), state)
            alignment = align(task, random_state=state)
            share = share_left_alone(alignment.found.groups, lonely)
            whole = share_left_alone(alignment.found.groups, members_of(task))
            counts = {"lonely": sum(map(len, lonely)), "left_alone": share, "others_left_alone": whole}
            scores = {key: value for key, value in alignment.evaluate().items() if key in ("m_hits", "pairs")}
            yield {"what": "alone", "case": name, "random_state": state, **counts, **scores, **machine()}


def without_counterparts(task: Task, random_state: int) -> tuple[Task, list[np.ndarray]]:
    """The task with a fifth of its held-out groups reduced to one member, the others' triples gone; and who stays.

    Those groups are no longer held out: nothing of them is to be found.
    """
    from multiea import Task
    from multiea.data.groups import ABSENT

    rng = np.random.default_rng(random_state)
    held_out = task.held_out
    taken = rng.random(len(held_out)) < SHARE_TAKEN
    chance = np.where(held_out.present, rng.random(held_out.members.shape), -1)
    stays = np.zeros_like(held_out.present)
    stays[np.arange(len(held_out)), chance.argmax(axis=1)] = True
    kgs, lonely = [], []
    for column, kg in enumerate(task.kgs):
        members = held_out.members[:, column]
        gone = np.zeros(len(kg.entities), dtype=bool)
        gone[members[taken & ~stays[:, column] & (members != ABSENT)]] = True
        head, _, tail = kg.triples.T
        kgs.append(replace(kg, triples=kg.triples[~(gone[head] | gone[tail])]))
        connected = np.isin(members, kgs[-1].triples[:, [0, 2]])  # others would be left alone without any merit
        lonely.append(members[taken & stays[:, column] & connected])
    return Task(tuple(kgs), task.seeds, held_out.take(~taken), name=task.name), lonely


def members_of(task: Task) -> list[np.ndarray]:
    """The members of held-out groups, KG by KG."""
    columns = zip(task.held_out.members.T, task.held_out.present.T, strict=True)
    return [members[present] for members, present in columns]


def data_set(build: tuple[str, ...], source: Path, folder: Path) -> Path | str:
    """Where a data set lies; built once."""
    if not build:
        return "world"
    if build[0] in PAIRS:
        return next(source.rglob(build[0]))
    out = folder / "-".join(part.strip("-") for part in build)
    if not out.exists():
        multiea("build", *build, "--source", str(source), "--out", str(out), "--no-progress")
    return out


def task_of(name: str, state: int, source: Path, folder: Path) -> Task:
    """A case's data, split by a random state."""
    from multiea import load

    return load(data_set(CASES[name].build, source, folder), random_state=state)


def multiea(*arguments: str) -> str:
    """What a command prints."""
    return subprocess.run(
        [sys.executable, "-m", "multiea", *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def machine(device: str = "auto") -> dict[str, str]:
    """What it ran on."""
    import torch

    on_gpu = device != "cpu" and torch.cuda.is_available()
    name = torch.cuda.get_device_name() if on_gpu else f"{torch.get_num_threads()} cores"
    return {"device": f"{platform.machine()} {name}", "torch": torch.__version__}


def page(rows: list[dict[str, Any]]) -> str:
    """The page of results, from the stored rows alone."""
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        cells.setdefault((row["what"], row["case"]), []).append(row)
    reliability = [_reliability(name, cells["command", name]) for name in RELIABLE]
    return TEXT.format(
        commands=_commands(cells),
        parts=_parts(cells),
        reliability="\n\n".join(reliability),
        alone=_alone(cells),
        devices=_devices(row for row in rows if row["what"] == "command"),
        other_devices=_devices(row for row in rows if row["what"] != "command"),
        results=RESULTS.name,
    )


def _commands(cells: dict[tuple[str, str], list[dict[str, Any]]]) -> str:
    lines = ["| data | pool | M-Hits@1 / 10 / 20 | pairs: precision / recall / F1 | ECE | seconds | memory | runs |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for name, case in CASES.items():
        cell = cells["command", name]
        pairs = " / ".join(f"{_mean(cell, 'pairs', key):.3f}" for key in ("precision", "recall", "f1"))
        ece, seconds = _mean(cell, "confidence", "ece"), _mean(cell, "seconds")
        memory = max(row["peak_rss_mb"] for row in cell) / 1024
        scores = _m_hits(cell, case.pool)
        measured = f"{ece:.3f} | {seconds:.0f} | {memory:.1f} GiB | {len(cell)}"
        lines.append(f"| {case.title} | `{case.pool}` | {scores} | {pairs} | {measured} |")
    return "\n".join(lines)


def _parts(cells: dict[tuple[str, str], list[dict[str, Any]]]) -> str:
    titles = [f"{CASES[name].title}, `{pool}`" for name in ABLATED for pool in ("test", "all")]
    lines = ["| | " + " | ".join(titles) + " | what it is | runs |", "|---" * (len(titles) + 3) + "|"]
    for part, meaning in PARTS.items():
        scores = [_m_hits(cells[part, name], pool) for name in ABLATED for pool in ("test", "all")]
        runs = " and ".join(str(len(cells[part, name])) for name in ABLATED)
        lines.append(f"| {part} | " + " | ".join(scores) + f" | {meaning} | {runs} |")
    return "\n".join(lines)


def _reliability(name: str, cell: list[dict[str, Any]]) -> str:
    tenths: dict[int, list[dict[str, float]]] = {}
    for row in cell:
        for part in row["confidence"]["reliability"]:
            tenths.setdefault(min(int(part["predicted"] * 10), 9), []).append(part)
    lines = [f"{CASES[name].title}:", "", "| predicted | observed | pairs |", "|---|---|---|"]
    for _, parts in sorted(tenths.items()):
        count = sum(part["pairs"] for part in parts)
        predicted, observed = (
            sum(part[key] * part["pairs"] for part in parts) / count for key in ("predicted", "observed")
        )
        lines.append(f"| {predicted:.2f} | {observed:.2f} | {count:,.0f} |")
    return "\n".join(lines)


def _alone(cells: dict[tuple[str, str], list[dict[str, Any]]]) -> str:
    lines = ["| data | entities without counterpart | of them left alone | of those with one | pairs F1 |"]
    lines.append("|---|---|---|---|---|")
    for name in ALONE:
        cell = cells["alone", name]
        shares = f"{_mean(cell, 'left_alone'):.1%} | {_mean(cell, 'others_left_alone'):.1%}"
        lines.append(
            f"| {CASES[name].title} | {_mean(cell, 'lonely'):,.0f} | {shares} | {_mean(cell, 'pairs', 'f1'):.3f} |"
        )
    return "\n".join(lines)


def _mean(cell: Sequence[dict[str, Any]], *keys: str) -> float:
    values = []
    for row in cell:
        value: Any = row
        for key in keys:
            value = value[key]
        values.append(value)
    return float(mean(values))


def _m_hits(cell: list[dict[str, Any]], pool: str) -> str:
    return " / ".join(f"{100 * _mean(cell, 'm_hits', pool, k):.1f}" for k in ("1", "10", "20"))


def _devices(rows: Iterator[dict[str, Any]]) -> str:
    return ", ".join(sorted({row["device"] for row in rows}))


TEXT = """# The default engine: scores, parts, confidences

`multiea align` with no options, but for what the first column says. 30% of the groups are seeds. `test` ranks among the
held-out entities, as the literature does; `all` among every entity that is no seed. For two KGs M-Hits is Hits. Means
over random states. Seconds and memory are of the whole command, from start to exit, the highest memory of all runs.

{commands}

Run on: {devices}.

## What each part adds
M-Hits@1 / 10 / 20 in percent, mean over the random states whose number stands last; each row has all parts above it.

{parts}

## What confidences are worth
The pairs inside found groups that can be judged by held-out groups, by their confidence: predicted is its mean,
observed the share that is right. Confidences were learned from seeds held back; held-out groups were not looked at.

{reliability}

## Who is left alone
Of a fifth of the held-out groups all members but one are taken out of their KGs, so that the one that stays has no
counterpart any more. The better the engine, the more of these it leaves alone, and the fewer of those that have one.

{alone}

Parts and entities left alone were run on: {other_devices}.
Made by `python experiments/default_engine.py`; stored results: `experiments/results/{results}`.
"""


if __name__ == "__main__":
    main()
