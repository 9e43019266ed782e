from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from multiea.foundation.mapped_arrays import map_array, release_pages, tracked

STATUS = Path("/proc/self/smaps_rollup")


def test_a_mapped_array_has_the_content_of_the_file_and_keeps_it_when_its_pages_are_released(tmp_path: Path) -> None:
    content = np.arange(1 << 20, dtype=np.int32).reshape(-1, 1 << 10)
    (tmp_path / "a").write_bytes(b"12345678" + content.tobytes())
    mapped = map_array(tmp_path / "a", np.int32, content.shape, offset=8)
    for _ in range(2):
        np.testing.assert_array_equal(mapped, content)
        release_pages()
    assert map_array(tmp_path / "a", np.int32, (0, 4)).shape == (0, 4)


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux says which pages of a file are in memory")
def test_released_pages_take_no_memory(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(64 << 20))
    mapped = tracked(np.memmap(tmp_path / "a", np.uint8, mode="r"))
    before = _resident_kb()
    assert not mapped.sum()
    held = _resident_kb() - before
    release_pages()
    assert held > 60 << 10
    assert _resident_kb() - before < 8 << 10


def _resident_kb() -> int:
    return int(next(line for line in STATUS.read_text().splitlines() if line.startswith("Rss:")).split()[1])
