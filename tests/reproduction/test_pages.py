"""The pages of results: made from stored runs, with published values, ours and the differences."""

from pathlib import Path

from multiea.reproduction.benchmark_tasks import benchmark_tasks
from multiea.reproduction.contents import NEEDS
from multiea.reproduction.pages import pages
from multiea.reproduction.sensitivity import sensitivity_svg
from multiea.reproduction.statistics import statistics_page
from multiea.reproduction.stored_results import store, stored_rows
from support.experiments import EXPERIMENTS, PAGES, project_cells
from support.places import SHARED_DATA, needs_archives


def test_the_pages_of_the_documentation_are_made_from_the_stored_runs() -> None:
    cells = project_cells()
    names = [name for name in NEEDS if (PAGES / f"{name}.md").exists()]
    assert "table-2" in names
    for name, text in pages(names, cells, EXPERIMENTS / "results").items():
        assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == text, name
    figure = (PAGES / "figure-sensitivity.svg").read_text(encoding="utf-8")
    assert figure == sensitivity_svg(cells, EXPERIMENTS / "results")


@needs_archives
def test_the_page_of_statistics_is_made_from_the_data(tmp_path: Path) -> None:
    task_of, _ = benchmark_tasks(SHARED_DATA, tmp_path, quick=False)
    assert statistics_page(task_of, quick=False) == (PAGES / "table-1.md").read_text(encoding="utf-8")


def test_a_page_shows_published_ours_and_the_difference(tmp_path: Path) -> None:
    cells = project_cells()
    cell = cells["dbp-4/kecg-pairwise"]
    for state, score in enumerate((0.05, 0.07)):
        hits = {"1": score, "10": 0.4, "20": 0.5}
        scores = {"m_hits": {"test": hits, "all": hits}, "hits": {"test": {}, "all": {}}}
        row = {"random_state": state, "value": None, "data": "dbp-4", "settings": {"engine": "kecg"}}
        store(tmp_path, cell, row | {"scores": {"none": scores}, "device": "a device", "versions": {"torch": "2"}})
    assert [row["random_state"] for row in stored_rows(tmp_path, cell)] == [0, 1]
    text = pages(["table-2"], cells, tmp_path)["table-2"]
    ours = "6.00 ±1.41 / 40.00 ±0.00 / 50.00 ±0.00 | +0.38 / +6.65 / +0.39 | 6.00 / 40.00 / 50.00 | 2 |"
    assert f"| KECG* | `none` | 5.62 / 33.35 / 49.61 | {ours}" in text
    assert "Run on: a device; torch 2." in text
