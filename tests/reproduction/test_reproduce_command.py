"""multiea reproduce: every experiment runs in quick mode, stored runs are not repeated, bad arguments are refused."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from multiea.cli.main import app
from multiea.reproduction.cells import needed_cells
from multiea.reproduction.contents import NEEDS
from multiea.reproduction.numbers import NOT_RUN
from multiea.reproduction.page_parts import QUICK
from support.experiments import project_cells

TABLES = [f"table-{number}" for number in range(1, 7)]
FIGURES = [name for name in NEEDS if name not in TABLES]


@pytest.fixture(autouse=True)
def _tiny_kgs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of quick mode take about a second each; with fewer entities, a quarter of that."""
    monkeypatch.setattr("multiea.reproduction.benchmark_tasks.QUICK_ENTITIES", 100)


def reproduce(names: Sequence[str], out: Path) -> dict[str, Any]:
    arguments = ["reproduce", *names, "--quick", "--device", "cpu", "--out", str(out), "--json", "--no-progress"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


# Two parts, so that they can run on two processors.
@pytest.mark.parametrize(
    ("names", "files"),
    [
        (TABLES, {f"{name}.md" for name in TABLES}),
        (
            FIGURES,
            {
                "figure-sensitivity.md",
                "figure-sensitivity.svg",
                "gold-order.md",
                "case-study-dbp-4.md",
                "case-study-dwy-3.md",
                "tsne-dbp-4.svg",
                "tsne-dwy-3.svg",
            },
        ),
    ],
    ids=["tables", "figures"],
)
def test_every_experiment_runs_in_quick_mode(names: list[str], files: set[str], tmp_path: Path) -> None:
    answer = reproduce(names, tmp_path)
    cells = [cell.cut() for cell in needed_cells(names, project_cells())]
    assert answer["runs"] == sum(len(list(cell.runs())) for cell in cells) >= len(cells)
    written = {Path(path).name: Path(path).read_text(encoding="utf-8") for path in answer["written"]}
    assert set(written) == files
    assert NOT_RUN not in "".join(written.values())
    assert all(QUICK in text for name, text in written.items() if name.startswith("table"))
    for name, kgs in {"tsne-dbp-4.svg": 4, "tsne-dwy-3.svg": 3}.items():
        if name in files:
            assert written[name].count("<title>") == kgs * written[name].count("<polygon") > 0


def test_both_parts_together_are_everything_that_can_be_made() -> None:
    assert set(TABLES) | set(FIGURES) == set(NEEDS)
    assert {cell.name for cell in needed_cells([*TABLES, *FIGURES], project_cells())} == set(project_cells())


def test_only_missing_and_outdated_runs_are_repeated(tmp_path: Path) -> None:
    assert reproduce(["table-3"], tmp_path)["runs"] == len(NEEDS["table-3"])
    results = tmp_path / "quick" / "results" / "dbp-4"
    (results / "kecg.json").unlink()
    outdated = json.loads((results / "naea.json").read_text())
    outdated[0]["settings"]["epochs"] = 7
    (results / "naea.json").write_text(json.dumps(outdated))
    assert reproduce(["table-3"], tmp_path)["runs"] == 2
    assert reproduce(["table-3"], tmp_path)["runs"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["table-7"], "unknown table or figure 'table-7'"),
        (["table-1"], "give --source, a folder or an archive with DBP15K"),
        (["table-1", "--experiments", "nowhere"], "no experiments in nowhere"),
    ],
)
def test_bad_arguments_are_refused(arguments: list[str], words: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert words in result.output
