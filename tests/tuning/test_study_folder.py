"""A study folder: it goes on after any end, belongs to its data and settings, and is for one process at a time."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import AlignSettings, Data, Groups, MultiEAError, Task
from multiea.data.origin import Origin
from multiea.tuning.search_space import search_space
from multiea.tuning.study_folder import study_folder
from multiea.tuning.tuning import Tuning

SEARCH: dict[str, Any] = {
    "propagation.hops": {"low": 1, "high": 3},
    "propagation.own_weight": {"low": 0.1, "high": 1.0, "log": True},
    "enhancement.weights": {"choices": [[0.3, 0.7], [0.9, 0.1]]},
}
FILES = {"best.toml", "config.toml", "search.toml", "study.json", "study.sqlite", "trials.tsv"}


def tune(task: Task, settings: AlignSettings, trials: int, out: Path | None, **others: Any) -> Tuning:
    return multiea.tune(task, settings, trials=trials, out=out, search=SEARCH, **others)


def values(result: Tuning) -> list[tuple[Any, ...]]:
    return result.trials.drop("seconds").rows()


@pytest.fixture(scope="module")
def study(little: Task, quick: AlignSettings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study of one trial; tests only read it."""
    out = tmp_path_factory.mktemp("studies") / "study"
    tune(little, quick, 1, out)
    return out


