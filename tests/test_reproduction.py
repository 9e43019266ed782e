"""multiea reproduce: a cut of every experiment runs, nothing is run twice, pages say what is stored."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from multiea import InputError, MultiEAError
from multiea.cli import app
from multiea.reproduction.cells import NEEDS, Cell, read_cells, wanted
from multiea.reproduction.pages import NOT_RUN, QUICK, pages
from multiea.reproduction.running import run_cell, store, stored

PROJECT = Path(__file__).resolve().parent.parent
EXPERIMENTS = PROJECT / "experiments"


@pytest.fixture(scope="module")
def cells() -> dict[str, Cell]:
    return read_cells(EXPERIMENTS / "cells")


def test_every_table_and_figure_has_its_experiments(cells: dict[str, Cell]) -> None:
    used = {cell.name for cell in wanted(list(NEEDS), cells)}
    assert used == set(cells)
    for name in ("table-3", "table-4", "table-5", "table-6"):
        assert all(cells[cell].published for cell in NEEDS[name])


def test_a_cut_of_every_experiment_runs_and_what_is_done_is_not_run_again(tmp_path: Path) -> None:
    arguments = ["reproduce", "all", "--quick", "--out", str(tmp_path), "--json", "--no-progress"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["runs"] > len(read_cells(EXPERIMENTS / "cells"))
    written = {Path(path).name for path in answer["written"]}
    assert {f"table-{number}.md" for number in range(1, 7)} | {"figure-sensitivity.md"} <= written
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


def test_a_page_shows_published_ours_and_the_difference(cells: dict[str, Cell], tmp_path: Path) -> None:
    cell = cells["dbp-4/kecg-pairwise"]
    for state, score in enumerate((0.05, 0.07)):
        hits = {"1": score, "10": 0.4, "20": 0.5}
        scores = {"m_hits": {"test": hits, "all": hits}, "hits": {"test": {}, "all": {}}}
        row = {"random_state": state, "value": None, "data": "dbp-4", "settings": {"engine": "kecg"}}
        store(tmp_path, cell, row | {"scores": {"none": scores}, "device": "a device", "versions": {"torch": "2"}})
    assert [row["random_state"] for row in stored(tmp_path, cell)] == [0, 1]
    text = pages(["table-2"], cells, tmp_path)["table-2"]
    ours = "5.62 / 33.35 / 49.61 | 6.00 / 40.00 / 50.00 | +0.38 / +6.65 / +0.39 | 6.00 / 40.00 / 50.00 | 2 |"
    assert f"| KECG* | `none` | {ours}" in text
    assert "Run on: a device; torch 2." in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "is no TOML"),
        ('titel = "x"', "unknown key in .*choose one of"),
        ('title = "x"', "lacks data, enhancements, settings"),
        ('title = "x"\ndata = "dbp-4"\nenhancements = []\n[settings]\nengin = "x"', "unknown setting in .*engine"),
        ('title = "x"\ndata = "dbp-5"\nenhancements = []\n[settings]', "unknown data in .*dbp-4, dwy-3"),
    ],
)
def test_a_bad_experiment_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(MultiEAError, match=words):
        read_cells(tmp_path)


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
