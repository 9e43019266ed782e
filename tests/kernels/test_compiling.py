"""Kernels compiled anywhere give the same numbers, and leave threads as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from multiea.kernels.nearest_marks import add
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


BEST = """
import numpy as np
from multiea.kernels.pair_scores import best_of_rows
columns, values = best_of_rows(np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([1, 3, 2], np.float32), 2)
print(values.tolist())
"""


def test_a_kernel_is_compiled_again_when_one_of_its_parts_in_another_file_has_changed(tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "world"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    part, printed = tmp_path / "src/multiea/kernels/nearest_marks.py", []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", BEST], env=environment, capture_output=True, text=True, check=True)
        printed.append(done.stdout.strip())
        changed = part.read_text(encoding="utf-8").replace("values[place - 1] < value", "values[place - 1] > value")
        part.write_text(changed, encoding="utf-8")
    assert printed == ["[[3.0, 2.0]]", "[[1.0, 2.0]]"]


def test_places_that_stay_zero_are_noted_once() -> None:
    total, touched = np.zeros(2, np.float32), np.full(2, -1, np.int32)
    count = 0
    for value in (0.0, 0.0, 0.0, 0.5, 0.25):
        count = add(total, touched, count, 1, np.float32(value))
    assert (count, touched.tolist(), total.tolist()) == (1, [1, -1], [0.0, 0.75])
