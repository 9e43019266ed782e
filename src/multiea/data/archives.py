"""Data sets inside an archive: the needed files are unpacked into a temporary folder and removed afterwards."""

from __future__ import annotations

import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from multiea.data.readers.pairs import PAIR_FILES
from multiea.data.readers.tables import first_line
from multiea.data.zip_files import is_hidden
from multiea.foundation import progress
from multiea.foundation.errors import InputError

ARCHIVES = (".tar", ".tar.xz", ".tar.gz", ".tar.bz2", ".tgz", ".txz", ".zip")
ALWAYS_UNPACKED = 1 << 30  # bytes
LARGEST_RATIO = 200  # of unpacked to packed bytes, above that; text packs up to about 50 times


def is_archive(path: Path) -> bool:
    """Whether a path is a file with the extension of an archive."""
    return path.is_file() and path.name.lower().endswith(ARCHIVES)


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """A temporary folder with the pair files of an archive. Errors inside the context name the archive instead."""
    with _unpacked(archive, _is_pair_file) as folder:
        yield folder


@contextmanager
def unpacked_data_set(archive: Path) -> Iterator[Path]:
    """A temporary folder with all files of an archive; the only folder inside it, if it has no other content."""
    with _unpacked(archive, lambda member: not is_hidden(member)) as folder:
        content = list(folder.iterdir())
        while len(content) == 1 and content[0].is_dir():
            (folder,) = content
            content = list(folder.iterdir())
        yield folder


@contextmanager
def _unpacked(archive: Path, is_needed: Callable[[PurePosixPath], bool]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="multiea-") as name:
        # The data set is named after its folder.
        folder = Path(name) / archive.name[: archive.name.lower().rindex(_ending(archive))]
        limit = max(ALWAYS_UNPACKED, LARGEST_RATIO * archive.stat().st_size)
        try:
            folder.mkdir()
            with progress.stage(f"unpacking {archive.name}") as advance:
                for member_path, stream in _members(archive, is_needed):
                    if member_path.is_absolute() or ".." in member_path.parts:
                        raise InputError(f"a file outside of the archive: {member_path}", path=archive)
                    target = folder.joinpath(*member_path.parts)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    limit -= _copied(stream, target, limit, archive)
                    advance(1)
        except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, RuntimeError) as error:
            raise InputError(f"the archive is cut off or damaged ({first_line(error)})", path=archive) from None
        except OSError as error:
            found = f"cannot be unpacked in {Path(name).parent}: {error.strerror or error}"
            raise InputError(
                found, path=archive, hint="Set TMPDIR to a folder with enough space, or unpack it yourself"
            ) from None
        try:
            yield folder
        except InputError as error:
            if error.path is not None and Path(error.path).is_relative_to(folder):
                error.path = archive / Path(error.path).relative_to(folder)
            raise


def _ending(archive: Path) -> str:
    return max((ending for ending in ARCHIVES if archive.name.lower().endswith(ending)), key=len)


def _copied(stream: IO[bytes], target: Path, limit: int, archive: Path) -> int:
    """Copies a file and returns its size. A small archive of a huge file is refused before it fills the disk."""
    size = 0
    with target.open("wb") as file:
        while chunk := stream.read(1 << 20):
            size += len(chunk)
            if size > limit:
                raise InputError(
                    f"an archive that unpacks to more than {LARGEST_RATIO} times its size",
                    path=archive,
                    hint="If that is right, unpack it yourself and name the folder",
                )
            file.write(chunk)
    return size


def _members(archive: Path, is_needed: Callable[[PurePosixPath], bool]) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    """The needed files of an archive, each with its path inside the archive."""
    if archive.suffix.lower() == ".zip":
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir() and is_needed(PurePosixPath(info.filename)):
                    with packed.open(info) as stream:
                        yield PurePosixPath(info.filename), stream
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and is_needed(PurePosixPath(member.name)):
                content = tar.extractfile(member)
                assert content is not None
                yield PurePosixPath(member.name), content


def _is_pair_file(member_path: PurePosixPath) -> bool:
    return member_path.name.removesuffix(".gz") in PAIR_FILES
