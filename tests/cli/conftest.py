"""Fixtures of the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.datasets import write_files


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A data set of three formats with a duplicate triple, an isolated entity and only one known group."""
    return write_files(
        tmp_path / "mixed",
        {
            "a.tsv": "x\tr\ty\ny\tr\tz\ny\tr\tz\n",
            "b.nt": (
                '<http://b/x> <http://b/r> <http://b/y> .\n<http://b/x> <http://b/n> "[bold]a name[/bold] :smile:" .\n'
            ),
            "c.csv": "from c,r,to c\n",
            "seeds.tsv": "a\tb\tc\nx\thttp://b/x\t\n",
            "entities.tsv": "kg\tentity\tlabel\na\tlonely\t\n",
        },
    )
