"""The documentation is consistent: every page is reachable, links lead to headings, every public name is listed."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import multiea
from multiea.settings.fields import explanations
from multiea.settings.tree import SCHEMA
from support.places import PROJECT

DOCS = PROJECT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
MKDOCS = yaml.safe_load((PROJECT / "mkdocs.yml").read_text(encoding="utf-8"))


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and mkdocs both form them."""
    headings = re.findall(r"^#+ (.+)$", without_code(page), flags=re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower())) for heading in headings}


def page_id(page: Path) -> str:
    return page.stem


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"[\w/-]+\.md", str(MKDOCS["nav"]))
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


@pytest.mark.parametrize("page", [PROJECT / "README.md", *PAGES], ids=page_id)
def test_links_to_parts_of_pages_lead_to_a_heading(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        assert anchor in anchors(page.parent / target if target else page), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_lists_and_tables_follow_a_blank_line_or_a_heading_as_mkdocs_needs(page: Path) -> None:
    without_blank_line = re.findall(r"^(?![-|# ])\S.*\n(?:- |\|).*", without_code(page), flags=re.MULTILINE)
    assert not without_blank_line


def test_every_public_name_is_in_the_reference_once() -> None:
    shown = re.findall(r"^::: multiea\.(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(shown) == sorted(name for name in multiea.__all__ if name != "__version__")


def test_pictures_load_nothing_from_the_network() -> None:
    for picture in DOCS.glob("pictures/*.svg"):
        text = picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text
        assert "<title" in text


def test_the_site_builds_strictly_and_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    pytest.importorskip("mkdocstrings", reason="the extra `docs` is not installed")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    from_network = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(https?:[^\" >]+)")
    for page in tmp_path.glob("**/*.html"):
        assert not from_network.findall(page.read_text(encoding="utf-8")), page.name
    reference = html.unescape(re.sub(r"<[^>]+>", "", (tmp_path / "api.html").read_text(encoding="utf-8")))
    assert "register_encoder" in reference
    for kind in (multiea.AlignSettings, *SCHEMA.tables.values()):
        for name, about in explanations(kind).items():
            assert about.replace("`", "") in reference, f"{kind.__name__}.{name}"
