"""The section about repeating the run: the commands, and all settings."""

from __future__ import annotations

import shlex

from multiea.report.markup import Content, Html, Section, collapsible, element, joined, note, table
from multiea.report.subject import Subject
from multiea.settings.parsing import GivenValue
from multiea.settings.tree import AlignSettings, option_keys

UNKNOWN_DATA, UNKNOWN_RUN = "DATASET", "RUN"
NAMED_BY_COMMAND = ("data.name", "data.source")


def rerun(subject: Subject) -> Section:
    """The commands that produce this page, and all settings of the run."""
    settings = subject.alignment.settings
    values = settings.flat()
    run = UNKNOWN_RUN if subject.run.folder is None else subject.run.folder
    commands = [align_command(subject), ["multiea", "evaluate", run], ["multiea", "report", run, "--force"]]
    parts = [element("pre", element("code", joined(map(_command, commands))))]
    if not settings.data.source:
        parts.append(note(f"The run does not record its data set: replace {UNKNOWN_DATA} with its folder."))
    if without_option := settings_without_option(settings):
        listed = ", ".join(f"{key} = {values[key]}" for key in without_option)
        parts.append(note(f"These settings differ from their defaults; set them with --config or --set: {listed}"))
    rows: list[list[Content]] = [
        [element("code", key), element("bdi", _as_text(value))] for key, value in values.items()
    ]
    all_settings = table("Settings of the run", ["setting", "value"], rows, text_columns=2)
    parts.append(collapsible("All settings", all_settings))
    return Section("settings", "Settings and commands to repeat the run", joined(parts))


def align_command(subject: Subject) -> list[str]:
    """The arguments of `multiea align` that repeat the run in a new folder."""
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
    """The keys of settings whose values the printed command does not set."""
    if settings.data.grown_from is not None:
        return []  # the command takes all settings from the run
    keys, values = {*option_keys().values(), *NAMED_BY_COMMAND}, settings.flat()
    given = [GivenValue(key, value, key) for key, value in values.items() if key in keys]
    by_options = AlignSettings.from_given(given, engine_may_be_unknown=True).flat()
    return [key for key, value in values.items() if value != by_options.get(key)]


def _command(words: list[str]) -> Html:
    """A command as typed; a narrow screen breaks the line between options, not inside one."""
    first, *options = shlex.join(words).split(" --")
    return Html(" ".join(element("span", part) for part in (first, *(f"--{option}" for option in options))))


def _as_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
