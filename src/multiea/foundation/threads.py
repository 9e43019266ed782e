"""Threads of numerical libraries: how long they keep a core busy while they wait for others."""

from __future__ import annotations

import os

# What the libraries read when they are loaded: rounds of OpenMP (torch), and two to this power of OpenBLAS (scipy).
BRIEFLY = {"GOMP_SPINCOUNT": "300", "OPENBLAS_THREAD_TIMEOUT": "4"}


def let_waiting_threads_sleep() -> None:
    """Lets threads that wait sleep soon. Only before torch and scipy are loaded; what the user has set stays.

    By default they keep a core busy, for which nothing is gained on small data. Where other programs use the cores as
    well, or a container may use fewer than there are, that takes several times as long. Results are the same.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        return
    for name, value in BRIEFLY.items():
        os.environ.setdefault(name, value)
