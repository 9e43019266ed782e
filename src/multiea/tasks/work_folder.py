"""The work folder: where shards are. A folder that the user names stays, so that an interrupted run can go on in it."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multiea.foundation.atomic_files import new_file
from multiea.foundation.errors import InputError, OutputError, SettingError
from multiea.foundation.locked_folder import is_unused, locked
from multiea.foundation.version import __version__
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.node_facts import source_hash

MARKER = "multiea-work.json"
SHOWN = 3  # differences in an error
PACKAGE = Path(__file__).parents[1]


class WorkFolder:
    """path: exists once something needs it. is_named: whether the user named it; it then stays at the end."""

    def __init__(self, path: Path, *, is_named: bool) -> None:
        self.path, self.is_named = path, is_named
        self.shards = FolderShards(path / "shards")

    def make(self) -> Path:
        """Creates the folder where it is missing."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise OutputError(
                f"cannot write to {self.path.parent}: {error.strerror}; choose another --work-folder"
            ) from None
        return self.path

    def claim(self, identity: Mapping[str, Any]) -> None:
        """Marks a named folder as that of these data and settings; refuses one of others.

        identity: texts by what they identify, in groups, such as {"KG": {"en": "3f.."}, "setting": {"engine": ".."}}.
        """
        if not self.is_named:
            return
        marker = self.make() / MARKER
        program = {"version": __version__, "source": source_hash(PACKAGE)}
        own = json.loads(json.dumps({"program": program, **identity}))
        if not marker.is_file():
            with new_file(marker) as draft:
                draft.write_text(json.dumps(own, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        try:
            there = json.loads(marker.read_text(encoding="utf-8"))
            differences = [
                f"{kind} {name}"
                for kind in dict.fromkeys([*own, *there])
                for name in dict.fromkeys([*own.get(kind, {}), *there.get(kind, {})])
                if own.get(kind, {}).get(name) != there.get(kind, {}).get(name)
            ]
        except (ValueError, AttributeError):
            raise InputError("damaged", path=marker, expected="the file as written", hint="Remove the folder") from None
        if differences:
            more = f" and {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
            raise SettingError(
                f"{self.path} is the work folder of another run: {', '.join(differences[:SHOWN])}{more} differ; "
                "choose another, or remove it"
            )
        self.shards.remove_drafts()


@contextmanager
def work_folder(named: Path | None, beside: Path | None = None) -> Iterator[WorkFolder]:
    """The folder that the user named, or a temporary one that is removed at the end.

    beside: where the output will be; a temporary folder is made next to it, on the same file system.
    """
    if named is None:
        with _temporary(beside) as folder:
            yield folder
        return
    path = named.absolute()
    if path.exists() and not path.is_dir():
        raise OutputError(f"{named} is a file; choose a folder as --work-folder")
    if path.is_dir() and not (path / MARKER).is_file() and not is_unused(path):
        raise OutputError(f"{named} exists and is not a work folder; choose a new or empty one")
    existed = path.is_dir()
    folder = WorkFolder(path, is_named=True)
    try:
        with locked(folder.make(), f"another process works in {named}; wait for it, or choose another --work-folder"):
            yield folder
    finally:
        if not existed and not (path / MARKER).is_file():  # nothing was begun
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _temporary(beside: Path | None) -> Iterator[WorkFolder]:
    place = Path(tempfile.gettempdir(), "multiea") if beside is None else beside.absolute()
    parent = next(one for one in place.parents if one.is_dir())
    folder = WorkFolder(parent / f".{place.name}.{secrets.token_hex(6)}.work", is_named=False)
    try:
        yield folder
    finally:
        shutil.rmtree(folder.path, ignore_errors=True)
