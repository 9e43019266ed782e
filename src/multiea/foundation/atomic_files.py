"""Writing that leaves nothing half-written: results appear whole or not at all."""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from multiea.foundation.errors import OutputError

log = logging.getLogger("multiea")
OF_THE_SYSTEM = re.compile(r"([^:]+?) \(os error \d+\)")
# What shows that a folder is one we wrote: only its like may replace it.
# What a run folder may hold of ours; a user's own files in it stay when it is replaced.
OF_A_RUN = {
    *("config.toml", "manifest.json", "metrics.json", "embeddings.safetensors", "report.html", "open_seeds.jsonl"),
    *("entities.parquet", "groups.parquet", "pairs.parquet"),
    *("seeds.tsv", "held_out.tsv", "validation.tsv", "groups.tsv", "lineage.tsv"),
}
MARKS = {"run": ("manifest.json",), "data set": ("groups.tsv", "seeds.tsv"), "folder of alignments": ("*.rdf",)}


def refuse_existing(out: Path, kind: str, *, force: bool = False) -> None:
    """Says at once, before long work, that a folder cannot be written to."""
    parent = next((parent for parent in out.absolute().parents if parent.exists()), Path("/"))
    if not os.access(parent, os.W_OK):
        raise OutputError(f"cannot write to {parent}; choose another folder")
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another folder to write to")
    if out.is_dir() and Path.cwd().resolve().is_relative_to(out.resolve()):
        raise OutputError(f"{out} holds the folder you are in; choose another one to write to")
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not force:
        raise OutputError(f"{out} exists and is not empty; choose another folder, or replace it with --force")
    if not any(any(out.glob(name)) for name in MARKS[kind]):
        raise OutputError(f"{out} holds something else than a {kind}; remove it yourself, or choose another folder")


@contextmanager
def new_folder(out: Path, kind: str, *, force: bool = False) -> Iterator[Path]:
    """A folder to write into that becomes `out` when all went well; otherwise it vanishes and `out` stays as it was.

    An `out` that exists and is not empty is replaced only with force, and only if it is of the same kind:
    a 'run' or a 'data set'.
    """
    refuse_existing(out, kind, force=force)
    place = out.resolve()  # where a link leads
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".partial", dir=place.parent))
    except OSError as error:
        raise OutputError(f"cannot write to {place.parent}: {error.strerror}; choose another folder") from None
    try:
        yield draft
        draft.chmod(0o777 & ~_umask())
        refuse_existing(out, kind, force=force)  # it may have appeared meanwhile
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
            _keep_foreign(old, place)
        shutil.rmtree(old, ignore_errors=True)
        if old.exists():
            log.warning("what was in %s could not be removed and is now in %s", out, old)
    except Exception as error:
        raise _told(error, draft, out) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def new_file(out: Path, *, force: bool = False) -> Iterator[Path]:
    """A file to write that becomes `out` when all went well; otherwise it vanishes and `out` stays as it was."""
    refuse_existing_file(out, force=force)
    place = out.resolve()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".partial", dir=place.parent)
        os.close(handle)
    except OSError as error:
        raise OutputError(f"cannot write to {place.parent}: {error.strerror}; choose another place") from None
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        refuse_existing_file(out, force=force)
        draft.replace(place)
    except Exception as error:
        raise _told(error, draft, out) from None
    finally:
        draft.unlink(missing_ok=True)


def refuse_existing_file(out: Path, *, force: bool = False) -> None:
    """Says at once, before long work, that a file cannot be written."""
    if out.is_dir():
        raise OutputError(f"{out} is a folder; choose a file to write to")
    if out.exists() and not force:
        raise OutputError(f"{out} exists; choose another file, or replace it with --force")
    parent = next((parent for parent in out.absolute().parents if parent.exists()), Path("/"))
    if not os.access(parent, os.W_OK):
        raise OutputError(f"cannot write to {parent}; choose another place")


def _keep_foreign(old: Path, place: Path) -> None:
    """Moves what is not ours from the folder that is replaced to the new one."""
    foreign = [path for path in old.iterdir() if path.name not in OF_A_RUN]
    for path in foreign:
        path.rename(place / path.name)
    if foreign:
        log.warning("kept in %s, though not of the run: %s", place, ", ".join(sorted(path.name for path in foreign)))


def _told(error: Exception, draft: Path, out: Path) -> Exception:
    """An error of the system as one of ours, which names the file meant; any other as it is.

    Libraries written in Rust wrap what the system says into errors of their own.
    """
    if isinstance(error, OSError):
        elsewhere = error.filename is not None and not Path(error.filename).is_relative_to(draft)
        return OutputError(f"cannot write {error.filename if elsewhere else out}: {error.strerror or error}")
    wrapped = OF_THE_SYSTEM.search(str(error))
    return error if wrapped is None else OutputError(f"cannot write {out}: {wrapped[1]}")


def _umask() -> int:
    """The process's file mode mask, which a temporary folder does not follow by itself."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
