"""How to make the run again: the commands, and all its settings."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from multiea.foundation.errors import MultiEAError
from multiea.report.markup import Content, Html, Section, element, folded, joined, paragraph, table
from multiea.report.subject import Subject

UNKNOWN_DATA, UNKNOWN_RUN = "DATASET", "RUN"
OPTIONS = {  # where each setting stands, and the option that sets it
    "data.seeds": "--seeds", "data.train_ratio": "--train-ratio", "data.lenient": "--lenient", "engine": "--engine",
    "bootstrap.pool": "--bootstrap", "fusion_weight": "--fusion-weight", "training.strategy": "--strategy",
    "training.anchor": "--anchor", "training.epochs": "--epochs", "pairwise": "--pairwise",
    "duplicates": "--duplicates", "enhancement.mode": "--enhancement", "random_state": "--random-state",
    "device": "--device",
}  # fmt: skip


def again(subject: Subject) -> Section:
    """The commands that lead to this page, and every setting of the run."""
    settings = dict(_flat(subject.alignment.settings))
    parts = []
    if not settings:
        parts.append(paragraph("The alignment does not say how it was made.", class_="note"))
    run = UNKNOWN_RUN if subject.run is None else subject.run
    commands = [align_command(subject)] if settings else []
    commands += [["multiea", "evaluate", run], ["multiea", "report", run, "--force"]]
    parts.append(element("pre", element("code", joined(map(_command, commands)))))
    if "data.source" not in settings:
        told = f"The run does not say which data set it was made of: put its folder in the place of {UNKNOWN_DATA}."
        parts.append(paragraph(told, class_="note"))
    if only_in_python := beyond_options(subject.alignment.settings):
        told = "Some settings were given in Python and have no option on the command line: "
        parts.append(
            paragraph(told + ", ".join(f"{name} = {settings[name]}" for name in only_in_python), class_="note")
        )
    rows: list[list[Content]] = [
        [element("code", name), element("bdi", _shown(value))] for name, value in settings.items()
    ]
    if rows:
        made = table("Settings of the run", ["setting", "value"], rows, words=2)
        parts.append(folded("All settings", made))
    return Section("again", "Settings, and how to run it again", joined(parts))


def align_command(subject: Subject) -> list[str]:
    """The words of `multiea align` that make the same run in a new folder."""
    settings = dict(_flat(subject.alignment.settings))
    if "data.grown_from" in settings:
        run = subject.run or UNKNOWN_RUN
        return ["multiea", "align", "--config", run, "--out", f"{run.rstrip('/')}-again"]
    words = ["multiea", "align", *(str(part) for part in settings.get("data.source", [UNKNOWN_DATA]))]
    words += ["--out", f"{(subject.run or UNKNOWN_RUN).rstrip('/')}-again"]
    for name, option in OPTIONS.items():
        value = settings.get(name)
        if isinstance(value, list | tuple):
            words += [word for one in value for word in (option, str(one))]
        elif value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words


def _command(words: list[str]) -> Html:
    """A command as one types it; a narrow screen breaks it between options, not after their dashes."""
    first, *options = shlex.join(words).split(" --")
    return Html(" ".join(element("span", part) for part in (first, *(f"--{option}" for option in options))))


def beyond_options(settings: Mapping[str, Any]) -> list[str]:
    """Settings that differ from what the command above would use, since no option sets them."""
    from multiea.engines.propagation import Propagation
    from multiea.pipeline.bootstrapping import HELD_BACK, Bootstrapping
    from multiea.settings.how import default_enhancement, usual_training

    try:
        engine = settings["engine"]
        training = usual_training(engine)
        if "+" in engine:
            training = replace(training, validation_ratio=max(training.validation_ratio, HELD_BACK))
        usual = {
            "enhancement": asdict(default_enhancement(engine, settings["enhancement"]["mode"])),
            "propagation": asdict(Propagation()),
            "bootstrap": asdict(Bootstrapping()),
            "training": asdict(training),
        }
    except (LookupError, TypeError, MultiEAError):
        return []  # made by another version: what it used is in the table all the same
    expected = dict(_flat(usual))
    used = _flat({name: settings[name] for name in usual if name in settings})
    return [name for name, value in used if name not in OPTIONS and _shown(value) != _shown(expected.get(name))]


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by their whole name: training.epochs."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif value is not None:
            yield before + name, value


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
