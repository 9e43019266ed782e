"""The section about learning: rounds of bootstrapping, or losses and validation scores of a trained encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from multiea.foundation.errors import counted
from multiea.report.charts import Axes, axis_range, chart, line
from multiea.report.markup import (
    Content,
    Html,
    Section,
    as_table,
    collapsible,
    element,
    joined,
    note,
    paragraph,
    percent,
    table,
)
from multiea.report.subject import Subject

MAX_PAIRS = 12  # pairs of KGs whose curves are drawn
VALIDATION_SCORES = ("M-Hits@1", "mean reciprocal rank")


def learning_curves(subject: Subject) -> Section | None:
    """Curves of everything in the history; None if there is nothing to draw."""
    history = subject.alignment.history
    parts = []
    if history.get("rounds"):
        parts += _rounds(history)
    if history.get("losses"):
        parts += _training(history, "")
    pairs: Mapping[str, Mapping[str, Any]] = history.get("pairs", {})
    if pairs:
        shown = list(pairs.items())[:MAX_PAIRS]
        words = f"The encoder was trained on each of {counted(len(pairs), 'pair')} of KGs separately."
        words += f" The first {len(shown)} are shown." if len(shown) < len(pairs) else ""
        parts.append(paragraph(words))
        parts += [collapsible(name, *_training(own, f" ({name})")) for name, own in shown]
    if history.get("interrupted"):
        parts.append(note("Training was interrupted; the best embeddings until then were used."))
    return Section("learning", "Learning curves", joined(parts)) if parts else None


def _rounds(history: Mapping[str, Any]) -> list[Html]:
    rounds: Sequence[Mapping[str, Any]] = history["rounds"]
    numbers = list(range(1, len(rounds) + 1))
    span = (0.5, 1.5) if len(rounds) == 1 else (1.0, float(len(rounds)))
    marks = [one["marks"] for one in rounds]
    axes = Axes(span, axis_range(marks, whole=True), "round", "marks", (True, True))
    drawn = [*axes.drawn(), *line(axes, numbers, marks, "series-0", dots=True)]
    charts = [chart("Marks by round", f"From {marks[0]:,} to {marks[-1]:,} marks.", drawn)]
    f1 = [one["validation_f1"] for one in rounds if one["validation_f1"] is not None]
    if f1:
        axes = Axes(span, (0.0, 1.0), "round", "F1", (True, False))
        words = f"From {f1[0]:.1%} to {f1[-1]:.1%}; the best is {max(f1):.1%}."
        drawn = [*axes.drawn(), *line(axes, numbers, f1, "series-0", dots=True)]
        charts.append(chart("F1 of pairs on validation seeds, by round", words, drawn))
        words = "The rounds are compared by F1 on validation seeds: seeds that have no marks in the rounds."
    else:
        words = "There were too few seeds for validation, so the rounds have no score."
    rows: list[list[Content]] = [
        [number, one["marks"], percent(one["validation_f1"])] for number, one in zip(numbers, rounds, strict=True)
    ]
    numbers_table = table("Rounds of bootstrapping", ["round", "marks", "F1 on validation seeds"], rows)
    text = paragraph(f"{_description_of_marks(history)} {words}")
    return [text, element("div", *charts, class_="charts"), as_table(numbers_table)]


def _description_of_marks(history: Mapping[str, Any]) -> str:
    rounds = history["rounds"]
    final = history.get("marks", rounds[-1]["marks"])
    words = "Propagation spreads marks, one for each group that it learns from. "
    if history.get("bootstrap") == "none":
        return words + f"There was no bootstrapping: only the {final:,} seeds have marks in the final result."
    first = "the seeds and the groups of the previous run" if history.get("warm_start_groups") else "the seeds"
    words += f"In the first round these are {first}. Each round finds groups and selects the confident ones as "
    words += "pseudo-labels; the next round learns from the seeds and these. "
    words += f"After {counted(len(rounds), 'round')}, the final result was computed from {final:,} marks: "
    return words + "all seeds, and the pseudo-labels that the best round selected."


def _training(history: Mapping[str, Any], of_what: str) -> list[Html]:
    """of_what: added to all titles, such as ' (en-fr)'."""
    losses: Sequence[float] = history.get("losses", [])
    if not losses:
        return [paragraph("There are no epochs of training.")]
    best = history.get("best_epoch", len(losses))
    words = f"Training{of_what} took {counted(len(losses), 'epoch')}; the best was epoch {best:,}."
    if parameters := history.get("parameters"):
        words += f" The encoder has {parameters:,} parameters."
    span = (0.0, float(len(losses)))
    axes = Axes(span, axis_range(losses), "epoch", "loss", (True, False))
    drawn = [*axes.drawn(), *line(axes, list(range(1, len(losses) + 1)), losses, "series-0")]
    charts = [chart(f"Loss by epoch{of_what}", f"From {losses[0]:,.3g} to {losses[-1]:,.3g}.", drawn)]
    validation = sorted((int(epoch), score) for epoch, score in history.get("validation", {}).items())
    if validation:
        charts.append(_validation(validation, span, of_what))
    return [paragraph(words), element("div", *charts, class_="charts")]


def _validation(validation: list[tuple[int, Sequence[float]]], span: tuple[float, float], of_what: str) -> Html:
    axes = Axes(span, (0.0, 1.0), "epoch", "score", (True, False))
    parts, legend = axes.drawn(), []
    epochs = [epoch for epoch, _ in validation]
    for number, name in enumerate(VALIDATION_SCORES[: min(len(score) for _, score in validation)]):
        values = [score[number] for _, score in validation]
        parts += line(axes, epochs, values, f"series-{number}", dots=True)
        legend.append((f"series-{number}", name))
    words = f"Scores on validation seeds, computed after {counted(len(validation), 'epoch')}."
    return chart(f"Validation by epoch{of_what}", words, parts, legend)
