"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiea.cli import app

ROOT = Path(__file__).resolve().parent.parent
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


def test_every_command_in_the_readme_exists_and_explains_itself() -> None:
    commands = set(re.findall(r"`multiea (\w+)", README))
    assert {"demo", "inspect", "build", "synth", "align", "evaluate"} <= commands
    for command in commands:
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


def test_links_in_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
