"""Paths of the project and of its optional real data."""

from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SHARED_DATA = PROJECT.parent / "shared" / "data"
ARCHIVES = ("dbp15k.tar.xz", "dwy15k.tar.xz")
needs_archives = pytest.mark.skipif(
    not all((SHARED_DATA / name).exists() for name in ARCHIVES), reason=f"needs {', '.join(ARCHIVES)} in {SHARED_DATA}"
)
