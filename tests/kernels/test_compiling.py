"""Kernels compiled anywhere give the same numbers, and leave threads as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import kernel_results
from support.places import PROJECT

COUNT = """
import sys
import numpy as np
import torch
from multiea.kernels.compiling import use_threads
from multiea.kernels.pair_scores import lowest_values
torch.set_num_threads(int(sys.argv[1]))
if sys.argv[2] == "first":
    use_threads()
lowest_values(np.array([0, 1]), np.ones(1, np.float32), 0.0)
print(torch.get_num_threads())
"""


@pytest.mark.parametrize("order", ["first", "never"])
@pytest.mark.parametrize("threads", [1, 3])
def test_kernels_leave_the_threads_of_torch_alone(threads: int, order: str) -> None:
    """Otherwise roundings of torch, and with them results, would depend on whether a kernel has run before."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-c", COUNT, str(threads), order]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) == threads


def test_kernels_compute_the_same_on_any_processor_and_from_the_cache(tmp_path: Path) -> None:
    """Nodes of a cluster may compile for other processors, or load what another process has compiled."""
    paths = os.pathsep.join(str(PROJECT / name) for name in ("src", "tests"))
    environment = os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, kernel_results.__file__]
    hashes = {kernel_results.hash_of_results()}
    for variables in ({"NUMBA_CPU_NAME": "generic"}, {}, {}):
        done = subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=True)
        hashes.add(done.stdout.strip())
    assert len(hashes) == 1
