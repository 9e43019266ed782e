"""`multiea tune`: what it prints and writes, how it goes on, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import multiea
from support.command_line import align, invoke, refused, succeeds
from support.datasets import write_files

QUICK = ("--bootstrap", "none", "--evidence", "structure", "--set", "propagation.dimensions=64", "--train-ratio", "0.4")
SEARCH = (
    '"propagation.hops" = {low = 1, high = 3}\n[enhancement]\ntemperature = {low = 0.02, high = 0.05, log = true}\n'
)


def tune(folder: Path, tmp_path: Path, *words: object) -> Any:
    write_files(tmp_path, {"search.toml": SEARCH})
    arguments = ("--search", tmp_path / "search.toml", "--out", tmp_path / "study", *QUICK, *words)
    return succeeds("tune", folder, *arguments)


def test_it_prints_the_scores_and_writes_settings_that_align_takes(three_kgs: Path, tmp_path: Path) -> None:
    printed = tune(three_kgs, tmp_path, "--trials", 2).stdout
    for words in ("2 trials", "defaults  ", "best      ", "Recommended: ", "best.toml"):
        assert words in printed
    lines = (tmp_path / "study" / "trials.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == [
        *("trial", "value", "seconds", "propagation.hops", "enhancement.temperature", "error")
    ]
    assert lines[1].startswith("0\t")
    align("--config", tmp_path / "study" / "best.toml", "--out", tmp_path / "run")
    assert multiea.read_settings(tmp_path / "run") == multiea.read_settings(tmp_path / "study" / "best.toml")


def test_it_goes_on_and_answers_in_json(three_kgs: Path, tmp_path: Path) -> None:
    first = json.loads(tune(three_kgs, tmp_path, "--trials", 1, "--json").stdout)
    assert (first["trials"], first["failed"], first["best"]["trial"]) == (1, 0, 0)
    assert (first["compared"], first["recommended"]) == (None, "default")
    answer = json.loads(tune(three_kgs, tmp_path, "--trials", 3, "--json").stdout)
    assert (answer["trials"], answer["default"]) == (3, first["default"])
    assert answer["best"]["f1"] >= answer["default"]["f1"] > 0
    assert set(answer["best"]["changes"]) <= {"propagation.hops", "enhancement.temperature"}
    if answer["compared"] is not None:
        assert answer["compared"]["is_better"] == (answer["recommended"] == "best")


def test_what_set_and_options_give_is_not_searched(three_kgs: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": "[propagation]\nown_weight = 0.7\ndimensions = 64\n[bootstrap]\nrounds = 1\n"})
    words = (
        "--config",
        tmp_path / "my.toml",
        "--set",
        "propagation.hops=1",
        "--trials",
        1,
        "--out",
        tmp_path / "study",
    )
    succeeds("tune", three_kgs, *words, "--set", "bootstrap.trust_in_members=0.5")
    header, first = (tmp_path / "study" / "trials.tsv").read_text(encoding="utf-8").splitlines()
    columns = dict(zip(header.split("\t"), first.split("\t"), strict=True))
    assert not {"propagation.hops", "bootstrap.trust_in_members"} & set(columns)
    assert columns["propagation.own_weight"] == "0.7"
    assert multiea.read_settings(tmp_path / "study" / "best.toml").propagation.hops == 1


def test_ctrl_c_says_that_the_study_goes_on(three_kgs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("multiea.tuning.judging.align", interrupted)
    outcome = invoke("tune", three_kgs, "--out", tmp_path / "study", *QUICK)
    assert outcome.code == 130
    assert outcome.stderr.startswith("interrupted; the same command goes on with the finished trials in")


def test_what_cannot_be_tuned_is_refused_before_anything_is_written(three_kgs: Path, tmp_path: Path) -> None:
    study, search = tmp_path / "study", tmp_path / "search.toml"
    without_seeds = write_files(
        tmp_path / "people", {"a.csv": "id,name\n1,Oslo\n2,Rome\n", "b.csv": "id,name\nx,Oslo\n"}
    )
    cases: list[tuple[tuple[object, ...], str, str]] = [
        ((), "", "no data set is named; give one as DATASET"),
        ((without_seeds,), "", "'people' has 0 seeds; expected at least 20 seeds to tune by. Add known groups"),
        ((three_kgs, "--train-ratio", "0.01"), "", "raise --train-ratio"),
        ((tmp_path / "nowhere",), "", "no data set"),
        ((three_kgs,), "[propagation]\nhop = {low = 1, high = 2}\n", "propagation.hop: unknown setting to search"),
        ((three_kgs,), '"propagation.hops" = {low = 2, high = 1}\n', "propagation.hops: low must be below high"),
        ((three_kgs,), "x = ", "invalid TOML"),
        ((three_kgs, "--set", "propagation.hops=2"), SEARCH, "propagation.hops is given and also searched"),
    ]
    for words, text, message in cases:
        tail = ("--search", search) if text else ()
        write_files(tmp_path, {"search.toml": text})
        error = refused("tune", *words, "--out", study, *tail)
        assert message in error
        assert not text or message.startswith("propagation.hops is given") or error.startswith(str(search))
    assert not study.exists()


def test_another_study_and_other_folders_are_refused(three_kgs: Path, tmp_path: Path) -> None:
    tune(three_kgs, tmp_path, "--trials", 1)
    words = ("--search", tmp_path / "search.toml", "--out", tmp_path / "study", *QUICK)
    assert re.search(
        "other data or settings: .*random_state is 0, not 1", refused("tune", three_kgs, *words, "--random-state", 1)
    )
    assert "enhancement.sweeps is 15, not 3" in refused("tune", three_kgs, *words, "--set", "enhancement.sweeps=3")
    assert "is not a study" in refused("tune", three_kgs, "--out", three_kgs)


def test_an_option_that_says_nothing_about_settings_does_not_exist(three_kgs: Path, tmp_path: Path) -> None:
    outcome = invoke("tune", three_kgs, "--out", tmp_path / "study", "--previous", "run")
    assert outcome.code == 2
    assert "No such option" in outcome.stderr