@pytest.fixture(scope="module", autouse=True)
def _first_trials_matter() -> Iterator[None]:
    """The third trial and later ones depend on those before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("multiea.tuning.trials.RANDOM_TRIALS", 2)
        yield


@pytest.fixture(scope="module")
def at_once(little: Task, quick: AlignSettings, _first_trials_matter: None) -> Tuning:
    """Four trials in memory, one after the other."""
    return tune(little, quick, 4, None)


def test_a_study_that_goes_on_has_the_same_trials_as_one_in_memory_at_once(
    little: Task, quick: AlignSettings, at_once: Tuning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for trials in (1, 4):
        step = tune(little, quick, trials, tmp_path / "study")
    assert len(set(values(at_once))) == 4
    assert values(step) == values(at_once)
    assert step.difference == at_once.difference
    assert {path.name for path in (tmp_path / "study").iterdir()} == FILES
    table = pl.read_csv(tmp_path / "study" / "trials.tsv", separator="\t", schema=step.trials.schema)
    assert table.equals(step.trials)
    monkeypatch.setattr("multiea.tuning.judging.align", None)  # a finished study answers without aligning
    again = tune(little, quick, 2, tmp_path / "study")
    assert (values(again), again.difference) == (values(step), step.difference)


def test_an_interruption_loses_the_running_trial_only(
    little: Task, quick: AlignSettings, at_once: Tuning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 8:  # in the third trial
            raise KeyboardInterrupt
        return multiea.align(*arguments)

    monkeypatch.setattr("multiea.tuning.judging.align", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(little, quick, 4, tmp_path / "study")
    lines = (tmp_path / "study" / "trials.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2
    assert "tuning was not finished" in (tmp_path / "study" / "best.toml").read_text(encoding="utf-8")
    assert values(tune(little, quick, 4, tmp_path / "study")) == values(at_once)


def test_ctrl_c_in_a_training_ends_the_study(
    little: Task, quick: AlignSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted = replace(multiea.align(little, quick), history={"interrupted": True})
    monkeypatch.setattr("multiea.tuning.judging.align", lambda *_: interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(little, quick, 1, None)


def test_a_killed_process_leaves_a_study_that_goes_on(
    little_folder: Path, little: Task, quick: AlignSettings, at_once: Tuning, tmp_path: Path
) -> None:
    script = (
        "import sys, multiea, multiea.tuning.trials\n"
        "multiea.tuning.trials.RANDOM_TRIALS = 2\n"
        "task = multiea.load(sys.argv[1], train_ratio=0.4)\n"
        "short = multiea.Propagation(dimensions=64)\n"
        "settings = multiea.AlignSettings.default(bootstrap='none', evidence='structure', propagation=short)\n"
        f"multiea.tune(task, settings, trials=1000, out=sys.argv[2], search={SEARCH!r})\n"
    )
    out = tmp_path / "study"
    process = subprocess.Popen([sys.executable, "-c", script, str(little_folder), str(out)])
    while process.poll() is None and not finished_trials(out):
        time.sleep(0.02)
    with pytest.raises(MultiEAError, match="another process is tuning in"):
        tune(little, quick, 1, out)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    result = values(tune(little, quick, finished_trials(out) + 1, out))
    assert len(result) > 1
    assert result[:4] == values(at_once)[: len(result)]


def finished_trials(out: Path) -> int:
    path = out / "trials.tsv"
    return len(path.read_text(encoding="utf-8").splitlines()) - 1 if path.is_file() else 0


def test_best_toml_has_all_settings_and_says_what_is_recommended(
    little: Task, quick: AlignSettings, tmp_path: Path
) -> None:
    result = tune(little, quick, 3, tmp_path / "study")
    settings = multiea.read_settings(tmp_path / "study" / "best.toml")
    assert settings == result.best
    assert "Recommended: " in (tmp_path / "study" / "best.toml").read_text(encoding="utf-8")
    own = multiea.align(multiea.load_task(settings), settings).evaluate()["pairs"]
    assert own == multiea.align(little, result.best).evaluate()["pairs"]


def changed_seeds(task: Task) -> Task:
    return Task(task.kgs, task.seeds.take(np.arange(len(task.seeds) - 1)), name=task.name)


def changed_kg(task: Task) -> Task:
    kgs = [replace(task.kgs[0], triples=task.kgs[0].triples[1:]), *task.kgs[1:]]
    return Task(kgs, task.seeds, name=task.name)


def other_kgs(task: Task) -> Task:
    kgs = [replace(task.kgs[0], name="other"), *task.kgs[1:]]
    return Task(kgs, Groups(("other", *task.kg_names[1:]), task.seeds.members))


def test_a_study_of_other_data_or_settings_is_refused_with_what_differs(
    little: Task, quick: AlignSettings, study: Path
) -> None:
    other_search = SEARCH | {"propagation.hops": {"low": 1, "high": 2}}
    count = len(little.seeds)
    cases: list[tuple[Task, AlignSettings, dict[str, Any], str]] = [
        (changed_seeds(little), quick, SEARCH, f"its {count} seeds are not the {count - 1} given"),
        (changed_kg(little), quick, SEARCH, "KG kg1 has changed"),
        (other_kgs(little), quick, SEARCH, "its KGs are kg1, kg2, kg3, not other, kg2, kg3"),
        (little, quick.changed(random_state=1), SEARCH, "random_state is 0, not 1"),
        (little, quick.changed(bootstrap="all"), SEARCH, 'bootstrap.pool is "none", not "all"'),
        (little, quick, other_search, "search of propagation.hops is {low = 1, high = 3}, not {low = 1, high = 2}"),
    ]
    for task, settings, search, words in cases:
        with pytest.raises(MultiEAError) as error:
            multiea.tune(task, settings, trials=1, out=study, search=search)
        assert f"{study} is a study of other data or settings: " in str(error.value)
        assert words in str(error.value)
        assert "Choose another folder" in str(error.value)


def test_a_run_to_which_a_kg_was_added_is_refused(little: Task) -> None:
    grown = Origin(Data(grown_from="run", source=("new.tsv",)))
    with pytest.raises(MultiEAError, match="settings cannot be tuned where a KG is added to a run"):
        multiea.tune(Task(little.kgs, little.seeds, origin=grown))


def test_held_out_groups_and_the_place_of_the_data_do_not_make_another_study(
    little: Task, quick: AlignSettings, study: Path
) -> None:
    assert tune(Task(little.kgs, little.seeds), quick, 1, study).trials.height == 1
    assert tune(little, quick.changed(device="cpu"), 1, study).trials.height == 1


def test_a_folder_that_is_no_study_is_left_alone(little: Task, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious", encoding="utf-8")
    with pytest.raises(MultiEAError, match="is not a study; choose another folder"):
        multiea.tune(little, out=tmp_path)
    with pytest.raises(MultiEAError, match="is a file; choose another folder"):
        multiea.tune(little, out=tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["study.json", "study.sqlite"])
@pytest.mark.parametrize("content", [None, b"{}", b"\x00 something else \xff" * 100])
def test_damage_is_an_error_that_names_the_file(
    little: Task, quick: AlignSettings, study: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    for path in study.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(MultiEAError, match=r"damaged|no study") as error:
        tune(little, quick, 1, tmp_path)
    assert name in str(error.value)


def test_a_database_without_its_tables_is_an_error(
    little: Task, quick: AlignSettings, study: Path, tmp_path: Path
) -> None:
    for path in study.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with sqlite3.connect(tmp_path / "study.sqlite") as connection:
        connection.execute("DROP TABLE trial_params")
        connection.execute("CREATE TABLE trial_params (other TEXT)")
    connection.close()
    with pytest.raises(MultiEAError, match=r"study\.sqlite"):
        tune(little, quick, 1, tmp_path)


def test_a_folder_name_with_signs_of_an_address_is_just_a_name(
    little: Task, quick: AlignSettings, tmp_path: Path
) -> None:
    out = tmp_path / "a?b=c #1 %41 @ü"
    assert tune(little, quick, 1, out).trials.height == 1
    assert {path.name for path in tmp_path.iterdir()} == {out.name}
    assert tune(little, quick, 1, out).trials.height == 1


def test_the_lock_ends_with_its_context(little: Task, quick: AlignSettings, tmp_path: Path) -> None:
    space = search_space(SEARCH, quick)
    for _ in range(2):
        with study_folder(tmp_path / "study", little, quick, space) as file:
            assert file.is_file()
