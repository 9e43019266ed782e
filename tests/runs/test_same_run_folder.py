"""Python and the command line write the same run folder, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import multiea
from multiea import AlignSettings, Data, Propagation, Training
from multiea.data.synthetic import Synthesis, write_synthetic
from support.command_line import succeeds

MEASURED = {"seconds", "peak_rss_mb", "peak_memory_mb"}  # time and memory differ from run to run
SHORT = ["--set", "propagation.dimensions=64"]
SHORT_TRAINING = ["--set", "training.epochs=2", "--set", "training.dimensions=8"]
PROPAGATION = Propagation(dimensions=64)
TRAINING = Training(epochs=2, dimensions=8)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    write_synthetic(Synthesis(kgs=3, entities=100, relations=10, overlap=0.8), folder)
    return folder


def masked(value: Any) -> Any:
    """The same JSON with every measured number replaced; the keys stay."""
    if not isinstance(value, dict):
        return value
    return {key: _numbers_hidden(part) if key in MEASURED else masked(part) for key, part in value.items()}


def _numbers_hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers_hidden(part) for key, part in value.items()}
    assert isinstance(value, int | float)
    return "measured"


def assert_same_run(one: Path, other: Path) -> None:
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in other.iterdir())
    assert {"config.toml", "groups.tsv", "metrics.json", "manifest.json"} <= set(names)
    for name in names:
        if name.endswith(".json"):
            first, second = (json.loads((run / name).read_text(encoding="utf-8")) for run in (one, other))
            assert json.dumps(masked(first)) == json.dumps(masked(second)), name  # the same order of keys, too
        else:
            assert (one / name).read_bytes() == (other / name).read_bytes(), name


CASES: dict[str, tuple[list[str], dict[str, Any], dict[str, Any]]] = {  # words; settings; how the data set is read
    "propagation": (SHORT, {"propagation": PROPAGATION}, {}),
    "duplicates": (
        [*SHORT, "--duplicates", "kg3", "--random-state", "2"],
        {"propagation": PROPAGATION, "duplicates": ["kg3"], "random_state": 2},
        {"random_state": 2},
    ),
    "train ratio": (
        [*SHORT, "--train-ratio", "0.5", "--lenient", "--enhancement", "none", "--bootstrap", "none"],
        {"propagation": PROPAGATION, "enhancement": "none", "bootstrap": "none"},
        {"train_ratio": 0.5, "lenient": True},
    ),
    "encoder": (
        ["--engine", "multiea", *SHORT_TRAINING, "--pairwise"],
        {"engine": "multiea", "training": TRAINING, "pairwise": True},
        {},
    ),
    "fusion": (
        [*SHORT, "--engine", "propagation+multiea", *SHORT_TRAINING, "--fusion-weight", "0.4"],
        {"engine": "propagation+multiea", "propagation": PROPAGATION, "training": TRAINING, "fusion_weight": 0.4},
        {},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_python_and_the_command_line_write_the_same_run_folder(case: str, data: Path, tmp_path: Path) -> None:
    words, changes, reading = CASES[case]
    succeeds("align", data, *words, "--out", tmp_path / "command line")
    multiea.align(multiea.load(data, **reading), **changes).save(tmp_path / "python")
    assert_same_run(tmp_path / "python", tmp_path / "command line")
    source = {name: value for name, value in reading.items() if name != "random_state"}
    settings = AlignSettings.default(**changes, data=Data(source=(str(data),), **source))
    multiea.align(multiea.load_task(settings), settings).save(tmp_path / "settings")
    assert_same_run(tmp_path / "settings", tmp_path / "command line")


def test_relative_paths_and_files_with_seeds_give_the_same_run_folder(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = pl.read_csv(data / "groups.tsv", separator="\t").select("kg1", "kg2").drop_nulls()
    known.write_csv(tmp_path / "seeds.tsv", separator="\t")
    monkeypatch.chdir(tmp_path)
    for name in ("kg1.tsv", "kg2.tsv"):
        Path(name).symlink_to(data / name)
    succeeds("align", "kg1.tsv", "kg2.tsv", "--seeds", "seeds.tsv", *SHORT, "--out", "command line")
    task = multiea.load(["kg1.tsv", "kg2.tsv"], seeds="seeds.tsv")
    multiea.align(task, propagation=PROPAGATION).save("python")
    assert_same_run(Path("python"), Path("command line"))


def test_ids_carried_on_from_a_previous_run_give_the_same_run_folder(data: Path, tmp_path: Path) -> None:
    multiea.align(multiea.load(data, train_ratio=0.2), propagation=PROPAGATION).save(tmp_path / "previous")
    succeeds("align", data, *SHORT, "--previous", tmp_path / "previous", "--out", tmp_path / "command line")
    alignment = multiea.align(multiea.load(data), propagation=PROPAGATION, previous=tmp_path / "previous")
    alignment.save(tmp_path / "python")
    assert (tmp_path / "python" / "lineage.tsv").is_file()
    assert_same_run(tmp_path / "python", tmp_path / "command line")


def test_adding_a_kg_gives_the_same_run_folder(data: Path, tmp_path: Path) -> None:
    known = pl.read_csv(data / "groups.tsv", separator="\t")
    known.select("kg1", "kg2").drop_nulls().write_csv(tmp_path / "pair.tsv", separator="\t")
    known.drop_nulls().head(30).write_csv(tmp_path / "links.tsv", separator="\t")
    files = [str(data / f"kg{number}.tsv") for number in (1, 2, 3)]
    multiea.align(multiea.load(files[:2], seeds=tmp_path / "pair.tsv")).save(tmp_path / "run")
    links = str(tmp_path / "links.tsv")
    succeeds("add", tmp_path / "run", files[2], "--seeds", links, "--out", tmp_path / "command line")
    source = Data(source=(files[2],), seeds=links, grown_from=str(tmp_path / "run"))
    settings = AlignSettings.default(data=source)
    multiea.align(multiea.load_task(settings), settings).save(tmp_path / "settings")
    assert_same_run(tmp_path / "settings", tmp_path / "command line")


def test_the_run_of_a_config_file_is_the_same_in_python_and_on_the_command_line(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(f"random_state = 3\n[data]\nsource = '{data}'\n[propagation]\ndimensions = 64\n", encoding="utf-8")
    succeeds("align", "--config", path, "--out", tmp_path / "command line")
    settings = multiea.read_settings(path)
    multiea.align(multiea.load_task(settings), settings).save(tmp_path / "python")
    assert_same_run(tmp_path / "python", tmp_path / "command line")
