"""Open seeds over several runs of `multiea add`."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.write import write_groups
from support.open_seeds import completions, few_links
from support.parting import parted


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [*map(str, words), "--no-progress"])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_seeds_stay_open_from_run_to_run(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    write_synthetic(Synthesis(kgs=4, entities=200, relations=10, overlap=0.8), tmp_path / "all")
    three = parted(multiea.load(tmp_path / "all"), 3)
    two = parted(three.before, 2)
    (tmp_path / "data").mkdir()
    for one in two.before.kgs:
        shutil.copy(tmp_path / "all" / f"{one.name}.tsv", tmp_path / "data")
    write_groups(two.before.seeds, two.before.kgs, tmp_path / "data" / "seeds.tsv")
    run("align", tmp_path / "data", "--out", tmp_path / "run2")
    for part, number in ((two, 3), (three, 4)):
        write_groups(few_links(part), (*part.before.kgs, part.kg), tmp_path / f"seeds{number}.tsv")
        words = ["--seeds", tmp_path / f"seeds{number}.tsv", "--out", tmp_path / f"run{number}"]
        shown = run("add", tmp_path / f"run{number - 1}", tmp_path / "all" / f"kg{number}.tsv", *words)
        assert f"without a link to 'kg{number}' in " in shown
    before, after = (multiea.open(tmp_path / f"run{number}") for number in (3, 4))
    assert {"kg3", "kg4"} == set(completions(after)["kg"])
    stayed = completions(before).join(completions(after), on=["group_id", "kg", "entity"]).height
    known_now = after.task.seeds.joined(after.task.open_seeds.groups).members[:, 2]
    own = before.task.kgs[2].positions(completions(before)["entity"])
    assert stayed == (~np.isin(own, known_now)).sum() > 0
    kinds = (after.task.seeds, after.task.open_seeds.groups)
    assert sum(map(len, kinds)) >= sum(len(one) for one in (before.task.seeds, before.task.open_seeds))
    run("export", tmp_path / "run4", "--to", "sssom", "--out", tmp_path / "all.sssom.tsv")
    table = pl.read_csv(tmp_path / "all.sssom.tsv", separator="\t", comment_prefix="#")
    curated = table.filter(pl.col("mapping_justification") == "semapv:ManualMappingCuration")
    assert curated.height == sum(int(np.triu(one.overlap(), 1).sum()) for one in kinds)
