"""The whole page: its parts in order, and the file it becomes."""

from __future__ import annotations

from pathlib import Path

from multiea.foundation import progress
from multiea.foundation.atomic_files import new_file
from multiea.foundation.version import __version__
from multiea.report.certain_groups import certain_groups
from multiea.report.course import course
from multiea.report.embedding_map import embedding_map
from multiea.report.markup import Html, Section, element, joined
from multiea.report.overview import kgs, overlap, summary
from multiea.report.rerun import rerun
from multiea.report.scores import confidences, scores
from multiea.report.subject import Subject
from multiea.report.unmatched import left_alone
from multiea.runs.run import Run

STYLE = Path(__file__).with_name("style.css")
# Nothing may be loaded or run, whatever the data holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
PARTS = (summary, kgs, overlap, confidences, scores, course, embedding_map, certain_groups, left_alone, rerun)


def write_report(run: Run, out: Path, *, force: bool = False) -> list[Section]:
    """Writes the page about a run and returns its sections."""
    subject = Subject(run)
    with new_file(out, force=force) as draft:
        sections = sections_of(subject)
        draft.write_text(page(subject.alignment.task.name, sections), encoding="utf-8")
    return sections


def sections_of(subject: Subject) -> list[Section]:
    """The parts of the page that this alignment has something to say in."""
    sections: list[Section] = []
    with progress.stage("making the page", len(PARTS)) as advance:
        for part in PARTS:
            made = part(subject)
            sections += made if isinstance(made, list) else [] if made is None else [made]
            advance(1)
    return sections


def page(name: str, sections: list[Section]) -> str:
    """A whole HTML document."""
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
        element("footer", element("p", f"Made by multiea {__version__}. This page needs nothing but itself.")),
    ]
    whole = element("html", element("head", joined(head)), element("body", joined(body)), lang="en")
    return f"<!doctype html>\n{whole}\n"
