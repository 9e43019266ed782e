"""Reads HTML pages strictly, and checks that they are well-formed, load nothing and are accessible."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "br"}
LOADING = {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use"}


class StrictPage(HTMLParser):
    """A page in which every tag must be closed, in order; keeps its tags and headings."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice: {tag} {attrs}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"{tag} is closed, but nothing is open"
        assert self.open.pop() == tag, f"{tag} is closed too early"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def checked_text(path: Path) -> str:
    """The text of a page, after checking that it is well-formed, loads nothing and is accessible."""
    text = path.read_text(encoding="utf-8")
    page = StrictPage(text)
    kinds = {tag for tag, _ in page.tags}
    assert not kinds & LOADING
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.tags:
        assert not {name for name in attributes if name.startswith("on")}
        assert "src" not in attributes
        if "href" in attributes:
            assert (attributes["href"] or "")[:1] == "#"
            assert (attributes["href"] or "")[1:] in ids
        if tag == "svg" and attributes.get("aria-hidden") != "true":
            assert attributes["role"] == "img"
            assert attributes["aria-label"]
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    assert not re.search(r"url\(|@import", text)
    assert {"main", "nav", "header", "footer", "h1"} <= kinds
    assert [tag for tag, _ in page.tags].count("h1") == 1
    return text


def headings(path: Path) -> list[str]:
    return StrictPage(path.read_text(encoding="utf-8")).headings
