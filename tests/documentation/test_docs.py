"""The documentation holds together: every page is reachable, every link leads somewhere, every public name is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import multiea

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
MKDOCS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"[\w/-]+\.md", str(MKDOCS["nav"]))
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub and mkdocs agree on them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower())) for heading in headings}


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_links_to_parts_of_pages_lead_to_a_heading(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        assert anchor in anchors(page.parent / target if target else page), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_lists_and_tables_follow_a_blank_line_or_a_heading_as_mkdocs_asks(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    glued = re.findall(r"^(?![-|# ])\S.*\n(?:- |\|).*", text, flags=re.MULTILINE)
    assert not glued


def test_every_public_name_is_in_the_reference_once() -> None:
    shown = re.findall(r"^::: multiea\.(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(shown) == sorted(multiea.__all__)


def test_pictures_need_nothing_from_elsewhere() -> None:
    for picture in DOCS.glob("pictures/*.svg"):
        text = picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text
        assert "<title" in text


def test_the_site_builds_strictly_and_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    pytest.importorskip("mkdocstrings", reason="the extra `docs` is not installed")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    elsewhere = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(https?:[^\" >]+)")
    for page in tmp_path.glob("**/*.html"):
        assert not elsewhere.findall(page.read_text(encoding="utf-8")), page.name
    reference = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert "register_encoder" in reference
    assert "How much farther apart than a group its negatives have to be." in reference  # of Training.margin
