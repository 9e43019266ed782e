"""multiea reproduce: a cut of every experiment runs, nothing is run twice, pages say what is stored."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from multiea.settings.how import usual_training
from torch.nn.functional import normalize
from typer.testing import CliRunner

import multiea
from multiea import InputError, MultiEAError, Task
from multiea.cli.main import app
from multiea.reproduction.cells import NEEDS, Cell, read_cells, wanted
from multiea.reproduction.figures import statistics
from multiea.reproduction.gold_order import TURNED, WAYS, scores_by_order, turned
from multiea.reproduction.numbers import NOT_RUN
from multiea.reproduction.pages import QUICK, pages, sensitivity_svg
from multiea.reproduction.running import run_cell, run_cells, settings_of, store, stored, tasks
from support.places import SHARED_DATA, needs_archives

REST = 'data = "dbp-4"\nenhancements = ["none"]\n[settings]\nengine = "kecg"'
PROJECT = Path(__file__).resolve().parents[2]
EXPERIMENTS = PROJECT / "experiments"


@pytest.fixture(scope="module")
def cells() -> dict[str, Cell]:
    return read_cells(EXPERIMENTS / "cells")


def test_every_table_and_figure_has_its_experiments(cells: dict[str, Cell]) -> None:
    used = {cell.name for cell in wanted(list(NEEDS), cells)}
    assert used == set(cells)
    for name in ("table-3", "table-4", "table-5", "table-6"):
        assert all(cells[cell].published for cell in NEEDS[name] if "-each-" not in cell)


def test_a_cut_of_every_experiment_runs_and_what_is_done_is_not_run_again(tmp_path: Path) -> None:
    arguments = ["reproduce", "all", "--quick", "--out", str(tmp_path), "--json", "--no-progress"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["runs"] > len(read_cells(EXPERIMENTS / "cells"))
    written = {Path(path).name for path in answer["written"]}
    assert {f"table-{number}.md" for number in range(1, 7)} <= written
    assert {"figure-sensitivity.md", "figure-sensitivity.svg", "gold-order.md"} <= written
    assert {"case-study-dbp-4.md", "case-study-dwy-3.md", "tsne-dbp-4.svg", "tsne-dwy-3.svg"} <= written
    assert NOT_RUN not in "".join(Path(path).read_text() for path in answer["written"])
    assert all(QUICK in Path(path).read_text() for path in answer["written"] if "quick/table" in path)
    picture = next(Path(path) for path in answer["written"] if path.endswith("tsne-dbp-4.svg")).read_text()
    assert picture.count("<title>") == 4 * picture.count("<polygon") > 0
    results = tmp_path / "quick" / "results" / "dbp-4"
    (results / "kecg.json").unlink()
    other = json.loads((results / "naea.json").read_text())
    other[0]["settings"]["epochs"] = 7  # of another time: run again
    (results / "naea.json").write_text(json.dumps(other))
    again = CliRunner().invoke(app, ["reproduce", "table-3", "--quick", "--out", str(tmp_path), "--json"])
    assert json.loads(again.stdout)["runs"] == 2


def test_an_interrupted_training_is_no_result(cells: dict[str, Cell], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(history={"interrupted": True})

    monkeypatch.setattr("multiea.align", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_cell(cells["dbp-4/kecg"], 0, None, lambda *_: None, quick=True, device="cpu")  # type: ignore[arg-type]


def test_pages_are_made_of_what_is_stored(cells: dict[str, Cell]) -> None:
    names = [name for name in NEEDS if (PROJECT / "docs" / "results" / f"{name}.md").exists()]
    assert "table-2" in names
    for name, text in pages(names, cells, EXPERIMENTS / "results").items():
        assert (PROJECT / "docs" / "results" / f"{name}.md").read_text(encoding="utf-8") == text, name
    figure = PROJECT / "docs" / "results" / "figure-sensitivity.svg"
    assert figure.read_text(encoding="utf-8") == sensitivity_svg(cells, EXPERIMENTS / "results")


@needs_archives
def test_the_page_of_statistics_is_made_of_the_data(tmp_path: Path) -> None:
    task_of, _ = tasks(SHARED_DATA, tmp_path, quick=False)
    page = (PROJECT / "docs" / "results" / "table-1.md").read_text(encoding="utf-8")
    assert statistics(task_of, quick=False) == page


def test_every_run_of_every_experiment_is_stored_with_its_settings(cells: dict[str, Cell]) -> None:
    for cell in cells.values():
        rows = {(row["random_state"], row["value"]): row for row in stored(EXPERIMENTS / "results", cell)}
        assert set(rows) == set(cell.runs()), cell.name
        for (_, value), row in rows.items():
            assert row["settings"] == settings_of(cell, value, quick=False), cell.name
            assert set(row["scores"]) == set(cell.enhancements), cell.name
            assert set(row.get("orders") or {}) == (set(WAYS) if cell.orders else set()), cell.name


def test_only_the_published_way_reads_the_order_of_candidates(small: Task) -> None:
    training = replace(usual_training("multiea"), epochs=30, dimensions=32, validation_ratio=0.0)
    alignment = multiea.align(small, engine="multiea", training=training)
    scores = scores_by_order(alignment, ("answer", "shuffled"), random_state=0)
    for way, by_order in scores.items():
        if way == TURNED:
            assert by_order["answer"]["10"] > 1.2 * by_order["shuffled"]["10"]
        else:
            assert by_order["answer"] == pytest.approx(by_order["shuffled"], abs=1e-9), way


def test_a_turned_row_is_that_of_the_third_kg() -> None:
    generator = torch.Generator().manual_seed(0)
    kgs = [normalize(torch.randn(5, 4, generator=generator)) for _ in range(4)]

    def alike(a: int, b: int) -> np.ndarray:
        return 1 - (kgs[a][:, None] - kgs[b][None]).norm(dim=-1).numpy() / 2

    def by_rows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        one, other = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other))
        return 1 - np.linalg.norm(one[:, None] - other[None], axis=-1) / 2

    through = sum(by_rows(alike(0, third), alike(third, 1)) for third in (2, 3)) / 2
    expected = 0.2 * alike(0, 1) + 0.8 * through
    np.testing.assert_allclose(turned(kgs)[0, 1].rows(slice(None)).numpy(), expected, atol=1e-5)


def test_a_page_shows_published_ours_and_the_difference(cells: dict[str, Cell], tmp_path: Path) -> None:
    cell = cells["dbp-4/kecg-pairwise"]
    for state, score in enumerate((0.05, 0.07)):
        hits = {"1": score, "10": 0.4, "20": 0.5}
        scores = {"m_hits": {"test": hits, "all": hits}, "hits": {"test": {}, "all": {}}}
        row = {"random_state": state, "value": None, "data": "dbp-4", "settings": {"engine": "kecg"}}
        store(tmp_path, cell, row | {"scores": {"none": scores}, "device": "a device", "versions": {"torch": "2"}})
    assert [row["random_state"] for row in stored(tmp_path, cell)] == [0, 1]
    text = pages(["table-2"], cells, tmp_path)["table-2"]
    ours = "6.00 ±1.41 / 40.00 ±0.00 / 50.00 ±0.00 | +0.38 / +6.65 / +0.39 | 6.00 / 40.00 / 50.00 | 2 |"
    assert f"| KECG* | `none` | 5.62 / 33.35 / 49.61 | {ours}" in text
    assert "Run on: a device; torch 2." in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "is no TOML"),
        ('titel = "x"', "unknown key in .*choose one of"),
        ('title = "x"', "lacks data, enhancements, settings"),
        ('title = "x"\ndata = "dbp-4"\nenhancements = []\n[settings]\nengin = "x"', "unknown setting in .*engine"),
        (f"title = 5\n{REST}", "title: .*string"),
        (f'title = "x"\n{REST}\nstrategy = "each"\n[vary]\nmargin = 1', "vary.margin: "),
        (f'title = "x"\n{REST}\n[published.table-2]\nnone = [1]', "published.table-2.none: .*expected 3 numbers"),
        (f'title = "x"\n{REST}\n[published.efficiency]\nparameters = 1', "published.efficiency lacks megabytes"),
        ('title = "x"\ndata = "dbp-5"\nenhancements = []\n[settings]', "unknown data in .*dbp-4, dwy-3"),
    ],
)
def test_a_bad_experiment_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(MultiEAError, match=words):
        read_cells(tmp_path)


def test_runs_of_other_data_or_with_other_enhancements_are_made_again(cells: dict[str, Cell], tmp_path: Path) -> None:
    cell = replace(cells["dbp-4/kecg-pairwise"], random_states=(0,))
    asked: list[str] = []

    def task_of(data: str, *_: object) -> Task:
        asked.append(data)
        raise InputError("enough")

    store(tmp_path, cell, stored(EXPERIMENTS / "results", cell)[0])
    for name in (None, "dbp-4"):
        assert run_cells([cell], tmp_path, task_of, lambda _, name=name: name, quick=False, device="cpu") == 0
    other = replace(cell, enhancements=("none", "profile"))
    for wanted_cell, name in ((cell, "dbp-4-whole"), (other, "dbp-4")):
        with pytest.raises(InputError, match="enough"):
            run_cells([wanted_cell], tmp_path, task_of, lambda _, name=name: name, quick=False, device="cpu")
    assert len(asked) == 2


@pytest.mark.parametrize("settings", [{"engine": "kecgg"}, {"strategy": 7}, {"margin": "a"}, {"margin": -1}])
def test_settings_that_cannot_be_are_named_before_anything_runs(
    cells: dict[str, Cell], tmp_path: Path, settings: dict[str, object]
) -> None:
    cell = replace(cells["dbp-4/kecg"], settings={"engine": "kecg"} | settings)
    with pytest.raises(InputError, match="the experiment dbp-4/kecg cannot be run"):
        run_cells([cell], tmp_path, lambda *_: pytest.fail("run"), lambda _: None, quick=True, device="cpu")


def test_damaged_results_are_named(cells: dict[str, Cell], tmp_path: Path) -> None:
    (tmp_path / "dbp-4").mkdir()
    (tmp_path / "dbp-4" / "kecg.json").write_text("{")
    with pytest.raises(InputError, match="holds no results"):
        stored(tmp_path, cells["dbp-4/kecg"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["table-7"], "unknown table or figure 'table-7'"),
        (["table-1"], "--source must say where DBP15K"),
        (["table-1", "--experiments", "nowhere"], "no experiments in nowhere"),
    ],
)
def test_bad_words_end_with_a_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert words in result.output
