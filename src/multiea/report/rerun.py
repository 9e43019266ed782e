"""How to make the run again: the commands, and all its settings."""

from __future__ import annotations

import shlex

from multiea.report.markup import Content, Html, Section, element, folded, joined, paragraph, table
from multiea.report.subject import Subject
from multiea.settings.parsing import GivenValue
from multiea.settings.tree import AlignSettings, option_keys

UNKNOWN_DATA, UNKNOWN_RUN = "DATASET", "RUN"


def rerun(subject: Subject) -> Section:
    """The commands that lead to this page, and every setting of the run."""
    settings = subject.alignment.settings
    values = settings.flat()
    run = UNKNOWN_RUN if subject.run.folder is None else subject.run.folder
    commands = [align_command(subject), ["multiea", "evaluate", run], ["multiea", "report", run, "--force"]]
    parts = [element("pre", element("code", joined(map(_command, commands))))]
    if not settings.data.source:
        note = f"The run does not record its data set: replace {UNKNOWN_DATA} by its folder."
        parts.append(paragraph(note, class_="note"))
    if without_option := settings_without_option(settings):
        note = "Some settings differ from their defaults and have no option of their own; use --config or --set: "
        parts.append(paragraph(note + ", ".join(f"{key} = {values[key]}" for key in without_option), class_="note"))
    rows: list[list[Content]] = [[element("code", key), element("bdi", _shown(value))] for key, value in values.items()]
    all_settings = table("Settings of the run", ["setting", "value"], rows, words=2)
    parts.append(folded("All settings", all_settings))
    return Section("again", "Settings, and how to run it again", joined(parts))


def align_command(subject: Subject) -> list[str]:
    """The words of `multiea align` that make the same run in a new folder."""
    values, run = subject.alignment.settings.flat(), subject.run.folder or UNKNOWN_RUN
    out = f"{run.rstrip('/')}-again"
    if "data.grown_from" in values:
        return ["multiea", "align", "--config", run, "--out", out]
    words = ["multiea", "align", *(values["data.source"] or [UNKNOWN_DATA]), "--out", out]
    for option, key in option_keys().items():
        value = values.get(key)
        if isinstance(value, list | tuple):
            words += [word for one in value for word in (option, str(one))]
        elif value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words


def settings_without_option(settings: AlignSettings) -> list[str]:
    """The keys whose values the options of the command line cannot set."""
    keys, values = set(option_keys().values()), settings.flat()
    given = [GivenValue(key, value, key) for key, value in values.items() if key in keys and not _is_data(key)]
    by_options = AlignSettings.from_given(given, engine_may_be_unknown=True).flat()
    return [key for key, value in values.items() if not _is_data(key) and value != by_options.get(key)]


def _is_data(key: str) -> bool:
    return key.startswith("data.")


def _command(words: list[str]) -> Html:
    """A command as one types it; a narrow screen breaks it between options, not after their dashes."""
    first, *options = shlex.join(words).split(" --")
    return Html(" ".join(element("span", part) for part in (first, *(f"--{option}" for option in options))))


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
