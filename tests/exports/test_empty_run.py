"""Exports of a run that found nothing: empty files, no errors."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import multiea
from multiea import SettingError
from support.command_line import succeeds
from support.datasets import write_files


@pytest.fixture(scope="module")
def empty_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    people = "id,name\na1,Anna Berger\na2,Bert Conrad\na3,Carla Dietz\n"
    parts = "id,name\nb1,hex bolt M8 anna\nb2,flat washer 12\nb3,lock nut\n"
    write_files(folder / "data", {"people.csv": people, "parts.csv": parts})
    succeeds("align", folder / "data", "--out", folder / "run")
    assert not len(multiea.open(folder / "run").pairs)
    return folder / "run"


@pytest.mark.parametrize(
    ("to", "name"), [("sssom", "x.sssom.tsv"), ("same-as", "x.nt"), ("merged", "x.nq"), ("networkx", "x.graphml")]
)
def test_a_run_without_groups_is_exported(empty_run: Path, tmp_path: Path, to: str, name: str) -> None:
    succeeds("export", empty_run, "--to", to, "--out", tmp_path / name)
    assert (tmp_path / name).exists()


def test_seeds_given_to_align_are_refused_with_a_hint() -> None:
    with pytest.raises(SettingError, match=r"multiea\.load\(tables, seeds=seeds\)"):
        multiea.align({"a": pl.DataFrame({"id": [1], "name": ["x"]})}, seeds=[("a", "b")])
