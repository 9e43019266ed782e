"""How much memory this process has taken, in all and since a moment."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

FORGET, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class PeakMemory:
    """The most memory the process has held since this was made, in megabytes.

    Linux can forget its highest mark; elsewhere the mark is that of the whole process.
    """

    _forgotten = 0

    def __init__(self) -> None:
        PeakMemory._forgotten = peak_rss_mb()
        try:
            FORGET.write_text("5")
        except OSError:
            return

    def megabytes(self) -> int:
        """So far."""
        return _mark_mb()


def peak_rss_mb() -> int:
    """The most memory this process has ever held, in megabytes."""
    return max(PeakMemory._forgotten, _mark_mb())


def _mark_mb() -> int:
    if STATUS.exists():
        line = next((line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")), None)
        if line is not None:
            return int(line.split()[1]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 << 20 if sys.platform == "darwin" else 1 << 10)
