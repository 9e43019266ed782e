"""Running cells: stored runs are not repeated as long as they match their cell, and bad settings are refused early."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from multiea import InputError, Task
from multiea.reproduction.cells import Cell
from multiea.reproduction.gold_order import METHODS
from multiea.reproduction.running import run_cell, run_cells, settings_of
from multiea.reproduction.stored_results import current_settings, store, stored_rows
from support.experiments import EXPERIMENTS, project_cells


@pytest.fixture(scope="module")
def cells() -> dict[str, Cell]:
    return project_cells()


def always(name: str | None) -> Callable[[str], str | None]:
    return lambda _: name


def test_every_run_of_every_experiment_is_stored_with_its_settings(cells: dict[str, Cell]) -> None:
    for cell in cells.values():
        rows = {(row["random_state"], row["value"]): row for row in stored_rows(EXPERIMENTS / "results", cell)}
        assert set(rows) == set(cell.runs()), cell.name
        for (_, value), row in rows.items():
            assert current_settings(row["settings"]) == settings_of(cell, value, quick=False), cell.name
            assert set(row["scores"]) == set(cell.enhancements), cell.name
            assert set(row.get("orders") or {}) == (set(METHODS) if cell.orders else set()), cell.name


def test_stored_settings_are_read_under_their_current_names() -> None:
    assert current_settings({"look_every": 5, "margin": 1.0}) == {"evaluate_every": 5, "margin": 1.0}


def test_no_stored_run_is_repeated_without_data(cells: dict[str, Cell]) -> None:
    def task_of(*_: object) -> Task:
        raise AssertionError("an experiment is run again")

    results = EXPERIMENTS / "results"
    assert run_cells(list(cells.values()), results, task_of, always(None), quick=False, device="cpu") == 0


def test_an_interrupted_training_is_not_a_result(cells: dict[str, Cell], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(history={"interrupted": True})

    monkeypatch.setattr("multiea.reproduction.running.align", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_cell(cells["dbp-4/kecg"], 0, None, lambda *_: None, quick=True, device="cpu")  # type: ignore[arg-type]


def test_runs_on_other_data_or_with_other_enhancements_are_repeated(cells: dict[str, Cell], tmp_path: Path) -> None:
    cell = replace(cells["dbp-4/kecg-pairwise"], random_states=(0,))
    asked: list[str] = []

    def task_of(data: str, *_: object) -> Task:
        asked.append(data)
        raise InputError("enough")

    store(tmp_path, cell, stored_rows(EXPERIMENTS / "results", cell)[0])
    for name in (None, "dbp-4"):
        assert run_cells([cell], tmp_path, task_of, always(name), quick=False, device="cpu") == 0
    other = replace(cell, enhancements=("none", "profile"))
    for needed, name in ((cell, "dbp-4-whole"), (other, "dbp-4")):
        with pytest.raises(InputError, match="enough"):
            run_cells([needed], tmp_path, task_of, always(name), quick=False, device="cpu")
    assert len(asked) == 2


@pytest.mark.parametrize("settings", [{"engine": "kecgg"}, {"strategy": 7}, {"margin": "a"}, {"margin": -1}])
def test_invalid_settings_are_refused_before_anything_is_run(
    cells: dict[str, Cell], tmp_path: Path, settings: dict[str, object]
) -> None:
    cell = replace(cells["dbp-4/kecg"], settings={"engine": "kecg"} | settings)
    with pytest.raises(InputError, match="the experiment dbp-4/kecg cannot be run"):
        run_cells([cell], tmp_path, lambda *_: pytest.fail("run"), always(None), quick=True, device="cpu")


def test_a_damaged_file_of_results_is_named(cells: dict[str, Cell], tmp_path: Path) -> None:
    (tmp_path / "dbp-4").mkdir()
    (tmp_path / "dbp-4" / "kecg.json").write_text("{")
    with pytest.raises(InputError, match=r"kecg.json: not a file of results\. Delete it"):
        stored_rows(tmp_path, cells["dbp-4/kecg"])
