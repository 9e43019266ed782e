"""A zip archive with one file inside is read like that file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from multiea.foundation import progress
from multiea.foundation.errors import InputError


def is_hidden(member: PurePosixPath) -> bool:
    """Whether a file of an archive is no content, such as those that macOS and Windows add."""
    return member.name.startswith(".") or "__MACOSX" in member.parts or member.name in ("Thumbs.db", "desktop.ini")


def members_of(path: Path) -> list[zipfile.ZipInfo]:
    """The files of a zip archive, without hidden ones."""
    try:
        with zipfile.ZipFile(path) as packed:
            infos = packed.infolist()
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="Check the spelling and the folder") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        raise InputError(f"not a readable zip archive ({error})", path=path, hint="Download or pack it again") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None
    return [info for info in infos if not info.is_dir() and not is_hidden(PurePosixPath(info.filename))]


@contextmanager
def opened_zip(path: Path) -> Iterator[BinaryIO]:
    """The bytes of the only file in a zip archive. Failures while reading become an InputError."""
    members = members_of(path)
    if len(members) != 1:
        some = ", ".join(info.filename for info in members[:5]) or "none"
        raise InputError(
            f"a zip archive of {len(members)} files ({some}{', ...' if len(members) > 5 else ''})",
            path=path,
            expected="one file of a KG or of groups",
            hint="An archive of a whole data set is named alone: multiea align data.zip",
        )
    (info,) = members
    if info.flag_bits & 1:
        raise InputError("the zip archive is encrypted", path=path, expected="an archive without a password")
    try:
        with zipfile.ZipFile(path) as packed, progress.stage(f"reading {path.name}", info.file_size) as advance:
            try:
                stream = packed.open(info)
            except NotImplementedError as error:
                raise InputError(f"an unknown compression ({error})", path=path, hint="Pack it again") from None
            with stream:
                yield cast(BinaryIO, stream)
            advance(info.file_size)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(
            f"the zip data is cut off or damaged ({error})", path=path, hint="Download or pack the file again"
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None
