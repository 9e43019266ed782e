"""HTML and SVG from Python, safe by default: text is escaped wherever it enters, markup is of a type of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

LONGEST = 120  # of a name shown; some KGs have whole paragraphs for labels
# Browsers read these as something else, or not at all.
UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
VOID = {"meta", "br"}


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Content = str | int | float
Attribute = str | int | float | None


@dataclass(frozen=True)
class Section:
    """One part of the page; anchor: what its link in the contents leads to."""

    anchor: str
    title: str
    body: Html


def text(content: Content) -> Html:
    """Content as markup: markup stays, anything else is escaped; whole numbers get their thousands apart."""
    if isinstance(content, Html):
        return content
    if isinstance(content, int):
        return Html(f"{content:,}")
    return Html(escape(UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", str(content))))


def element(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """One element of HTML or SVG: element("th", "KG", scope="col"); `class_` is class, `stroke_width` stroke-width."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{words}>")
    return Html(f"<{name}{words}>{''.join(map(text, content))}</{name}>")


def joined(parts: Iterable[Content]) -> Html:
    """Several pieces of content, one after the other."""
    return Html("\n".join(map(text, parts)))


def shortened(name: str) -> str:
    """A name that fits the page; what is cut off is said by an ellipsis."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def named(label: str, name: str | None = None) -> Html:
    """An entity as shown: its label, and its name below where that is another; in the direction of its own script."""
    first = element("bdi", shortened(label))
    if name is None or name == label:
        return first
    return Html(first + element("bdi", shortened(name), class_="name"))


def paragraph(*content: Content, class_: str | None = None) -> Html:
    """A paragraph."""
    return element("p", *content, class_=class_)


def folded(summary: Content, *content: Content, open_: bool = False) -> Html:
    """A part that is shown when asked for."""
    return element("details", element("summary", summary), *content, open="" if open_ else None)


class Cell(Html):
    """A whole cell of a table, made by hand."""

    __slots__ = ()


def table(
    caption: str, header: Sequence[Content], rows: Iterable[Sequence[Content]], *, words: int = 1, class_: str = "plain"
) -> Html:
    """A table in a box of its own, which scrolls sideways where the screen is narrow.

    The first cell of each row heads it; the first `words` columns are words, the others numbers.
    """
    kinds = [None if at < words else "number" for at in range(len(header))]
    heads = [element("th", cell, scope="col", class_=kind) for cell, kind in zip(header, kinds, strict=True)]
    body = []
    for first, *others in rows:
        cells = [element("th", first, scope="row")]
        for cell, kind in zip(others, kinds[1:], strict=True):
            cells.append(cell if isinstance(cell, Cell) else element("td", cell, class_=kind))
        body.append(element("tr", *cells))
    parts = (element("caption", caption), element("thead", element("tr", *heads)), element("tbody", joined(body)))
    made = element("table", *parts, class_=class_)
    return element("div", made, class_="scroll", role="group", aria_label=caption, tabindex=0)
