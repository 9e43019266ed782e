"""A cluster of two nodes for all tests of this folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.ray_cluster import RayCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayCluster]:
    """The head of a Ray cluster on this machine; its folder is short, as paths of sockets must be."""
    pytest.importorskip("ray", reason="the extra `cluster` is not installed")
    folder = Path(tempfile.mkdtemp(prefix="multiea-", dir="/tmp"))
    cluster = RayCluster(folder)
    try:
        yield cluster
    finally:
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
