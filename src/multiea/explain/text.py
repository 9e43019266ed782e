"""An explanation as text: a sentence, and tables of steps, rivals, members and candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from rich.cells import cell_len

from multiea.explain.facts import Entity, quoted

if TYPE_CHECKING:
    from multiea.explain.explanation import Candidate, Explanation, Step

Row = TypeVar("Row")
MOST_ROWS, SHOWN_ROWS = 15, 10  # of a table; of more rows a few are shown
WIDTH = 24  # characters of the widest bar
FULL, EMPTY = "█", "░"  # a step that adds, a step that takes away


@dataclass(frozen=True)
class TextTable:
    """A table to print; the first `words` columns are text, the others numbers."""

    title: str
    header: list[str]
    rows: list[list[str]]
    words: int


def heading(explanation: Explanation) -> list[str]:
    """The lines above the tables."""
    return [" and ".join(str(entity) for entity in explanation.entities), explanation.verdict]


def text_tables(explanation: Explanation) -> list[TextTable]:
    """The tables of an explanation; empty ones are left out."""
    made = [
        _waterfall(explanation),
        _candidates("Best rivals", explanation.rivals),
        _members(explanation),
        _pairs(explanation),
        _candidates("Best candidates in KGs where it has no counterpart", explanation.candidates),
        _refusals(explanation),
    ]
    return [table for table in made if table.rows]


def bars(steps: Sequence[Step], width: int = WIDTH) -> list[str]:
    """One bar per step; each begins where the one before it ends, all on one scale."""
    levels = [0.0]
    for step in steps:
        levels.append(levels[-1] + step.log_odds)
    low, high = min(levels), max(levels)
    scale = width / max(high - low, 1e-9)
    drawn = []
    for before, after in pairwise(levels):
        start, end = (round((level - low) * scale) for level in sorted((before, after)))
        drawn.append((" " * start + (FULL if after >= before else EMPTY) * (end - start)).ljust(width))
    return drawn


def _waterfall(explanation: Explanation) -> TextTable:
    rows = []
    for step, bar in zip(explanation.steps, bars(explanation.steps), strict=True):
        reasons = [step.note, *map(str, step.facts)]
        reasons = [reason for reason in reasons if reason] or [""]
        rows.append([step.name, f"{step.log_odds:+7.2f}", bar, reasons[0]])
        rows += [["", "", "", reason] for reason in reasons[1:]]
    if rows and explanation.confidence is not None:
        rows.append(["total", f"{explanation.log_odds:+7.2f}", "", f"confidence {written(explanation.confidence)}"])
    title = "Log-odds, step by step" if explanation.confidence is not None else "What the evidence says, in log-odds"
    return TextTable(title, ["step", "log-odds", "", "because"], rows, 4)


def _candidates(title: str, candidates: Sequence[Candidate]) -> TextTable:
    kinds = list(dict.fromkeys(kind for one in candidates for kind in one.evidence))
    title, candidates = _shortened(title, "best", candidates, lambda one: -one.score)
    rows = [
        [
            _short(one.of),
            _short(one.entity),
            "-" if one.partner is None else _short(one.partner),
            f"{one.score:.3f}",
            *(f"{one.evidence[kind]:+.2f}" if kind in one.evidence else "-" for kind in kinds),
        ]
        for one in candidates
    ]
    return TextTable(title, ["of", "candidate", "in a group with", "score", *kinds], rows, 3)


def _refusals(explanation: Explanation) -> TextTable:
    refused = [one for one in explanation.candidates if one.reason]
    title = "Why the best candidate of each KG is not taken"
    title, refused = _shortened(title, "best", refused, lambda one: -one.score)
    return TextTable(title, ["candidate", "reason"], [[_short(one.entity), one.reason] for one in refused], 2)


def _members(explanation: Explanation) -> TextTable:
    title = f"Members of group {explanation.group_id}"
    title, members = _shortened(title, "least confident", explanation.members, lambda one: one.confidence)
    rows = [[_short(one.entity), one.status, written(one.confidence)] for one in members]
    return TextTable(title, ["member", "status", "confidence"], rows, 2)


def _pairs(explanation: Explanation) -> TextTable:
    pairs = explanation.pairs
    names = list(dict.fromkeys(name for pair in pairs for name in pair.log_odds))
    title, shown = _shortened("Its pairs: log-odds by step", "least confident", pairs, lambda pair: pair.confidence)
    rows = [
        [
            _short(pair.left),
            _short(pair.right),
            "yes" if pair.is_matched else "no",
            *(f"{pair.log_odds[name]:+.2f}" if name in pair.log_odds else "-" for name in names),
            written(pair.confidence),
        ]
        for pair in shown
    ]
    if len(shown) < len(pairs):
        medians = [median(pair.log_odds[name] for pair in pairs if name in pair.log_odds) for name in names]
        matched = f"{sum(pair.is_matched for pair in pairs):,} of {len(pairs):,}"
        confidence = written(median(pair.confidence for pair in pairs))
        rows.append(["median of all", "", matched, *(f"{value:+.2f}" for value in medians), confidence])
    header = ["", "", "best match", *names, "confidence"]
    return TextTable(title, header, rows, 3)


def _shortened(
    title: str, which: str, all_of_them: Sequence[Row], key: Callable[[Row], float]
) -> tuple[str, list[Row]]:
    """The rows of a table with its title; of very many the first few by the key, and the title says which."""
    if len(all_of_them) <= MOST_ROWS:
        return title, list(all_of_them)
    return f"{title} (the {SHOWN_ROWS} {which} of {len(all_of_them):,})", sorted(all_of_them, key=key)[:SHOWN_ROWS]


def notes(explanation: Explanation) -> list[str]:
    """What is said below the tables."""
    lengths = map(len, (explanation.members, explanation.pairs, explanation.candidates, explanation.rivals))
    if max(lengths) <= MOST_ROWS:
        return list(explanation.notes)
    return [*explanation.notes, "shortened: --json (as_dict() in Python) has all; name two entities to see one pair"]


def written(confidence: float) -> str:
    """A confidence with as many digits as tell it from one."""
    return f"{confidence:.3f}" if confidence < 0.9995 else ">0.999"


def _short(entity: Entity) -> str:
    own = f"{entity.kg}/{entity.id}"
    return f"{entity.kg}: {quoted(entity.name)[1:-1]}" if entity.name != entity.id else own


def as_text(explanation: Explanation) -> str:
    """All of it as plain text."""
    parts = ["\n".join(heading(explanation))]
    for table in text_tables(explanation):
        cells = [table.header, *table.rows]
        widths = [max(cell_len(row[at]) for row in cells) for at in range(len(table.header))]
        lines = ["  ".join(_padded(row, widths, table.words)).rstrip() for row in cells]
        parts.append("\n".join([table.title, *lines]))
    if below := notes(explanation):
        parts.append("\n".join(below))
    return "\n\n".join(parts)


def _padded(row: Sequence[str], widths: Sequence[int], words: int) -> list[str]:
    gaps = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    return [cell + gap if at < words else gap + cell for at, (cell, gap) in enumerate(zip(row, gaps, strict=True))]
