"""The default engine: scores, seconds and memory of whole commands, the effect of each part, and dangling entities.

python experiments/default_engine.py run --source FOLDER        builds the data sets and runs `multiea align` on each
python experiments/default_engine.py ablate --source FOLDER     adds one part after another
python experiments/default_engine.py dangling --source FOLDER   removes counterparts and counts unmatched entities
python experiments/default_engine.py show                       writes the page from the stored results

FOLDER contains DBP15K and DWY15K, unpacked or as archives. Stored runs are not repeated.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import multiea
from default_engine_cases import ABLATED, CASES, DANGLING, PAIRS
from default_engine_page import page
from multiea import Task
from multiea.data.groups import ABSENT
from multiea.evaluation.reliability import share_unmatched
from multiea.settings.engines import default_enhancement
from stored_rows import Row, machine, read_rows, run_command, store_rows

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "default_engine.json"
PAGE = FOLDER.parent / "docs" / "results" / "default-engine.md"
STATES = (0, 1, 2)
SHARE_REDUCED = 0.2
EVIDENCE = ("--evidence", "structure")  # experiments/evidence.py has the other kinds
Key = tuple[str, str, int]


def main() -> None:
    """Runs what is not stored yet, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "ablate", "dangling", "show"])
    parser.add_argument("--source", type=Path, help="the folder with DBP15K and DWY15K")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), help="for run: the data sets")
    parser.add_argument("--random-states", type=int, nargs="+", default=STATES)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = read_rows(options.results)
    if options.what == "show":
        PAGE.write_text(page(stored, RESULTS.name), encoding="utf-8")
        return
    if options.source is None or not options.source.is_dir():
        parser.error(f"{options.what} needs --source FOLDER, the folder with DBP15K and DWY15K; got {options.source}")
    experiment = {"run": commands, "ablate": ablations, "dangling": dangling}[options.what]
    with tempfile.TemporaryDirectory() as folder:
        done = {(row["what"], row["case"], row["random_state"]) for row in stored}
        for row in store_rows(options.results, stored, experiment(options, Path(folder), done)):
            print(row["what"], row["case"], row["random_state"], row.get("pairs"), row.get("m_hits"), flush=True)


def commands(options: argparse.Namespace, folder: Path, done: set[Key]) -> Iterator[Row]:
    """Each case as a whole command in its own process."""
    for name in options.cases:
        case = CASES[name]
        for state in options.random_states:
            if ("command", name, state) in done:
                continue
            data = data_set(case.build, options.source, folder)
            command = ["align", str(data), *EVIDENCE, *case.options, "--random-state", str(state)]
            command += ["--out", str(folder / "run")]
            start = time.perf_counter()
            answer = json.loads(run_command(*command, "--force", "--json", "--no-progress"))
            seconds = time.perf_counter() - start
            kept = {key: answer[key] for key in ("m_hits", "pairs", "groups", "confidence", "peak_rss_mb", "search")}
            kept |= {"hits_overall": {pool: hits["overall"] for pool, hits in answer["hits"].items()}}
            yield {"what": "command", "case": name, "random_state": state, "seconds": seconds, **kept, **machine()}


def ablations(options: argparse.Namespace, folder: Path, done: set[Key]) -> Iterator[Row]:
    """One part after another, each added to the parts before it."""
    default = default_enhancement("propagation")
    settings: dict[str, dict[str, Any]] = {
        "propagation alone": {"bootstrap": "none", "enhancement": default_enhancement("propagation", "none")},
        "+ Sinkhorn": {"bootstrap": "none", "enhancement": replace(default, weights=(1.0,))},
        "+ products": {"bootstrap": "none"},
        "+ bootstrapping": {},
        "+ fusion": {"engine": "propagation+multiea"},
    }
    for name in ABLATED:
        for state in options.random_states:
            for part, chosen in settings.items():
                if (part, name, state) in done:
                    continue
                task = task_of(name, state, options.source, folder)
                scores = multiea.align(task, evidence="structure", random_state=state, **chosen).evaluate()
                kept = {key: scores[key] for key in ("m_hits", "pairs")}
                yield {"what": part, "case": name, "random_state": state, **kept, **machine()}


def dangling(options: argparse.Namespace, folder: Path, done: set[Key]) -> Iterator[Row]:
    """Removes all members but one of some held-out groups: does the remaining entity stay unmatched?"""
    for name in DANGLING:
        for state in options.random_states:
            if ("alone", name, state) in done:
                continue
            task, without_counterpart = remove_counterparts(task_of(name, state, options.source, folder), state)
            alignment = multiea.align(task, evidence="structure", random_state=state)
            counts = {  # with the keys of the stored results
                "lonely": sum(map(len, without_counterpart)),
                "left_alone": share_unmatched(alignment.found.groups, without_counterpart),
                "others_left_alone": share_unmatched(alignment.found.groups, held_out_entities(task)),
            }
            scores = {key: value for key, value in alignment.evaluate().items() if key in ("m_hits", "pairs")}
            yield {"what": "alone", "case": name, "random_state": state, **counts, **scores, **machine()}


def remove_counterparts(task: Task, random_state: int) -> tuple[Task, list[np.ndarray]]:
    """A task in which a fifth of the held-out groups have only one member left, and these members for each KG.

    The triples of the other members are removed, and these groups are no longer held out: there is nothing to find.
    """
    rng = np.random.default_rng(random_state)
    held_out = task.held_out
    reduced = rng.random(len(held_out)) < SHARE_REDUCED
    chance = np.where(held_out.present, rng.random(held_out.members.shape), -1)
    stays = np.zeros_like(held_out.present)
    stays[np.arange(len(held_out)), chance.argmax(axis=1)] = True
    kgs, without_counterpart = [], []
    for column, kg in enumerate(task.kgs):
        members = held_out.members[:, column]
        removed = np.zeros(len(kg.entities), dtype=bool)
        removed[members[reduced & ~stays[:, column] & (members != ABSENT)]] = True
        head, _, tail = kg.triples.T
        kgs.append(replace(kg, triples=kg.triples[~(removed[head] | removed[tail])]))
        connected = np.isin(members, kgs[-1].triples[:, [0, 2]])  # an isolated entity is always unmatched
        without_counterpart.append(members[reduced & stays[:, column] & connected])
    return Task(tuple(kgs), task.seeds, held_out.take(~reduced), name=task.name), without_counterpart


def held_out_entities(task: Task) -> list[np.ndarray]:
    """The members of held-out groups, for each KG."""
    columns = zip(task.held_out.members.T, task.held_out.present.T, strict=True)
    return [members[present] for members, present in columns]


def data_set(build: tuple[str, ...], source: Path, folder: Path) -> Path | str:
    """The folder or name of a data set; it is built once."""
    if not build:
        return "world"
    if build[0] in PAIRS:
        return next(source.rglob(build[0]))
    out = folder / "-".join(part.strip("-") for part in build)
    if not out.exists():
        run_command("build", *build, "--source", str(source), "--out", str(out), "--no-progress")
    return out


def task_of(name: str, state: int, source: Path, folder: Path) -> Task:
    """The data of a case, split by a random state."""
    return multiea.load(data_set(CASES[name].build, source, folder), random_state=state)


if __name__ == "__main__":
    main()
