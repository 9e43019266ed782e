"""Shards in a folder, which may be on a file system that several machines share."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from multiea.foundation.errors import InputError, OutputError
from multiea.foundation.mapped_arrays import tracked
from multiea.tasks.shards import Array, Arrays, Form

SHARD, DRAFTS = ".shard", ".drafts"
PLAIN = re.compile(r"[a-z0-9_-]{1,60}")
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
Read = TypeVar("Read")


class FolderShards:
    """One folder per shard with one .npy file per array, written under another name first and then renamed.

    patience: the seconds to wait for a shard that is not there yet; network file systems show new files late.
    """

    def __init__(self, folder: Path, patience: float = 0.0) -> None:
        self.folder, self._patience = folder.absolute(), patience

    def put(self, name: str, arrays: Mapping[str, Array]) -> None:
        """Writes a shard; one of the same name is replaced."""
        with self._draft(name) as draft:
            for key, array in arrays.items():
                _write_array(draft / f"{key}.npy", np.asarray(array, order="C"))

    @contextmanager
    def writing(self, name: str, forms: Mapping[str, Form]) -> Iterator[Arrays]:
        """Memory-mapped arrays that become the shard when the context ends without an error."""
        with self._draft(name) as draft:
            arrays = {key: _new_array(draft / f"{key}.npy", *form) for key, form in forms.items()}
            yield arrays
            for array in arrays.values():
                if isinstance(array, np.memmap):
                    array.flush()

    def get(self, name: str) -> Arrays:
        """The arrays of a shard, memory-mapped and read-only."""
        return self._reading(name, lambda folder: {file.stem: _mapped(file) for file in sorted(folder.glob("*.npy"))})

    def rows(self, name: str, array: str, start: int, stop: int) -> Array:
        """Some rows of an array, read and not mapped."""
        return self._reading(name, lambda folder: _rows(folder / f"{array}.npy", start, stop))

    def drop(self, name: str) -> None:
        """Removes a shard, if it is there."""
        self._discard(self._place(name))

    def remove_drafts(self) -> None:
        """Removes what killed processes were writing; only for one who knows that nobody else writes."""
        shutil.rmtree(self.folder / DRAFTS, ignore_errors=True)

    def __contains__(self, name: str) -> bool:
        return self._place(name).is_dir()

    def _place(self, name: str) -> Path:
        """A folder for each name: readable where possible, never outside, unique also where case does not count."""
        return self.folder.joinpath(*map(_safe, name.split("/"))).with_suffix(SHARD)

    @contextmanager
    def _draft(self, name: str) -> Iterator[Path]:
        draft, place = self.folder / DRAFTS / secrets.token_hex(8), self._place(name)
        try:
            draft.mkdir(parents=True)
            yield draft
            place.parent.mkdir(parents=True, exist_ok=True)
            self._discard(place)
            draft.rename(place)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST) and place.is_dir():
                return  # another process has just written the same shard
            if error.filename is not None and not Path(error.filename).is_relative_to(self.folder):
                raise  # about something else, while blocks were computed
            raise self._worded(error) from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _discard(self, place: Path) -> None:
        """Removes a shard: first as a whole by renaming, so that nobody sees a part of it."""
        old = self.folder / DRAFTS / secrets.token_hex(8)
        try:
            old.parent.mkdir(parents=True, exist_ok=True)
            place.rename(old)
        except FileNotFoundError:
            return
        shutil.rmtree(old, ignore_errors=True)

    def _reading(self, name: str, read: Callable[[Path], Read]) -> Read:
        place, end = self._place(name), time.monotonic() + self._patience
        while True:
            try:
                if not place.is_dir():
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
                return read(place)
            except FileNotFoundError:
                if time.monotonic() >= end:
                    raise KeyError(name) from None
                list(self.folder.iterdir())  # makes a network file system look again
                time.sleep(0.2)

    def _worded(self, error: OSError) -> OutputError:
        if error.errno in NO_SPACE:
            return OutputError(
                f"no space left in the work folder {self.folder.parent}; free some, or choose another with "
                "--work-folder. What is finished stays in a folder that was named, and the same command goes on there"
            )
        return OutputError(f"cannot write to the work folder {self.folder.parent}: {error.strerror or error}")


def _safe(part: str) -> str:
    if PLAIN.fullmatch(part):
        return part
    digest = hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return re.sub(r"[^a-z0-9_-]+", "-", part.lower())[:40] + "~" + digest


def _write_array(file: Path, array: Array) -> None:
    """Writes a .npy file. numpy's own function does not say why where the disk is full."""
    if array.dtype.hasobject:
        raise ValueError(f"{file.stem}: a shard cannot hold Python objects")
    with file.open("wb") as handle:
        np.lib.format.write_array_header_1_0(handle, np.lib.format.header_data_from_array_1_0(array))
        handle.write(array.reshape(-1).view(np.uint8).data if array.size else b"")
        handle.flush()
        os.fsync(handle.fileno())


def _new_array(file: Path, shape: tuple[int, ...], dtype: Any) -> Array:
    """A writable array in a new file whose space is reserved: a mapped file on a full disk would kill the process."""
    if 0 in shape:
        np.save(file, np.empty(shape, dtype), allow_pickle=False)
        return np.empty(shape, dtype)
    array = np.lib.format.open_memmap(file, mode="w+", dtype=np.dtype(dtype), shape=shape)
    size = file.stat().st_size
    with file.open("r+b") as handle:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle.fileno(), 0, size)
    return array


def _mapped(file: Path) -> Array:
    with _damage_worded(file):
        try:
            mapped: Any = np.load(file, mmap_mode="r", allow_pickle=False)
            return tracked(mapped)
        except ValueError:  # an empty array cannot be mapped
            array: Array = np.load(file, allow_pickle=False)
            array.flags.writeable = False
            return array


@contextmanager
def _damage_worded(file: Path) -> Iterator[None]:
    """Errors of numpy about a file that is shorter than it says, or no array at all, say what to do."""
    try:
        yield
    except (ValueError, EOFError):
        hint = "Remove the work folder and align again"
        raise InputError("damaged", path=file, expected="an array as written", hint=hint) from None


def _rows(file: Path, start: int, stop: int) -> Array:
    with file.open("rb") as handle, _damage_worded(file):
        version = np.lib.format.read_magic(handle)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(handle)
        if is_fortran:
            raise ValueError(f"{file}: rows can be read in C order only")
        start, stop, _ = slice(start, stop).indices(shape[0])
        width = int(np.prod(shape[1:], dtype=np.int64))
        handle.seek(start * width * dtype.itemsize, os.SEEK_CUR)
        count = max(0, stop - start)
        return np.fromfile(handle, dtype, count * width).reshape(count, *shape[1:])
