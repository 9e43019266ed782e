from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from multiea.foundation.mapped_arrays import map_array, release_pages, tracked

MAPPINGS = Path("/proc/self/smaps")


def test_a_mapped_array_has_the_content_of_the_file_and_keeps_it_when_its_pages_are_released(tmp_path: Path) -> None:
    content = np.arange(1 << 20, dtype=np.int32).reshape(-1, 1 << 10)
    (tmp_path / "a").write_bytes(b"12345678" + content.tobytes())
    mapped = map_array(tmp_path / "a", np.int32, content.shape, offset=8)
    for _ in range(2):
        np.testing.assert_array_equal(mapped, content)
        release_pages()
    assert map_array(tmp_path / "a", np.int32, (0, 4)).shape == (0, 4)


@pytest.mark.skipif(not MAPPINGS.exists(), reason="only Linux says which pages of a file are in memory")
def test_released_pages_take_no_memory(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(64 << 20))
    mapped = tracked(np.memmap(tmp_path / "a", np.uint8, mode="r"))
    assert not mapped.sum()
    assert _resident_kb(tmp_path / "a") > 60 << 10
    release_pages()
    assert _resident_kb(tmp_path / "a") < 8 << 10


def _resident_kb(file: Path) -> int:
    """How much of a mapped file is in memory; the memory of the whole process changes for other reasons too."""
    _, _, of_file = MAPPINGS.read_text().partition(f" {file}\n")
    return int(next(line for line in of_file.splitlines() if line.startswith("Rss:")).split()[1])
