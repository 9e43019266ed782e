"""`multiea explain`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea import Alignment, InputError
from multiea.data.synthetic import Synthesis, write_synthetic
from support.command_line import refused, succeeds
from support.quick import align


def some_pair(alignment: Alignment) -> tuple[str, str]:
    row = alignment.pairs.filter(pl.col("status") == "found").row(0, named=True)
    return f"{row['left_kg']}/{row['left']}", f"{row['right_kg']}:{row['right']}"


def test_a_pair_is_shown_step_by_step(named: Alignment, named_run: Path) -> None:
    one, other = some_pair(named)
    text = succeeds("explain", named_run, one, other).stdout
    for words in ("in one group with confidence", "names", "attributes", "structure", "competition", "third KGs", "█"):
        assert words in text
    assert f"\ntotal  {'':6}" in text


def test_json_is_what_python_returns(named: Alignment, named_run: Path) -> None:
    one, other = some_pair(named)
    assert json.loads(succeeds("explain", named_run, one, other, "--json").stdout) == json.loads(
        json.dumps(named.explain(one, other).as_dict())
    )
    single = json.loads(succeeds("explain", named_run, one, "--json").stdout)
    assert single["members"]
    assert single["group_id"] in named.groups["group_id"]


def test_a_run_whose_data_set_is_gone_says_so(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=100, relations=5, names=True), tmp_path / "data")
    run = tmp_path / "run"
    align(multiea.load(tmp_path / "data"), bootstrap="none").save(run)
    shutil.move(tmp_path / "data", tmp_path / "moved")
    words = some_pair(multiea.open(run))
    assert "cannot be read" in succeeds("explain", run, *words).stdout
    assert "cannot be read" not in succeeds("explain", run, *words, "--data", tmp_path / "moved").stdout


def test_bad_input_is_refused(named: Alignment, named_run: Path, tmp_path: Path) -> None:
    one, other = some_pair(named)
    same_kg = next(iter(named.task.kgs[named.task.kg_names.index(one.split("/")[0])].entities.sort(descending=True)))
    assert "no entity 'nowhere'" in refused("explain", named_run, "nowhere")
    message = refused("explain", named_run, one, f"{one.split('/')[0]}/{same_kg}")
    assert "the same KG" in message
    assert "different KGs" in message
    assert "expected a run folder" in refused("explain", tmp_path, one)
    with pytest.raises(InputError, match="the same KG"):
        named.explain(other, other)
