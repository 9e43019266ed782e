"""Checks that two versions of the source code give identical groups and scores.

    python scripts/same_results.py OLD-SRC NEW-SRC --source FOLDER-WITH-DBP15K

Each version aligns `world` and DBP-4 (random states 0, 1, 2), a synthetic data set of 3 x 5,000 entities, MultiEA
for five epochs on `world`, and adds a KG to a run of `world`. Compared are groups.tsv and all numbers of metrics.json
except seconds and memory. Use it for changes that must not change any result.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ADDED_KG = "geonames"
MEASURED = ("seconds", "peak_rss_mb")  # these differ from run to run


def main() -> None:
    """Runs all cases with both versions and prints which ones differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the folder `src` of one version")
    parser.add_argument("new", type=Path, help="the folder `src` of the other version")
    parser.add_argument("--source", type=Path, help="a folder or an archive with DBP15K; without it DBP-4 is skipped")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the runs; existing runs are not repeated")
    options = parser.parse_args()
    for source in (options.old, options.new):
        if not (source / "multiea" / "__main__.py").is_file():  # Python would use the installed version instead
            parser.error(f"{source} has no package multiea; name the folder `src` of a version")
    if options.source is not None and not options.source.exists():
        parser.error(f"{options.source} does not exist")
    with TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        outcomes = {}
        for name, source in (("old", options.old), ("new", options.new)):
            outcomes[name] = _results(source.resolve(), folder / name, options.source)
    differing = [case for case in outcomes["old"] if outcomes["old"][case] != outcomes["new"][case]]
    for case in outcomes["old"]:
        print(f"{'DIFFERS' if case in differing else 'same':8} {case}")
    sys.exit(1 if differing else 0)


def _results(source: Path, folder: Path, dbp15k: Path | None) -> dict[str, tuple[bytes, Any]]:
    """The groups and scores of every case, made with one version."""
    folder.mkdir(parents=True, exist_ok=True)
    states = [["--random-state", str(state)] for state in range(3)]
    cases = {f"world, random state {at}": ["align", "world", *state] for at, state in enumerate(states)}
    cases["multiea, 5 epochs"] = ["align", "world", "--engine", "multiea", "--epochs", "5"]
    data = {"synthetic-data": ["synth", "--entities", "5000"]}
    if dbp15k is not None:
        data["dbp-4-data"] = ["build", "dbp-4", "--source", str(dbp15k.resolve())]
        cases |= {f"dbp-4, random state {at}": ["align", "dbp-4-data", *state] for at, state in enumerate(states)}
    cases["synthetic"] = ["align", "synthetic-data"]
    for name, command in data.items():
        _run(source, folder, command, name)
    two_kgs, seeds = _without_one_kg(source, folder)
    _run(source, folder, ["align", *two_kgs, "--seeds", "two.tsv"], "two")
    cases["add"] = ["add", "two", f"{ADDED_KG}.tsv", "--seeds", seeds, "--held-out", "held_out.tsv"]
    return {case: _compared(_run(source, folder, command, case.replace(", ", "-"))) for case, command in cases.items()}


def _run(source: Path, folder: Path, command: list[str], out: str) -> Path:
    """Runs a command with one version, unless its output exists; returns the output."""
    if not (folder / out).exists():
        print(f"{source}: {' '.join(command)}", file=sys.stderr)
        environment = os.environ | {"PYTHONPATH": str(source)}
        arguments = [sys.executable, "-m", "multiea", *command, "--out", out, "--no-progress"]
        subprocess.run(arguments, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return folder / out


def _without_one_kg(source: Path, folder: Path) -> tuple[list[str], str]:
    """Writes `world` as files: two KGs and their seeds, and the third with its seeds and held-out groups."""
    world = source / "multiea" / "data" / "world"
    for path in world.glob("*.tsv"):
        (folder / path.name).write_bytes(path.read_bytes())
    header, *groups = (folder / "groups.tsv").read_text(encoding="utf-8").splitlines()
    column = header.split("\t").index(ADDED_KG)
    parts = {"all": groups[::3], "held_out": groups[1::3], "two": []}
    for line in parts["all"]:
        cells = line.split("\t")
        cells[column] = ""
        if sum(map(bool, cells)) > 1:
            parts["two"].append("\t".join(cells))
    for name, lines in parts.items():
        (folder / f"{name}.tsv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    two = (folder / "two.tsv").read_text(encoding="utf-8").splitlines()
    rows = ["\t".join(cell for at, cell in enumerate(line.split("\t")) if at != column) for line in two]
    (folder / "two.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return [f"{kg}.tsv" for kg in header.split("\t") if kg != ADDED_KG], "all.tsv"


def _compared(run: Path) -> tuple[bytes, Any]:
    """The groups and the scores of a run folder."""
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    scores = {name: value for name, value in metrics.items() if name not in MEASURED}
    return (run / "groups.tsv").read_bytes(), scores


if __name__ == "__main__":
    main()
