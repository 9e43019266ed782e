"""The command line: what people and machines read, and how it fails."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiea.cli.main import app
from multiea.foundation.atomic_files import new_folder
from multiea.foundation.errors import OutputError


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


def write_data_set(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.tsv").write_text("x\tr\ty\ny\tr\tz\ny\tr\tz\n", encoding="utf-8")
    (folder / "b.nt").write_text(
        '<http://b/x> <http://b/r> <http://b/y> .\n<http://b/x> <http://b/n> "[bold]a name[/bold] :smile:" .\n',
        encoding="utf-8",
    )
    (folder / "c.csv").write_text("from c,r,to c\n", encoding="utf-8")
    (folder / "seeds.tsv").write_text("a\tb\tc\nx\thttp://b/x\t\n", encoding="utf-8")
    (folder / "entities.tsv").write_text("kg\tentity\tlabel\na\tlonely\t\n", encoding="utf-8")
    return folder


def test_inspect_answers_in_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["inspect", str(write_data_set(tmp_path / "mine")), "--json"])
    answer = json.loads(result.stdout)
    kgs = {kg["name"]: kg for kg in answer["kgs"]}
    assert (kgs["a"]["entities"], kgs["a"]["triples"], kgs["a"]["duplicates"], kgs["a"]["isolated"]) == (4, 2, 1, 1)
    assert (kgs["b"]["entities"], kgs["b"]["triples"], kgs["b"]["literals"]) == (2, 1, 1)
    assert kgs["a"]["degree_quantiles"]["1.0"] == 2
    assert answer["groups_by_size"] == {"2": 1, "3": 0}
    assert answer["overlap"] == {
        "a": {"a": 1, "b": 1, "c": 0},
        "b": {"a": 1, "b": 1, "c": 0},
        "c": {"a": 0, "b": 0, "c": 0},
    }
    assert (answer["seeds"], answer["held_out"]) == (1, 0)
    told = " ".join(answer["warnings"])
    for words in (
        "1 duplicate",
        "without a triple",
        "only 1 known",
        "no known group has a member in c",
        "no group is complete",
    ):
        assert words in told


def test_inspect_shows_tables_and_warnings(tmp_path: Path) -> None:
    code, output = run("inspect", str(write_data_set(tmp_path / "mine")))
    assert code == 0
    for words in ("mine: 3 KGs, 1 known group", "entities", "median", "pair of KGs", "1 over 2 KGs", "warning: "):
        assert words in output


def test_inspect_takes_files_with_seeds(tmp_path: Path) -> None:
    folder = write_data_set(tmp_path / "mine")
    files = [str(folder / name) for name in ("a.tsv", "b.nt", "c.csv")]
    code, output = run("inspect", *files, "--seeds", str(folder / "seeds.tsv"), "--json")
    assert code == 0
    assert json.loads(output[: output.rindex("}") + 1])["groups"] == 1


def test_lenient_drops_strangers_and_says_so(tmp_path: Path) -> None:
    folder = write_data_set(tmp_path / "mine")
    (folder / "seeds.tsv").write_text("a\tb\nx\thttp://b/x\ny\tnobody\n", encoding="utf-8")
    code, output = run("inspect", str(folder))
    assert code == 2
    assert "1 entity of groups is not in the KG: 'nobody' (b, line 3)" in output
    assert "--lenient" in output
    code, output = run("inspect", str(folder), "--lenient")
    assert code == 0
    assert output.count("'nobody'") == 1


def test_an_error_in_json_is_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["inspect", str(tmp_path / "nowhere"), "--json"])
    assert result.exit_code == 2
    assert "nowhere" in json.loads(result.stdout)["error"]
    assert result.stderr.startswith("error: ")


def test_the_demo_aligns_the_world_and_says_what_to_do_next(tmp_path: Path) -> None:
    code, output = run("demo", "--out", str(tmp_path / "demo"))
    assert code == 0
    for words in ("M-Hits", "precision", "Ten of the complete groups found", "Next:", "multiea align FOLDER"):
        assert words in output
    assert (tmp_path / "demo" / "metrics.json").is_file()
    assert json.loads((tmp_path / "demo" / "metrics.json").read_text(encoding="utf-8"))["m_hits"]["test"]["10"] > 0.5


def test_synth_writes_a_data_set_that_inspect_reads(tmp_path: Path) -> None:
    out = tmp_path / "synthetic"
    code, output = run("synth", "--kgs", "4", "--entities", "300", "--out", str(out), "--json")
    assert code == 0, output
    code, output = run("inspect", str(out), "--json")
    assert [kg["entities"] for kg in json.loads(output)["kgs"]] == [300] * 4
    code, output = run("synth", "--kgs", "1", "--out", str(tmp_path / "other"))
    assert code == 2
    assert "kgs must be" in output
    assert not (tmp_path / "other").exists()


def test_an_unknown_word_lists_the_choices() -> None:
    code, output = run("build", "dbp-5", "--source", ".", "--out", "x")
    assert code == 2
    assert "dbp-4" in output


def test_help_and_version_come_without_the_heavy_imports() -> None:
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom multiea.cli.main import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "assert 'multiea 0' in CliRunner().invoke(app, ['--version']).output\n"
        "assert not {'torch', 'polars', 'numpy', 'scipy', 'pyoxigraph'} & set(sys.modules), 'heavy'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_a_real_process_exits_with_2_and_no_traceback(tmp_path: Path, tail: list[str]) -> None:
    command = [sys.executable, "-m", "multiea", "inspect", str(tmp_path), *tail]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr


def test_long_work_in_a_log_file_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("multiea.cli.console.QUIET_SECONDS", 0.0)
    folder = write_data_set(tmp_path / "mine")
    result = CliRunner().invoke(app, ["inspect", str(folder)])
    assert "reading a.tsv ... 100%" in result.stderr
    quiet = CliRunner().invoke(app, ["inspect", str(folder), "--no-progress"])
    assert "reading" not in quiet.stderr


def test_a_folder_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    def write() -> None:
        with new_folder(tmp_path / "out", "data set") as draft:
            (draft / "groups.tsv").write_text("ours", encoding="utf-8")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "thesis.tex").write_text("theirs", encoding="utf-8")

    with pytest.raises(OutputError, match="not empty"):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "thesis.tex").read_text(encoding="utf-8") == "theirs"


def test_force_replaces_our_own_folders_only_and_follows_links(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.tex").write_text("precious", encoding="utf-8")
    code, output = run("synth", "--entities", "100", "--out", str(tmp_path / "theirs"), "--force")
    assert code == 2
    assert "is not a data set" in output
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "groups.tsv").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "ours")
    code, output = run("synth", "--entities", "100", "--out", str(tmp_path / "link"), "--force")
    assert code == 0, output
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "ours" / "kg1.tsv").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "ours", "theirs"]


def test_a_run_that_is_told_to_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "multiea", "synth", "--entities", "300000", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(tmp_path.glob(".out.*")) and process.poll() is None:
        time.sleep(0.01)
    process.terminate()
    assert process.wait(timeout=30) == 143
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_output_that_cannot_be_written_is_an_error_like_any_other(tail: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "multiea", "inspect", "world", *tail]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "No space left" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("tail", [[], ["--json"]])
def test_names_the_terminal_cannot_show_are_no_reason_to_stop(tmp_path: Path, tail: list[str]) -> None:
    for name in ("日本", "ö"):
        (tmp_path / f"{name}.tsv").write_text("a\tr\tb\n", encoding="utf-8")
    command = [sys.executable, "-m", "multiea", "inspect", str(tmp_path), *tail]
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    result = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    if tail:
        assert [kg["name"] for kg in json.loads(result.stdout)["kgs"]] == ["ö", "日本"]


@pytest.mark.parametrize("name", ["Seeds.tsv", "seed.tsv", "held-out.tsv", "entities.csv", "seeds.sssom.csv"])
def test_a_file_named_nearly_like_one_with_a_meaning_is_not_taken_for_a_kg(tmp_path: Path, name: str) -> None:
    folder = write_data_set(tmp_path / "mine")
    (folder / name).write_text("a\tb\tc\n", encoding="utf-8")
    code, output = run("inspect", str(folder))
    assert code == 2
    assert "close to a reserved one" in output


def test_files_that_are_not_read_are_mentioned(tmp_path: Path) -> None:
    folder = write_data_set(tmp_path / "mine")
    (folder / "d.tsv.bz2").write_bytes(b"")
    (folder / "e.tsv").symlink_to(tmp_path / "nowhere")
    (folder / "README.md").write_text("notes", encoding="utf-8")
    code, output = run("inspect", str(folder))
    assert code == 0
    assert "not read, because the extensions are unknown: d.tsv.bz2, e.tsv" in output


def test_training_says_how_it_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("multiea.cli.console.QUIET_SECONDS", 0.0)
    result = CliRunner().invoke(
        app, ["align", "world", "--engine", "multiea", "--epochs", "7", "--out", str(tmp_path / "run")]
    )
    assert result.exit_code == 0, result.output
    assert re.search(r"training \.\.\. \d+% \(\d+ s\)  loss [\d,.]+, validation [\d.]+%", result.stderr)
