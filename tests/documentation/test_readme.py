"""What the README shows is what happens."""

import re
import shlex
from pathlib import Path

import pyoxigraph
import pytest
from typer.testing import CliRunner

from multiea.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_library_example_runs_and_has_six_lines(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) == 6
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    assert "Task('world': 3 KGs" in capsys.readouterr().out
    assert (tmp_path / "run" / "groups.tsv").is_file()


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    shown = re.search(r"```\n(world: .*?)\n\.\.\.\n```", README, flags=re.DOTALL)
    assert shown is not None
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert result.exit_code == 0
    assert shown[1] in result.output


def test_three_files_and_ten_seeds_become_a_merged_graph_and_a_report_by_three_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert [command[:2] for command in commands] == [["multiea", name] for name in ("align", "export", "report")]
    entities, known = files_of_a_person(tmp_path / "mydata")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        result = CliRunner().invoke(app, command[1:])
        assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in Path("run/groups.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    right = [row for row in rows if len({name.rsplit("/")[-1][2:] for name in row if name}) == 1]
    assert len(right) > 0.8 * len(rows) > 0.8 * (entities - known) / 2
    quads = list(pyoxigraph.parse(path="merged.nq", format=pyoxigraph.RdfFormat.N_QUADS))
    assert {quad.graph_name.value.rsplit(":")[-1] for quad in quads} == {"en", "fr", "de"}
    merged = {end.value for quad in quads for end in (quad.subject, quad.object)}
    assert entities <= len(merged) < 2 * entities  # of nearly three times as many
    assert Path("run/report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def files_of_a_person(folder: Path) -> tuple[int, int]:
    """Three files about 60 things, each with most of the facts, and ten known groups; returns both numbers."""
    things, known = 60, 10
    facts = [(i, "next", (i + 1) % things) for i in range(things)]
    facts += [(i, "likes", (i * i + 7) % things) for i in range(things)] + [(i, "in", i % 7) for i in range(things)]
    said = {
        kg: [fact for n, fact in enumerate(facts) if n % 10 != rest] for kg, rest in zip("efd", (3, 5, 8), strict=True)
    }
    folder.mkdir()
    turtle = ["@prefix : <http://en.example/> ."] + [f":e-{head} :{link} :e-{tail} ." for head, link, tail in said["e"]]
    table = ["head,relation,tail"] + [f"f-{head},{link},f-{tail}" for head, link, tail in said["f"]]
    lines = [" ".join(f"<http://de.example/{name}>" for name in (f"d-{head}", link, f"d-{tail}")) + " ."
             for head, link, tail in said["d"]]  # fmt: skip
    seeds = [f"http://en.example/e-{i}\tf-{i}\thttp://de.example/d-{i}" for i in range(0, things, things // known)]
    files = {"en.ttl": turtle, "fr.csv": table, "de.nt": lines, "seeds.tsv": ["en\tfr\tde", *seeds]}
    for name, content in files.items():
        (folder / name).write_text("\n".join(content) + "\n", encoding="utf-8")
    assert len(seeds) == known
    return things, known


def test_every_command_in_the_readme_exists_and_explains_itself() -> None:
    commands = set(re.findall(r"`multiea (\w+)", README))
    assert {"demo", "inspect", "build", "synth", "align", "evaluate"} <= commands
    for command in commands:
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


def test_links_in_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
