"""An alignment saved to a run folder and opened again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import multiea
from multiea import Alignment, InputError, MultiEAError, Task
from multiea.cli.main import app
from multiea.data.readers import read_groups
from support.quick import FEW_EPOCHS


@pytest.fixture(scope="module")
def aligned(small: Task) -> Alignment:
    return multiea.align(small, engine="multiea", training=FEW_EPOCHS)


def test_an_opened_run_equals_the_saved_alignment(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    back = multiea.open(tmp_path / "run")
    assert back.groups.sort("group_id", "kg").equals(aligned.groups.sort("group_id", "kg"))
    assert torch.equal(back.embeddings, aligned.embeddings.cpu())
    assert back.evaluate()["m_hits"] == aligned.evaluate()["m_hits"]
    assert back.evaluate()["pairs"] == aligned.evaluate()["pairs"]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert set(metrics["m_hits"]) == {"test", "all"}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["input"]) == set(aligned.task.kg_names)
    assert manifest["history"]["best_epoch"] == aligned.history["best_epoch"]
    with pytest.raises(MultiEAError, match="not empty"):
        aligned.save(tmp_path / "run")


def test_the_groups_of_a_run_can_be_read_as_seeds(small: Task, aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    seeds = read_groups(tmp_path / "run" / "groups.tsv", small.kgs)
    assert {tuple(row) for row in seeds.members.tolist()} == {
        tuple(row) for row in aligned.found.groups.members.tolist()
    }


def test_a_folder_that_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.toml.*expected a run folder"):
        multiea.open(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["config.toml", "entities.parquet", "groups.parquet", "pairs.parquet", "embeddings.safetensors", "manifest.json",
     "seeds.tsv"],
)  # fmt: skip
def test_a_damaged_run_folder_is_refused_with_the_name_of_the_file(
    aligned: Alignment, tmp_path: Path, name: str
) -> None:
    aligned.save(tmp_path / "run")
    assert len(multiea.open(str(tmp_path / "run")).found.groups)
    (tmp_path / "run" / name).write_bytes(b"\x00 other content")
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / 'run' / name}")


def test_a_run_opened_without_triples_cannot_be_aligned(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    with pytest.raises(InputError, match="no KG has triples"):
        multiea.align(multiea.open(tmp_path / "run").task)
