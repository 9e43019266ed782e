"""Cells: every table and figure has its experiments, and a bad experiment file is refused with its place."""

from pathlib import Path

import pytest

from multiea import MultiEAError
from multiea.reproduction.cells import needed_cells, read_cells
from multiea.reproduction.contents import NEEDS
from support.experiments import project_cells

REST = 'data = "dbp-4"\nenhancements = ["none"]\n[settings]\nengine = "kecg"'


def test_every_table_and_figure_has_its_experiments() -> None:
    cells = project_cells()
    used = {cell.name for cell in needed_cells(list(NEEDS), cells)}
    assert used == set(cells)
    for name in ("table-3", "table-4", "table-5", "table-6"):
        assert all(cells[cell].published for cell in NEEDS[name] if "-each-" not in cell)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "x.toml: invalid TOML"),
        ('titel = "x"', "unknown key in .*choose one of"),
        ('title = "x"', "missing keys: data, enhancements, settings"),
        ('title = "x"\ndata = "dbp-4"\nenhancements = []\n[settings]\nengin = "x"', "unknown setting in .*engine"),
        (f"title = 5\n{REST}", "title: .*string"),
        (f'title = "x"\n{REST}\nstrategy = "each"\n[vary]\nmargin = 1', "vary.margin: "),
        (f'title = "x"\n{REST}\n[published.table-2]\nnone = [1]', "published.table-2.none: .*expected 3 numbers"),
        (f'title = "x"\n{REST}\n[published.efficiency]\nparameters = 1', "missing key: published.efficiency.megabytes"),
        ('title = "x"\ndata = "dbp-5"\nenhancements = []\n[settings]', "unknown data in .*dbp-4, dwy-3"),
    ],
)
def test_a_bad_experiment_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(MultiEAError, match=words):
        read_cells(tmp_path)


def test_an_experiment_that_does_not_exist_is_named() -> None:
    with pytest.raises(MultiEAError, match="gold-order needs the experiment 'dbp-4/gold-order', which does not exist"):
        needed_cells(["gold-order"], {})
