"""A full disk or a killed process does not damage existing results."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.exports.export import FORMATS

KINDS = {
    "groups": ["export", "RUN", "--to", "groups", "--out", "groups.csv"],
    "table": ["export", "RUN", "--to", "groups", "--out", "groups.parquet"],
    "sssom": ["export", "RUN", "--to", "sssom", "--out", "all.sssom.tsv"],
    "same-as": ["export", "RUN", "--to", "same-as", "--out", "links.nt"],
    "alignments": ["export", "RUN", "--to", "alignment-rdf", "--out", "alignments"],
    "merged": ["export", "RUN", "--to", "merged", "--out", "merged.nq"],
    "merged table": ["export", "RUN", "--to", "merged", "--out", "merged.parquet"],
    "networkx": ["export", "RUN", "--to", "networkx", "--out", "merged.graphml"],
    "pyg": ["export", "RUN", "--to", "pyg", "--out", "merged.pt"],
    "report": ["report", "RUN", "--out", "page.html"],
    "run": ["align", "DATA", "--out", "again"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("writing")
    (folder / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=300, relations=10), folder / "data")
    result = CliRunner().invoke(app, ["align", str(folder / "data"), "--out", str(folder / "run"), "--no-progress"])
    assert result.exit_code == 0, result.output
    return folder


def words_of(kind: str, made: Path) -> list[str]:
    places = {"RUN": str(made / "run"), "DATA": str(made / "data")}
    return [*(places.get(word, word) for word in KINDS[kind]), "--force", "--no-progress"]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def a_full_disk() -> Iterator[None]:
    """No file may grow beyond 4 KB, which fails as a write to a full disk does."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # what importing torch-geometric brings
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_is_reported_and_changes_nothing(
    kind: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = words_of(kind, made)
    assert CliRunner().invoke(app, words).exit_code == 0
    before = contents(tmp_path)
    with a_full_disk():
        result = CliRunner().invoke(app, words)
    assert result.exit_code == 2, result.output
    (line,) = [line for line in result.stderr.splitlines() if not line.startswith("warning")]
    assert line.startswith("error: cannot write")
    assert contents(tmp_path) == before


WRITES_AND_WAITS = """
import sys, time
from pathlib import Path
from multiea.foundation.atomic_files import new_file, new_folder
place = Path(sys.argv[1])
with new_folder(place, "run", force=True) if place.is_dir() else new_file(place, force=True) as draft:
    (draft / "part" if draft.is_dir() else draft).write_text("half of")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_killed_process_changes_nothing(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "result"
    if kind == "folder":
        place.mkdir()
        (place / "manifest.json").write_text("the old one")
    else:
        place.write_text("the old one")
    before = contents(tmp_path)
    command = [sys.executable, "-c", WRITES_AND_WAITS, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        os.kill(process.pid, signal.SIGKILL)
    after = contents(tmp_path)
    assert {path: after[path] for path in before} == before
    assert all(path.parts[0].startswith(".") for path in after.keys() - before.keys())


def test_every_export_format_is_tested_here() -> None:
    assert {words[3] for words in KINDS.values() if words[0] == "export"} == set(FORMATS)
