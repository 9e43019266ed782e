"""Tasks that nodes of a cluster can import. Each run of one leaves a line in a file, so that runs can be counted."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import numpy as np
import torch

from multiea.foundation import progress
from multiea.foundation.errors import InputError, SettingError
from multiea.tasks.shards import Shards


def note(folder: str, words: str) -> None:
    """Notes that a task has begun, and in which process; lines of several processes do not mix."""
    for file, line in (("executions", words), ("processes", str(os.getpid()))):
        handle = os.open(Path(folder) / file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{line}\n".encode())
        os.close(handle)


def square(shards: Shards, name: str, number: int, folder: str, seconds: float = 0.0) -> None:
    note(folder, str(number))
    with progress.stage("squaring", 1) as advance:
        time.sleep(seconds)
        advance(1)
    shards.put(name, {"square": np.array(number**2), "process": np.array(os.getpid())})


def threads(shards: Shards, name: str) -> None:
    shards.put(name, {"threads": np.array(torch.get_num_threads())})


def refuses(shards: Shards, name: str) -> None:
    logging.getLogger("multiea").warning("this will not do")
    raise SettingError("not like this")


def finds_fault(shards: Shards, name: str) -> None:
    raise InputError("a fault", path="en.nt", line=3, expected="none", hint="Look again")


def dies(shards: Shards, name: str, folder: str) -> None:
    note(folder, name)
    os.kill(os.getpid(), 9)


def nothing(shards: Shards, name: str) -> None:
    """Writes no shard, which is a mistake."""
