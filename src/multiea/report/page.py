"""The page: its sections in order, and the HTML file."""

from __future__ import annotations

from pathlib import Path

from multiea.foundation import progress
from multiea.foundation.atomic_files import new_file
from multiea.foundation.version import __version__
from multiea.report.confidences import confidences
from multiea.report.embedding_map import embedding_map
from multiea.report.groups_by_confidence import groups_by_confidence
from multiea.report.learning_curves import learning_curves
from multiea.report.markup import Html, Section, element, joined
from multiea.report.overview import kgs, overlap, summary
from multiea.report.rerun import rerun
from multiea.report.scores import scores
from multiea.report.subject import Subject
from multiea.report.unmatched import unmatched
from multiea.runs.run import Run

STYLE = Path(__file__).with_name("style.css")
# The browser loads and runs nothing, whatever names the data contains.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
SECTIONS = (
    summary,
    kgs,
    overlap,
    confidences,
    scores,
    learning_curves,
    embedding_map,
    groups_by_confidence,
    unmatched,
    rerun,
)


def write_report(run: Run, out: Path, *, force: bool = False) -> list[Section]:
    """Writes the page about a run to a file and returns its sections."""
    subject = Subject(run)
    with new_file(out, force=force) as draft:
        sections = sections_of(subject)
        draft.write_text(page(subject.alignment.task.name, sections), encoding="utf-8")
    return sections


def sections_of(subject: Subject) -> list[Section]:
    """The sections of the page; those without content for this run are left out."""
    sections: list[Section] = []
    with progress.stage("writing the page", len(SECTIONS)) as advance:
        for section in SECTIONS:
            made = section(subject)
            sections += made if isinstance(made, list) else [] if made is None else [made]
            advance(1)
    return sections


def page(name: str, sections: list[Section]) -> str:
    """A complete HTML document."""
    title = f"Alignment of {name}"
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("title", title),
        element("style", Html(STYLE.read_text(encoding="utf-8"))),
    ]
    links = [element("li", element("a", section.title, href=f"#{section.anchor}")) for section in sections]
    parts = [
        element("section", element("h2", section.title, id=f"{section.anchor}-title"), Html("\n"), section.body,
                id=section.anchor, aria_labelledby=f"{section.anchor}-title")
        for section in sections
    ]  # fmt: skip
    body = [
        element("a", "Skip to the summary", href="#summary", class_="skip"),
        element("header", element("h1", "Alignment of ", element("bdi", name))),
        element("nav", element("ul", joined(links)), aria_label="Contents"),
        element("main", joined(parts)),
        element("footer", element("p", f"Written by multiea {__version__}. This page works offline.")),
    ]
    whole = element("html", element("head", joined(head)), element("body", joined(body)), lang="en")
    return f"<!doctype html>\n{whole}\n"
