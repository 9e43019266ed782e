"""A study folder: whose study it is, one process at a time, and the files that a user reads."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from multiea.data.task import Task
from multiea.foundation.atomic_files import new_file, new_folder, refuse_existing
from multiea.foundation.errors import InputError, OutputError, SettingError
from multiea.foundation.locked_folder import locked
from multiea.foundation.version import __version__
from multiea.runs.content_hashes import hash_of_content, hash_of_groups
from multiea.settings.fields import without_none
from multiea.settings.parsing import toml_value
from multiea.settings.tree import AlignSettings
from multiea.tuning.search_space import SearchSpace, search_file

log = logging.getLogger("multiea")
MARKER, DATABASE = "study.json", "study.sqlite"
CONFIG, SEARCH, TRIALS, BEST = "config.toml", "search.toml", "trials.tsv", "best.toml"
SHOWN = 5  # differences in an error
MAY_DIFFER = ("device",)  # settings that hardly change a result


@dataclass(frozen=True)
class Identity:
    """What a study belongs to: the KGs and seeds by hashes, settings and search space by dotted key."""

    kgs: Mapping[str, str]
    seeds: Mapping[str, Any]
    settings: Mapping[str, Any]
    search: Mapping[str, Any]

    @classmethod
    def of(cls, task: Task, settings: AlignSettings, space: SearchSpace) -> Identity:
        """The identity of a study; held-out groups and the place of the data set are no part of it."""
        own = {k: v for k, v in settings.flat().items() if not k.startswith("data.") and k not in MAY_DIFFER}
        known = {"seeds": task.seeds, "validation groups": task.validation}
        hashes = {
            name: {"groups": len(groups), "hash": hash_of_groups(groups.to_table(task.kgs))}
            for name, groups in known.items()
        }
        search = {name: domain.to_dict() for name, domain in space.items()}
        own, search = json.loads(json.dumps([own, search]))  # lists for tuples, as a file has them
        return cls({kg.name: hash_of_content(kg) for kg in task.kgs}, hashes, own, search)

    def differences(self, study: Identity) -> list[str]:
        """What is other than in a study, in words; settings and search space only where the data is the same."""
        if set(self.kgs) != set(study.kgs):
            return [f"its KGs are {', '.join(study.kgs)}, not {', '.join(self.kgs)}"]
        words = [f"KG {name} has changed" for name, content in self.kgs.items() if study.kgs[name] != content]
        for name, own in self.seeds.items():
            there = study.seeds[name]
            if own != there:
                words.append(f"its {there['groups']:,} {name} are not the {own['groups']:,} given")
        words += _differing("", self.settings, study.settings)
        return words + _differing("search of ", self.search, study.search)


def check_study_folder(out: Path) -> None:
    """Raises an error early, before data is read, if a folder is neither new, empty nor a study."""
    if out.is_dir() and any(out.iterdir()):
        missing = [name for name in (MARKER, DATABASE) if not (out / name).is_file()]
        if len(missing) == 2:
            raise OutputError(f"{out} exists and is not a study; choose another folder")
        if missing:
            hint = "Remove the folder and tune again"
            raise InputError(f"no {missing[0]}", path=out, expected="a study as written", hint=hint)
        if not os.access(out, os.W_OK):
            raise OutputError(f"cannot write to {out}; copy the study to another folder")
        return
    refuse_existing(out, "study")


@contextmanager
def study_folder(out: Path, task: Task, settings: AlignSettings, space: SearchSpace) -> Iterator[Path]:
    """A new study folder, or one of the same data and settings, kept from other processes. Yields its database."""
    check_study_folder(out)
    identity = Identity.of(task, settings, space)
    if not (out / MARKER).is_file():
        with new_folder(out, "study") as draft:
            content = {"multiea": __version__} | vars(identity)
            (draft / MARKER).write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            (draft / CONFIG).write_text(tomli_w.dumps(without_none(settings.recorded())), encoding="utf-8")
            (draft / SEARCH).write_text(search_file(space), encoding="utf-8")
            (draft / DATABASE).touch()  # empty files are valid
    with locked(out, f"another process is tuning in {out}; wait for it, or choose another", MARKER):
        _check_same(out, identity)
        yield out / DATABASE


def write_trials(out: Path, table: pl.DataFrame) -> None:
    """Writes all trials."""
    with new_file(out / TRIALS, force=True) as draft:
        table.write_csv(draft, separator="\t")


def write_best(out: Path, settings: AlignSettings, note: str) -> None:
    """Writes the settings of the best trial, with a note above them."""
    lines = [f"# {line}" for line in note.splitlines()]
    with new_file(out / BEST, force=True) as draft:
        text = "\n".join(lines) + "\n\n" + tomli_w.dumps(without_none(settings.recorded()))
        draft.write_text(text, encoding="utf-8")


def _check_same(out: Path, identity: Identity) -> None:
    try:
        content = json.loads((out / MARKER).read_text(encoding="utf-8"))
        version = content.pop("multiea")
        differences = identity.differences(Identity(**content))
    except (ValueError, TypeError, LookupError, AttributeError):
        hint = "Remove the folder and tune again"
        raise InputError("damaged", path=out / MARKER, expected="the file as written", hint=hint) from None
    if differences:
        more = f"; and {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
        raise SettingError(
            f"{out} is a study of other data or settings: {'; '.join(differences[:SHOWN])}{more}. Choose another "
            f"folder, or give what {CONFIG} and {SEARCH} in it say"
        )
    if version != __version__:
        log.warning("%s was begun by multiea %s, this is %s: trials may not compare", out, version, __version__)


def _differing(what: str, own: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    return [
        f"{what}{key} is {_shown(there.get(key))}, not {_shown(own.get(key))}"
        for key in dict.fromkeys([*there, *own])
        if own.get(key) != there.get(key)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {toml_value(one)}' for key, one in value.items())}}}"
    return "not set" if value is None else toml_value(value)
