"""HTML and SVG from Python, safe by default: text is escaped everywhere, and markup has a type of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

MAX_LENGTH = 120  # characters of a name; some KGs have whole paragraphs as names
# Characters that browsers replace or do not show.
NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
VOID = {"meta", "br"}


class Html(str):
    """Text that is already markup."""

    __slots__ = ()


Content = str | int | float
Attribute = str | int | float | None


@dataclass(frozen=True)
class Section:
    """A section of the page; anchor: its id, which the table of contents links to."""

    anchor: str
    title: str
    body: Html


def as_html(content: Content) -> Html:
    """Content as markup: markup stays unchanged, text is escaped, whole numbers get thousands separators."""
    if isinstance(content, Html):
        return content
    if isinstance(content, int):
        return Html(f"{content:,}")
    return Html(escape(NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", str(content))))


def element(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """An element of HTML or SVG: element("th", "KG", scope="col"); `class_` is class, `stroke_width` stroke-width."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{as_html(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{''.join(map(as_html, content))}</{name}>")


def joined(parts: Iterable[Content]) -> Html:
    """Several pieces of content in sequence."""
    return Html("\n".join(map(as_html, parts)))


def shortened(name: str) -> str:
    """A name with at most MAX_LENGTH characters; an ellipsis shows that something is cut off."""
    return name if len(name) <= MAX_LENGTH else name[: MAX_LENGTH - 1] + "…"


def isolated(name: str) -> Html:
    """A name from the data, shortened; `bdi` keeps the direction of its script from affecting the text around it."""
    return element("bdi", shortened(name))


def entity_html(name: str, entity: str) -> Html:
    """The name of an entity, and below it the entity id if that is different."""
    if entity == name:
        return isolated(name)
    return Html(isolated(name) + element("bdi", shortened(entity), class_="entity-id"))


def paragraph(*content: Content, class_: str | None = None) -> Html:
    """A paragraph."""
    return element("p", *content, class_=class_)


def note(*content: Content) -> Html:
    """A highlighted paragraph, such as the reason why something is not shown."""
    return paragraph(*content, class_="note")


def collapsible(summary: Content, *content: Content, open_: bool = False) -> Html:
    """Content that is shown after a click on its summary."""
    return element("details", element("summary", summary), *content, open="" if open_ else None)


def as_table(numbers: Html) -> Html:
    """The table with the numbers of a chart, collapsed."""
    return collapsible("Show as a table", numbers)


class Cell(Html):
    """A complete cell of a table, with attributes of its own."""

    __slots__ = ()


def table(
    caption: str,
    header: Sequence[Content],
    rows: Iterable[Sequence[Content]],
    *,
    text_columns: int = 1,
    class_: str = "plain",
) -> Html:
    """A table that scrolls horizontally where the screen is narrow.

    The first cell of each row is its header. The first `text_columns` columns contain text, the others numbers.
    """
    kinds = [None if at < text_columns else "number" for at in range(len(header))]
    head = [element("th", cell, scope="col", class_=kind) for cell, kind in zip(header, kinds, strict=True)]
    body = []
    for first, *others in rows:
        cells = [element("th", first, scope="row")]
        for cell, kind in zip(others, kinds[1:], strict=True):
            cells.append(cell if isinstance(cell, Cell) else element("td", cell, class_=kind))
        body.append(element("tr", *cells))
    parts = (element("caption", caption), element("thead", element("tr", *head)), element("tbody", joined(body)))
    made = element("table", *parts, class_=class_)
    return element("div", made, class_="scroll", role="group", aria_label=caption, tabindex=0)


def percent(share: float | None) -> Html:
    """A share as a percentage, a dash where it is unknown."""
    return Html("-" if share is None else f"{share:.1%}")
