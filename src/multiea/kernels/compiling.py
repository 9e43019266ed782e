"""How kernels are compiled: once per machine, for any number of threads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import torch

Arrays = tuple[Any, ...]  # several arrays that belong together
Function = TypeVar("Function", bound=Callable[..., object])
CHUNK = 256  # rows that one thread computes with the same scratch memory
ANY_ORDER = {"nnan", "nsz"}  # there is no NaN, and the sign of zero does not count


def kernel(function: Function) -> Function:
    """Compiles a function whose loops over `prange` run in threads.

    Arithmetic is strict: where steps could be reordered, roundings would differ between processors, and between code
    that was just compiled and the same code from the cache.
    """
    with _cache_of_this_code() as can_cache:
        compiled = numba.njit(parallel=True, nogil=True, cache=can_cache)(function)

    @wraps(function)
    def call(*arguments: object) -> object:
        threads = torch.get_num_threads()
        try:
            return compiled(*map(_plain, arguments))
        finally:
            if torch.get_num_threads() != threads:  # starting the threads of numba changes how many torch uses
                torch.set_num_threads(threads)

    return cast(Function, call)


def part(function: Function) -> Function:
    """Compiles a function that kernels call, as a part of each: from the cache it could not be inlined."""
    return cast(Function, numba.njit(nogil=True)(function))


def inlined(function: Function) -> Function:
    """Compiles a short part as if it were written where it is called; a call would take longer than what it does."""
    return cast(Function, numba.njit(nogil=True, inline="always")(function))


def part_in_any_order(function: Function) -> Function:
    """Compiles a part that may use vector instructions, as its result does not depend on the order: a maximum."""
    return cast(Function, numba.njit(nogil=True, fastmath=ANY_ORDER)(function))


def use_threads() -> None:
    """Kernels use as many threads as torch does."""
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    threads = torch.get_num_threads()
    numba.set_num_threads(max(1, min(threads, most)))
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


class _Alias:
    """The same memory as that of an array, as if it were writable."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        interface = array.__array_interface__
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def _plain(argument: object) -> object:
    """Mapped and read-only arrays as plain ones: a kernel would be compiled again for these. It changes no argument."""
    if isinstance(argument, tuple):
        return tuple(map(_plain, argument))
    if isinstance(argument, np.ndarray) and not (type(argument) is np.ndarray and argument.flags.writeable):
        return np.asarray(_Alias(argument)) if argument.size else np.array(argument)
    return argument


@contextmanager
def _cache_of_this_code() -> Iterator[bool]:
    """Compiled code is kept in a folder that belongs to the source of all kernels; whether there is a place for it.

    numba notices changes in the file of a kernel, but not in those of its parts. The place is NUMBA_CACHE_DIR, beside
    the source, or the user's cache.
    """
    given, before = os.environ.get("NUMBA_CACHE_DIR"), numba.config.CACHE_DIR  # type: ignore[attr-defined]
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [Path(given)] if given else [Path(__file__).parent / "__pycache__", user / "multiea"]
    place = next((place for place in places if _is_writable(place)), None)
    if place is None:
        yield False
        return
    numba.config.CACHE_DIR = str(place / f"kernels-{_hash_of_source()}")  # type: ignore[attr-defined]
    try:
        yield True
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


def _is_writable(place: Path) -> bool:
    """Whether a folder can be written to, or made."""
    there = next((folder for folder in (place, *place.parents) if folder.exists()), place)
    return there.is_dir() and os.access(there, os.W_OK)


@cache
def _hash_of_source() -> str:
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
