"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pyoxigraph
import pytest
from typer.testing import CliRunner

from multiea.cli.main import app
from support.places import PROJECT
from support.shell import printed_by_shell

README = (PROJECT / "README.md").read_text(encoding="utf-8")
ENTITIES, SEEDS = 60, 10


def write_three_kgs(folder: Path) -> None:
    """Three files about 60 entities, each with most of the facts in its own format, and ten seeds."""
    facts = [(i, "next", (i + 1) % ENTITIES) for i in range(ENTITIES)]
    facts += [(i, "likes", (i * i + 7) % ENTITIES) for i in range(ENTITIES)]
    facts += [(i, "in", i % 7) for i in range(ENTITIES)]
    without = {"en": 3, "fr": 5, "de": 8}  # each KG lacks another tenth of the facts
    known = {kg: [fact for n, fact in enumerate(facts) if n % 10 != rest] for kg, rest in without.items()}
    turtle = ["@prefix : <http://en.example/> ."]
    turtle += [f":e-{head} :{relation} :e-{tail} ." for head, relation, tail in known["en"]]
    table = ["head,relation,tail"] + [f"f-{head},{relation},f-{tail}" for head, relation, tail in known["fr"]]
    lines = [
        " ".join(f"<http://de.example/{name}>" for name in (f"d-{head}", relation, f"d-{tail}")) + " ."
        for head, relation, tail in known["de"]
    ]
    step = ENTITIES // SEEDS
    seeds = [f"http://en.example/e-{i}\tf-{i}\thttp://de.example/d-{i}" for i in range(0, ENTITIES, step)]
    files = {"en.ttl": turtle, "fr.csv": table, "de.nt": lines, "seeds.tsv": ["en\tfr\tde", *seeds]}
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text("\n".join(content) + "\n", encoding="utf-8")
    assert len(seeds) == SEEDS


def iri(node: object) -> str:
    assert isinstance(node, pyoxigraph.NamedNode)
    return node.value


def test_the_library_example_runs_and_has_six_lines(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) == 6
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Task('world': 3 KGs" in printed
    columns = re.search(r"# a polars table: (.*)", example)
    assert columns is not None
    assert all(column in printed for column in columns[1].split(", "))
    assert (tmp_path / "run" / "groups.tsv").is_file()


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    shown = re.search(r"```\n(world: .*?)\n\.\.\.\n```", README, flags=re.DOTALL)
    assert shown is not None
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert result.exit_code == 0
    assert shown[1] in result.output


def bash_block() -> str:
    (block,) = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
    return str(block)


def test_the_first_example_needs_no_seeds_and_finds_the_groups_that_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = printed_by_shell(bash_block())
    assert "people: 3 KGs, 0 seeds" in printed
    assert "evidence: names, attributes" in printed
    assert "confidences: estimated without seeds" in printed
    shown = re.search(r"```\n(archive .*?)```", README, flags=re.DOTALL)
    assert shown is not None
    header, *groups = [line.split("\t") for line in Path("run/groups.tsv").read_text(encoding="utf-8").splitlines()]
    shown_header, *shown_groups = [line.split() for line in shown[1].splitlines()]
    assert shown_header == header
    assert {tuple(group) for group in shown_groups} == {tuple(filter(None, row)) for row in groups}


def test_three_commands_turn_three_files_and_ten_seeds_into_a_merged_graph_and_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line for line in bash_block().splitlines() if line.startswith("multiea ")]
    commands = [shlex.split(line.replace("people", "mydata"), comments=True) for line in lines]
    assert [command[:2] for command in commands] == [["multiea", name] for name in ("align", "export", "report")]
    write_three_kgs(tmp_path / "mydata")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        result = CliRunner().invoke(app, command[1:])
        assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in Path("run/groups.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    right = [row for row in rows if len({name.rsplit("/")[-1][2:] for name in row if name}) == 1]
    assert len(right) > 0.8 * len(rows) > 0.8 * (ENTITIES - SEEDS) / 2
    quads = list(pyoxigraph.parse(path="merged.nq", format=pyoxigraph.RdfFormat.N_QUADS))
    sources = {iri(quad.graph_name).rsplit(":")[-1] for quad in quads}
    merged = {iri(end) for quad in quads for end in (quad.subject, quad.object)}
    assert sources == {"en", "fr", "de"}
    assert ENTITIES <= len(merged) < 2 * ENTITIES  # the three KGs have nearly three times as many
    assert Path("run/report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_every_command_in_the_readme_exists_and_has_help() -> None:
    commands = set(re.findall(r"`multiea (\w+)", README))
    assert {"demo", "inspect", "build", "synth", "align", "evaluate"} <= commands
    for command in commands:
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


def test_links_in_the_documentation_lead_to_existing_files() -> None:
    for page in [PROJECT / "README.md", *PROJECT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
