"""How kernels are compiled: once per machine, for any number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import torch

Arrays = tuple[Any, ...]  # several arrays that belong together
Function = TypeVar("Function", bound=Callable[..., object])
CHUNK = 256  # rows that one thread computes with the same scratch memory
# sums may be reordered, so that they use vector instructions; NaN and infinity keep their meaning
FAST = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Function) -> Function:
    """Compiles a function whose loops over `prange` run in threads."""
    return cast(Function, numba.njit(parallel=True, nogil=True, cache=_can_cache(), fastmath=FAST)(function))


def part(function: Function) -> Function:
    """Compiles a function that kernels call."""
    return cast(Function, numba.njit(nogil=True, cache=_can_cache(), fastmath=FAST, inline="never")(function))


def use_threads() -> None:
    """Kernels use as many threads as torch does."""
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(max(1, min(torch.get_num_threads(), most)))


def _can_cache() -> bool:
    """Whether there is a place for compiled code: beside the source, in NUMBA_CACHE_DIR, or in the user's cache."""
    places = [Path(__file__).parent, Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"), Path.home()]
    return "NUMBA_CACHE_DIR" in os.environ or any(os.access(place, os.W_OK) for place in places if place.exists())
