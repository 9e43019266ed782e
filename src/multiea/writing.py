"""Writing that leaves nothing half-written: results appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from multiea.errors import OutputError


@contextmanager
def new_folder(out: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder to write into that becomes `out` when all went well; otherwise it vanishes and `out` stays as it was.

    An `out` that exists and is not empty is replaced only with force.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another folder to write to")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise OutputError(f"{out} exists and is not empty; choose another folder, or replace it with --force")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    except OSError as error:
        raise OutputError(f"cannot write to {out.parent}: {error.strerror}; choose another folder") from None
    try:
        yield draft
        draft.chmod(0o777 & ~_umask())
        if out.exists():
            old = draft.with_suffix(".old")
            out.rename(old)
            draft.rename(out)
            shutil.rmtree(old)
        else:
            draft.rename(out)
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _umask() -> int:
    """The process's file mode mask, which a temporary folder does not follow by itself."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
