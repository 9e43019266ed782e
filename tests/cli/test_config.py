"""`multiea config`: a file with all settings, and the settings that a file or a run stands for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import multiea
from multiea import AlignSettings
from multiea.settings.config_file import RECORDED_ONLY
from multiea.settings.engines import engine_names, unused_settings
from multiea.settings.tree import SCHEMA
from support.command_line import align, invoke, refused
from support.datasets import write_files

NO_ROLES: dict[str, list[str]] = {"names": [], "attributes": [], "ignore": []}


@pytest.mark.parametrize("engine", engine_names())
def test_init_writes_every_key_with_its_explanation_and_its_default(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    assert invoke("config", "init", "--engine", engine, "--out", path).code == 0
    assert multiea.read_settings(path) == AlignSettings.default(engine)
    text = path.read_text(encoding="utf-8")
    top, *tables = re.split(r"^#?\[(\w+)\]$", text, flags=re.MULTILINE)
    for table, part in [("", top), *zip(tables[::2], tables[1::2], strict=True)]:
        written = re.findall(r"^# .+\n#?(\w+) = .+$", part, flags=re.MULTILINE)
        assert [f"{table}.{name}".lstrip(".") for name in written] == [
            key for key in SCHEMA.keys if key.rpartition(".")[0] == table and key != RECORDED_ONLY
        ]
    assert not {name for name in unused_settings(engine) if re.search(rf"^\[?{name}", text, flags=re.MULTILINE)}


def test_the_file_that_init_writes_does_not_change_the_result(
    three_kgs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = invoke("config", "init", "--json")
    assert (outcome.code, json.loads(outcome.stdout)) == (0, {"out": "multiea.toml", "engine": "propagation"})
    align(three_kgs, "--config", "multiea.toml", "--out", "with")
    align(three_kgs, "--out", "without")
    assert Path("with/config.toml").read_text() == Path("without/config.toml").read_text()
    assert Path("with/groups.parquet").read_bytes() == Path("without/groups.parquet").read_bytes()


def test_init_replaces_a_file_only_with_force(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    write_files(tmp_path, {"my.toml": "precious"})
    assert "exists" in refused("config", "init", "--out", path)
    assert "unknown engine 'x'" in refused("config", "init", "--out", path, "--engine", "x", "--force")
    assert path.read_text(encoding="utf-8") == "precious"
    assert invoke("config", "init", "--out", path, "--force").code == 0
    assert "precious" not in path.read_text(encoding="utf-8")
    assert [one.name for one in tmp_path.iterdir()] == ["my.toml"]


def test_show_prints_all_settings_that_have_an_effect(three_kgs: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": 'engine = "psr"\n[enhancement]\nsweeps = 3\n'})
    outcome = invoke("config", "show", tmp_path / "my.toml")
    assert outcome.code == 0
    shown = tomllib.loads(outcome.stdout)
    assert (shown["enhancement"]["sweeps"], shown["training"]["strategy"], shown["pairwise"]) == (3, "own", False)
    assert not {"propagation", "bootstrap", "fusion_weight"} & set(shown)
    write_files(tmp_path, {"shown.toml": outcome.stdout})
    assert multiea.read_settings(tmp_path / "shown.toml") == multiea.read_settings(tmp_path / "my.toml")


def test_show_prints_the_settings_of_a_run(three_kgs: Path, tmp_path: Path) -> None:
    align(three_kgs, "--out", tmp_path / "run", "--set", "enhancement.candidates=none")
    answer = json.loads(invoke("config", "show", tmp_path / "run", "--json").stdout)
    given = {name: value for name, value in answer["data"].items() if value is not None}
    assert given == {"name": three_kgs.name, "source": [str(three_kgs)], "lenient": False} | NO_ROLES
    assert (answer["enhancement"]["candidates"], answer["propagation"]["dimensions"]) == ("none", None)
