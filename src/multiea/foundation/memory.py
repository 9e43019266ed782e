"""Peak memory of this process: over its lifetime, and since a given moment."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

RESET_PEAK, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


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
