"""A folder that one process at a time may use."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from multiea.foundation.errors import OutputError

LOCK = ".lock"  # a file: network file systems do not lock folders for other machines


@contextmanager
def locked(folder: Path, otherwise: str, file: str = LOCK) -> Iterator[None]:
    """Keeps other processes out; the system opens the lock again however this one ends. otherwise: the error.

    file: what is locked, a file in the folder that is never replaced.
    """
    handle = os.open(folder / file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with suppress(OSError):  # some file systems have no locks
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(otherwise) from None
        yield
    finally:
        os.close(handle)


def is_unused(folder: Path) -> bool:
    """Whether a folder is empty, but for the lock of an earlier process."""
    return all(file.name == LOCK for file in folder.iterdir())
