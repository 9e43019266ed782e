"""Memory of this process: its peak, over its lifetime or since a given moment, and what becomes of freed blocks."""

from __future__ import annotations

import atexit
import ctypes
import gc
import resource
import sys
from pathlib import Path

RESET_PEAK, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


SELDOM = 100  # collections of younger objects before all objects are looked at; Python's default is 10
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
MOST_KEPT, MOST_REUSED = 512 << 20, 32 << 20


def keep_freed_blocks() -> None:
    """Lets the C library use freed blocks again instead of giving them back: fresh pages take a tenth of the time.

    Blocks above 32 MiB are still given back at once, and free memory above 512 MiB. Without glibc nothing changes.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    set_option(M_MMAP_THRESHOLD, MOST_REUSED)
    set_option(M_TRIM_THRESHOLD, MOST_KEPT)


def collect_all_garbage_seldom() -> None:
    """Looks at all objects for garbage seldom, and not again at the end: modules make several 100,000 that stay.

    For a process that ends with its command: its memory goes back to the system as a whole.
    """
    gc.set_threshold(*gc.get_threshold()[:2], SELDOM)
    atexit.register(_leave_all_to_the_system)


def _leave_all_to_the_system() -> None:
    gc.disable()
    gc.freeze()


def give_back_freed_blocks() -> None:
    """Gives all freed blocks back to the system, which takes a moment: after a stage, the next one needs others."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return


class PeakMemory:
    """The peak memory of the process since this object was created, in megabytes.

    Linux can reset the peak that it records. On other systems the value is the peak of the whole process.
    """

    _before_reset = 0

    def __init__(self) -> None:
        PeakMemory._before_reset = peak_rss_mb()
        try:
            RESET_PEAK.write_text("5")  # "5" resets VmHWM, see proc(5)
        except OSError:
            return

    def megabytes(self) -> int:
        """The peak so far."""
        return _recorded_peak_mb()


def peak_rss_mb() -> int:
    """The peak memory of this process over its lifetime, in megabytes."""
    return max(PeakMemory._before_reset, _recorded_peak_mb())


def _recorded_peak_mb() -> int:
    """The peak that the system records, which PeakMemory may have reset."""
    if STATUS.exists():
        line = next((line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")), None)
        if line is not None:
            return int(line.split()[1]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 << 20 if sys.platform == "darwin" else 1 << 10)
