"""How much memory this process has taken."""

from __future__ import annotations

import resource
import sys


def peak_rss_mb() -> int:
    """The most memory this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 << 20 if sys.platform == "darwin" else 1 << 10)
