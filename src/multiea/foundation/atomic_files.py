"""Atomic writing: a result appears complete or not at all."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from multiea.foundation.errors import OutputError

log = logging.getLogger("multiea")
OS_ERROR = re.compile(r"([^:]+?) \(os error \d+\)")
# The files of a run folder. Other files in it belong to the user and are kept when the run is replaced.
RUN_FILES = {
    *("config.toml", "manifest.json", "metrics.json", "embeddings.safetensors", "report.html", "open_seeds.jsonl"),
    *("entities.parquet", "groups.parquet", "pairs.parquet"),
    *("seeds.tsv", "held_out.tsv", "validation.tsv", "groups.tsv", "lineage.tsv"),
}
# The files by which a folder of each kind is recognised: --force replaces only a folder of the same kind.
MARKER_FILES = {
    "run": ("manifest.json",),
    "data set": ("groups.tsv", "seeds.tsv"),
    "folder of alignments": ("*.rdf",),
    "study": ("study.json",),
}


def refuse_existing(out: Path, kind: str, *, force: bool = False) -> None:
    """Raises an error early, before long work, if a folder cannot be written to."""
    parent = next((parent for parent in out.absolute().parents if parent.exists()), Path("/"))
    if not os.access(parent, os.W_OK):
        raise OutputError(f"cannot write to {parent}; choose another folder")
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another folder to write to")
    if out.is_dir() and Path.cwd().resolve().is_relative_to(out.resolve()):
        raise OutputError(f"{out} contains the current folder; choose another folder to write to")
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not force:
        raise OutputError(
            f"{out} exists and is not empty; choose another folder, or replace it with --force (force=True in Python)"
        )
    if not any(any(out.glob(name)) for name in MARKER_FILES[kind]):
        raise OutputError(f"{out} is not a {kind}; remove it yourself, or choose another folder")


@contextmanager
def new_folder(out: Path, kind: str, *, force: bool = False) -> Iterator[Path]:
    """A temporary folder that becomes `out` on success. On failure it is removed and `out` stays unchanged.

    An `out` that exists and is not empty is replaced only with force, and only if it is of the same kind (a key of
    MARKER_FILES).
    """
    refuse_existing(out, kind, force=force)
    place = out.resolve()  # follows symbolic links
    draft = _draft_path(place)
    try:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            draft.mkdir(mode=0o700)
        except OSError as error:
            raise OutputError(f"cannot write to {place.parent}: {error.strerror}; choose another folder") from None
        yield draft
        draft.chmod(0o777 & ~_umask())
        refuse_existing(out, kind, force=force)  # it may have been created in the meantime
        old = draft.with_suffix(".old")
        if place.exists():
            place.rename(old)
        try:
            draft.rename(place)
        except OSError:
            if old.exists():
                old.rename(place)
            raise
        if kind == "run" and old.exists():
            _keep_user_files(old, place)
        shutil.rmtree(old, ignore_errors=True)
        if old.exists():
            log.warning("the previous content of %s could not be removed and is now in %s", out, old)
    except Exception as error:
        raise _as_output_error(error, draft, out) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def new_file(out: Path, *, force: bool = False) -> Iterator[Path]:
    """A temporary file that becomes `out` on success. On failure it is removed and `out` stays unchanged."""
    refuse_existing_file(out, force=force)
    place = out.resolve()
    draft = _draft_path(place)
    try:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            draft.touch(mode=0o600, exist_ok=False)
        except OSError as error:
            raise OutputError(f"cannot write to {place.parent}: {error.strerror}; choose another place") from None
        yield draft
        draft.chmod(0o666 & ~_umask())
        refuse_existing_file(out, force=force)
        draft.replace(place)
    except Exception as error:
        raise _as_output_error(error, draft, out) from None
    finally:
        draft.unlink(missing_ok=True)


def _draft_path(place: Path) -> Path:
    """A hidden place beside the output, known before it is created: an interruption at any moment can remove it."""
    return place.with_name(f".{place.name}.{secrets.token_hex(6)}.partial")


def refuse_existing_file(out: Path, *, force: bool = False) -> None:
    """Raises an error early, before long work, if a file cannot be written."""
    if out.is_dir():
        raise OutputError(f"{out} is a folder; choose a file to write to")
    if out.exists() and not force:
        raise OutputError(f"{out} exists; choose another file, or replace it with --force (force=True in Python)")
    parent = next((parent for parent in out.absolute().parents if parent.exists()), Path("/"))
    if not os.access(parent, os.W_OK):
        raise OutputError(f"cannot write to {parent}; choose another place")


def _keep_user_files(old: Path, place: Path) -> None:
    """Moves the user's own files from the replaced run folder to the new one."""
    user_files = [path for path in old.iterdir() if path.name not in RUN_FILES]
    for path in user_files:
        path.rename(place / path.name)
    if user_files:
        log.warning(
            "kept in %s, although not part of the run: %s", place, ", ".join(sorted(path.name for path in user_files))
        )


def _as_output_error(error: Exception, draft: Path, out: Path) -> Exception:
    """An operating system error as an OutputError that names the final file; any other error unchanged.

    Libraries written in Rust wrap operating system errors in error types of their own.
    """
    if isinstance(error, OSError):
        outside = error.filename is not None and not Path(error.filename).is_relative_to(draft)
        return OutputError(f"cannot write {error.filename if outside else out}: {error.strerror or error}")
    wrapped = OS_ERROR.search(str(error))
    return error if wrapped is None else OutputError(f"cannot write {out}: {wrapped[1]}")


def _umask() -> int:
    """The file mode mask of the process, which temporary files and folders ignore."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
