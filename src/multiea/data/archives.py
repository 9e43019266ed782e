"""Pair benchmarks inside an archive: the needed files are unpacked into a temporary folder and removed afterwards."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from multiea.data.readers.pairs import PAIR_FILES
from multiea.data.readers.tables import first_line
from multiea.foundation import progress
from multiea.foundation.errors import InputError

ARCHIVES = (".tar", ".tar.xz", ".tar.gz", ".tar.bz2", ".tgz", ".txz", ".zip")


def is_archive(path: Path) -> bool:
    """Whether a path is a file with the extension of an archive."""
    return path.is_file() and path.name.lower().endswith(ARCHIVES)


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """A temporary folder with the pair files of an archive. Errors inside the context name the archive instead."""
    with tempfile.TemporaryDirectory(prefix="multiea-") as name:
        folder = Path(name)
        try:
            with progress.stage(f"unpacking {archive.name}") as advance:
                for member_path, stream in _members(archive):
                    target = folder.joinpath(*(part for part in member_path.parts if part not in ("/", "..")))
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as file:
                        shutil.copyfileobj(stream, file, 1 << 20)
                    advance(1)
        except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, RuntimeError) as error:
            raise InputError(f"the archive is cut off or damaged ({first_line(error)})", path=archive) from None
        except OSError as error:
            found = f"cannot be unpacked in {folder.parent}: {error.strerror or error}"
            raise InputError(
                found, path=archive, hint="Set TMPDIR to a folder with enough space, or unpack it yourself"
            ) from None
        try:
            yield folder
        except InputError as error:
            if error.path is not None and Path(error.path).is_relative_to(folder):
                error.path = archive / Path(error.path).relative_to(folder)
            raise


def _members(archive: Path) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """The pair files of an archive, each with its path inside the archive."""
    if archive.suffix.lower() == ".zip":
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                if _is_pair_file(PurePosixPath(name)):
                    with packed.open(name) as stream:
                        yield PurePosixPath(name), stream
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and _is_pair_file(PurePosixPath(member.name)):
                content = tar.extractfile(member)
                assert content is not None
                yield PurePosixPath(member.name), content


def _is_pair_file(member_path: PurePosixPath) -> bool:
    return member_path.name.removesuffix(".gz") in PAIR_FILES
