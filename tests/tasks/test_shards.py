"""Shards in memory and in a folder: the same behaviour, never a half-written one, a full disk said plainly."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from multiea.foundation.errors import InputError, OutputError
from multiea.tasks.folder_shards import FolderShards
from multiea.tasks.shards import MemoryShards, Shards

NAMES = ["flow/en", "lists/en-fr/3", "a/b/../../c", "../outside", "日本", "EN", "en", "x" * 400, "a b:c*?", "./.", ""]


@pytest.fixture(params=["memory", "folder"])
def shards(request: pytest.FixtureRequest, tmp_path: Path) -> Shards:
    return MemoryShards() if request.param == "memory" else FolderShards(tmp_path / "work")


def test_what_was_put_comes_back_and_cannot_be_changed(shards: Shards) -> None:
    arrays = {"a": np.arange(12.0).reshape(4, 3), "empty": np.zeros((0, 5), np.int8), "one": np.array(7)}
    arrays["turned"] = np.asfortranarray(arrays["a"])
    shards.put("flow/en", arrays)
    found = shards.get("flow/en")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert not found[name].flags.writeable
    np.testing.assert_array_equal(shards.rows("flow/en", "a", 1, 3), arrays["a"][1:3])
    np.testing.assert_array_equal(shards.rows("flow/en", "turned", 1, 99), arrays["a"][1:])
    assert shards.rows("flow/en", "empty", 0, 5).shape == (0, 5)


def test_every_name_has_a_place_of_its_own(shards: Shards, tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        assert name not in shards
        shards.put(name, {"number": np.array([number])})
    assert [int(shards.get(name)["number"][0]) for name in NAMES] == list(range(len(NAMES)))
    assert [path.name for path in tmp_path.iterdir()] in ([], ["work"])


def test_a_shard_is_replaced_dropped_and_missed(shards: Shards) -> None:
    shards.put("x", {"a": np.zeros(2), "b": np.zeros(2)})
    shards.put("x", {"a": np.ones(2)})
    assert list(shards.get("x")) == ["a"]
    shards.drop("x")
    shards.drop("x")
    assert "x" not in shards
    with pytest.raises(KeyError, match="x"):
        shards.get("x")


def test_blocks_become_a_shard_when_the_context_ends(shards: Shards) -> None:
    with shards.writing("big", {"rows": ((6, 2), np.float32), "none": ((0,), np.int64)}) as arrays:
        for start in range(0, 6, 2):
            arrays["rows"][start : start + 2] = start
            assert "big" not in shards
    np.testing.assert_array_equal(shards.get("big")["rows"][:, 0], [0, 0, 2, 2, 4, 4])


def test_an_error_while_writing_leaves_no_shard_and_keeps_the_old_one(shards: Shards) -> None:
    shards.put("big", {"rows": np.ones(3)})
    with pytest.raises(IndexError), shards.writing("big", {"rows": ((3,), np.float64)}) as arrays:
        arrays["rows"][[0, 3]] = 5
    np.testing.assert_array_equal(shards.get("big")["rows"], np.ones(3))


def test_rows_of_a_large_array_are_read_without_mapping_it(tmp_path: Path) -> None:
    shards = FolderShards(tmp_path)
    shards.put("big", {"rows": np.arange(4_000_000).reshape(-1, 4)})
    rows = shards.rows("big", "rows", 10, 12)
    assert rows.tolist() == [[40, 41, 42, 43], [44, 45, 46, 47]]
    assert rows.flags.writeable
    assert rows.base is None or not isinstance(rows.base, np.memmap)


def test_objects_cannot_be_shards(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot hold Python objects"):
        FolderShards(tmp_path).put("x", {"a": np.array([{}])})


def test_a_killed_writer_leaves_no_shard(tmp_path: Path) -> None:
    code = (
        "import sys, time, numpy as np\nfrom pathlib import Path\n"
        "from multiea.tasks.folder_shards import FolderShards\n"
        "with FolderShards(Path(sys.argv[1])).writing('x', {'a': ((1000,), np.int64)}) as arrays:\n"
        "    arrays['a'][:500] = 1\n    print('half', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "half\n"
        writer.kill()
    shards = FolderShards(tmp_path)
    assert "x" not in shards
    assert list(tmp_path.rglob("*.npy"))  # what it left
    shards.remove_drafts()
    assert not list(tmp_path.rglob("*.npy"))


def test_a_shard_that_a_network_file_system_shows_late_is_waited_for(tmp_path: Path) -> None:
    code = (
        "import sys, time, numpy as np\nfrom pathlib import Path\n"
        "from multiea.tasks.folder_shards import FolderShards\n"
        "FolderShards(Path(sys.argv[1])).put('x', {'a': np.ones(1)})\n"
    )
    (tmp_path / "shards").mkdir()
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "shards")]):
        begin = time.monotonic()
        assert FolderShards(tmp_path / "shards", patience=60).get("x")["a"].tolist() == [1]
        assert time.monotonic() - begin < 60


def full_folder(tmp_path: Path) -> Path:
    """A folder on a file system of one megabyte, or a skipped test where none can be mounted."""
    place = tmp_path / "full"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs administrator rights")
    return place


def test_a_full_disk_is_named_and_what_was_there_stays(tmp_path: Path) -> None:
    place = full_folder(tmp_path)
    try:
        shards = FolderShards(place / "work" / "shards")
        shards.put("small", {"a": np.ones(10)})
        with pytest.raises(OutputError, match=r"no space left in the work folder .*work; free some"):
            shards.put("big", {"a": np.ones(1 << 20)})
        with (
            pytest.raises(OutputError, match="no space left"),
            shards.writing("big", {"a": ((1 << 20,), np.float64)}) as arrays,
        ):
            arrays["a"][:] = 1
        assert "big" not in shards
        assert shards.get("small")["a"].tolist() == [1] * 10
        shards.put("small again", {"a": np.ones(10)})  # nothing of the large one was left behind
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("content", [b"", b"no array", "shorter"])
def test_a_damaged_shard_says_what_to_do(tmp_path: Path, content: bytes | str) -> None:
    shards = FolderShards(tmp_path)
    shards.put("x", {"a": np.arange(100)})
    (file,) = tmp_path.glob("**/a.npy")
    file.write_bytes(content if isinstance(content, bytes) else file.read_bytes()[:-8])
    for read in (lambda: shards.get("x"), lambda: shards.rows("x", "a", 0, 100)):
        with pytest.raises(InputError, match=r"damaged; expected an array as written\. Remove the work folder"):
            read()
