"""How the run went: rounds of bootstrapping, or losses and validation of a trained encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from multiea.foundation.errors import counted
from multiea.report.charts import Axes, chart, line, room_for
from multiea.report.markup import Content, Html, Section, element, folded, joined, paragraph, table
from multiea.report.subject import Subject

MOST_PAIRS = 12  # of KGs trained alone that are drawn
VALIDATION = ("M-Hits@1", "mean reciprocal rank")


def course(subject: Subject) -> Section | None:
    """Curves of what the history holds; nothing where it holds none."""
    history = subject.alignment.history
    parts = []
    if history.get("rounds"):
        parts.append(_rounds(history))
    if history.get("losses"):
        parts += _training(history, "")
    of_pairs: Mapping[str, Mapping[str, Any]] = history.get("pairs", {})
    if of_pairs:
        shown = list(of_pairs.items())[:MOST_PAIRS]
        parts.append(paragraph(f"The encoder was trained for each of {counted(len(of_pairs), 'pair')} of KGs alone."))
        if len(shown) < len(of_pairs):
            parts.append(paragraph(f"The first {len(shown)} are shown."))
        parts += [folded(name, *_training(own, f" ({name})")) for name, own in shown]
    if history.get("interrupted"):
        parts.append(paragraph("Training was interrupted; what was best until then was used.", class_="note"))
    return Section("course", "Course of the run", joined(parts)) if parts else None


def _rounds(history: Mapping[str, Any]) -> Html:
    rounds = history["rounds"]
    numbers = list(range(1, len(rounds) + 1))
    labels = [one["marks"] for one in rounds]
    f1 = [one["validation_f1"] for one in rounds if one["validation_f1"] is not None]
    words = _words_of_rounds(history)
    span = (0.5, len(rounds) + 0.5) if len(rounds) == 1 else (1.0, float(len(rounds)))
    label_axes = Axes(span, room_for(labels, whole=True), "round", "labels", (True, True))
    f1_axes = Axes(span, (0.0, 1.0), "round", "F1", (True, False))
    charts = [
        chart(
            "Labels by round",
            f"From {labels[0]:,} to {labels[-1]:,} labels.",
            [*label_axes.drawn(), *line(label_axes, numbers, labels, "series-0", dots=True)],
        ),
    ]
    if f1:
        charts.append(
            chart(
                "F1 of pairs on seeds held back, by round",
                f"From {f1[0]:.1%} to {f1[-1]:.1%}; at best {max(f1):.1%}.",
                [*f1_axes.drawn(), *line(f1_axes, numbers, f1, "series-0", dots=True)],
            )
        )
        words += " Some seeds were held back, not used as labels, to judge the rounds by."
    else:
        words += " There were too few seeds to hold some back and judge a round by them."
    told = [f"{one['validation_f1']:.1%}" if f1 else "-" for one in rounds]
    rows: list[list[Content]] = [[number, one["marks"], judged]
                                 for number, one, judged in zip(numbers, rounds, told, strict=True)]  # fmt: skip
    table_of_rounds = table("Rounds of bootstrapping", ["round", "labels", "F1 on seeds held back"], rows)
    drawn = element("div", *charts, class_="charts")
    return joined([paragraph(words), drawn, folded("The same as numbers", table_of_rounds)])


def _words_of_rounds(history: Mapping[str, Any]) -> str:
    rounds = history["rounds"]
    used = history.get("marks", rounds[-1]["marks"])
    words = "Labels are the groups that a round takes for known. "
    if history.get("bootstrap") == "none":
        return words + f"There was no bootstrapping: the {used:,} seeds were the only labels of the result."
    first = "seeds and the groups of the run this one grew from" if history.get("warm_start_groups") else "seeds"
    words += f"At first these are {first}; bootstrapping adds, round by round, what was just found and is sure enough. "
    words += f"After {counted(len(rounds), 'round')} the result was made with {used:,} labels: "
    return words + "all seeds, and what was sure enough in the best round."


def _training(history: Mapping[str, Any], of_what: str) -> list[Html]:
    losses: Sequence[float] = history.get("losses", [])
    if not losses:
        return [paragraph("Nothing was trained.")]
    best = history.get("best_epoch", len(losses))
    epochs = list(range(1, len(losses) + 1))
    span = (0.0, float(len(losses)))
    words = f"Training{of_what} took {counted(len(losses), 'epoch')}; epoch {best:,} was best"
    parameters = history.get("parameters")
    words += f", with {parameters:,} parameters." if parameters else "."
    axes = Axes(span, room_for(losses), "epoch", "loss", (True, False))
    drawn = line(axes, epochs, losses, "series-0")
    told = f"From {losses[0]:,.3g} to {losses[-1]:,.3g}."
    charts = [chart(f"Loss by epoch{of_what}", told, [*axes.drawn(), *drawn])]
    looks = sorted((int(epoch), score) for epoch, score in history.get("validation", {}).items())
    if looks:
        axes = Axes(span, (0.0, 1.0), "epoch", "score", (True, False))
        parts, legend = axes.drawn(), []
        for number, name in enumerate(VALIDATION[: min(len(score) for _, score in looks)]):
            values = [score[number] for _, score in looks]
            parts += line(axes, [epoch for epoch, _ in looks], values, f"series-{number}", dots=True)
            legend.append((f"series-{number}", name))
        told = f"Scores on seeds set aside, looked at {counted(len(looks), 'time')}."
        charts.append(chart(f"Validation by epoch{of_what}", told, parts, legend))
    return [paragraph(words), element("div", *charts, class_="charts")]
