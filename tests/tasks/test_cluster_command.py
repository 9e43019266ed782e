"""`multiea align` on a cluster and with a work folder: the same run folder, and every bad input refused in one line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import multiea
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.foundation.locked_folder import LOCK
from multiea.tasks.work_folder import MARKER
from support.command_line import refused, succeeds
from support.places import PROJECT
from support.ray_cluster import PATHS, RayCluster, another_node, wait_until

QUICK = ("--set", "propagation.dimensions=64", "--no-progress")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    write_synthetic(Synthesis(kgs=3, entities=100, relations=10, overlap=0.8), folder)
    return folder


@pytest.fixture(scope="module")
def usual(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder without a cluster, and beside it the warnings of the command."""
    out = tmp_path_factory.mktemp("usual") / "run"
    outcome = succeeds("align", data, "--out", out, *QUICK[:2])
    (out.parent / "warnings").write_text(outcome.stderr)
    return out


@pytest.fixture
def earlier(tmp_path: Path) -> Iterator[Path]:
    """An earlier output folder that a refused command must not touch."""
    out = tmp_path / "earlier"
    out.mkdir()
    (out / "manifest.json").write_text("{}")
    yield out
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("manifest.json", "{}")]
    assert not list(tmp_path.glob(".*"))  # no temporary work folder either


def refused_align(data: Path, out: Path, *words: object) -> str:
    return refused("align", data, "--out", out, "--force", *QUICK, *words)


def assert_same_groups(one: Path, other: Path) -> None:
    for name in ("groups.tsv", "groups.parquet", "pairs.parquet", "embeddings.safetensors", "config.toml"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    scores = [json.loads((run / "metrics.json").read_text()) for run in (one, other)]
    assert scores[0]["pairs"] == scores[1]["pairs"]
    assert list(scores[0]) == list(scores[1])
    assert {path.name for path in one.iterdir()} == {path.name for path in other.iterdir()}


def test_a_cluster_gives_the_same_run_folder(cluster: RayCluster, data: Path, usual: Path, tmp_path: Path) -> None:
    outcome = succeeds("align", data, "--out", tmp_path / "run", "--cluster", cluster.address, *QUICK[:2])
    assert_same_groups(usual, tmp_path / "run")
    assert outcome.stderr == (usual.parent / "warnings").read_text() != ""
    assert [path.name for path in tmp_path.iterdir()] == ["run"]  # the temporary work folder is gone
    manifests = [json.loads((run / "manifest.json").read_text()) for run in (usual, tmp_path / "run")]
    assert manifests[0]["files"] == manifests[1]["files"]


def test_auto_finds_the_cluster_of_the_environment_and_python_gets_the_same_groups(
    cluster: RayCluster, data: Path, usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    task = multiea.load(data)
    settings = multiea.Propagation(dimensions=64)
    alignment = multiea.align(task, propagation=settings, cluster="auto", work_folder=tmp_path / "work")
    assert alignment.task is task
    alignment.save(tmp_path / "run")
    assert_same_groups(usual, tmp_path / "run")
    assert alignment.evaluate()["pairs"] == multiea.open(usual).evaluate()["pairs"]


def test_local_starts_ray_for_one_command_and_leaves_nothing(data: Path, usual: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra `cluster` is not installed")
    words = [sys.executable, "-m", "multiea", "align", str(data), "--out", str(tmp_path / "run"), "--cluster", "local"]
    environment = os.environ | {"PYTHONPATH": PATHS, "TMPDIR": str(short_folder(tmp_path))}
    done = subprocess.run([*words, *QUICK], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (usual.parent / "warnings").read_text()
    assert_same_groups(usual, tmp_path / "run")
    assert not list(short_folder(tmp_path).iterdir())


def short_folder(tmp_path: Path) -> Path:
    """A folder of this test whose path is short enough for sockets."""
    folder = Path("/tmp") / f"m{abs(hash(str(tmp_path))) % 10**8}"
    folder.mkdir(exist_ok=True)
    return folder


def test_a_work_folder_goes_on_and_keeps_a_finished_alignment(
    cluster: RayCluster, data: Path, usual: Path, tmp_path: Path
) -> None:
    words = ("align", data, "--cluster", cluster.address, "--work-folder", tmp_path / "work", *QUICK[:2])
    succeeds(*words, "--out", tmp_path / "one")
    before = (tmp_path / "work" / "run" / "manifest.json").stat().st_mtime_ns
    succeeds(*words, "--out", tmp_path / "two", "--device", "cpu")
    assert (tmp_path / "work" / "run" / "manifest.json").stat().st_mtime_ns == before
    for name in ("one", "two"):
        assert (tmp_path / name / "groups.tsv").read_bytes() == (usual / "groups.tsv").read_bytes()


def test_a_killed_command_is_given_again(cluster: RayCluster, data: Path, usual: Path, tmp_path: Path) -> None:
    out, work = tmp_path / "run", tmp_path / "work"
    words = ["align", str(data), "--out", str(out), "--cluster", cluster.address, "--work-folder", str(work), *QUICK]
    environment = os.environ | {"PYTHONPATH": PATHS}
    with subprocess.Popen([sys.executable, "-m", "multiea", *words], env=environment) as command:
        wait_until(lambda: any((work / "shards").glob("given*")))
        command.send_signal(signal.SIGKILL)
    assert not out.exists()
    succeeds(*words[:-1])
    assert_same_groups(usual, out)


def test_an_address_nobody_answers_at_is_refused_at_once(data: Path, earlier: Path) -> None:
    pytest.importorskip("ray", reason="the extra `cluster` is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # nobody listens at it
        message = refused_align(data, earlier, "--cluster", f"127.0.0.1:{port}")
    assert message.startswith(f"no Ray cluster answers at 127.0.0.1:{port} (Connection refused); check the address")


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """A server that answers everybody with the same bytes; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes.fromhex("0000010104000000018d")])
def test_what_is_not_ray_is_refused_at_once(data: Path, earlier: Path, answer: bytes) -> None:
    pytest.importorskip("ray", reason="the extra `cluster` is not installed")
    with answering(answer) as port:
        message = refused_align(data, earlier, "--cluster", f"127.0.0.1:{port}")
    assert message.startswith(f"what answers at 127.0.0.1:{port} is not Ray")


def test_auto_without_a_cluster_says_what_to_do(
    data: Path, earlier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="the extra `cluster` is not installed")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path / "nothing"))
    message = refused_align(data, earlier, "--cluster", "auto")
    assert message.startswith("no Ray cluster is running on this machine; start one with `ray start --head`")


@pytest.mark.parametrize("address", ["yes", "host", "host:0", "host:99999", "ray://host:10001", ":6379", "host:1:"])
def test_what_is_no_address_is_refused(data: Path, earlier: Path, address: str) -> None:
    message = refused_align(data, earlier, "--cluster", address)
    assert message.startswith("cluster must be auto, local, or the address of a head node as HOST:PORT")
    assert message.endswith(f"got '{address}'")


def test_nodes_with_another_version_are_named(cluster: RayCluster, data: Path, earlier: Path, tmp_path: Path) -> None:
    copy = tmp_path / "other"
    shutil.copytree(PROJECT / "src" / "multiea", copy / "multiea", ignore=shutil.ignore_patterns("__pycache__"))
    version = copy / "multiea" / "foundation" / "version.py"
    with another_node(cluster, {"PYTHONPATH": str(copy)}):
        (copy / "multiea" / "api.py").write_text("# changed\n")
        message = refused_align(data, earlier, "--cluster", cluster.address)
        assert "has another copy of the code of multiea, with the same version; install the same" in message
    version.write_text('"""The version of the project."""\n\n__version__ = "0.0.1"\n')
    with another_node(cluster, {"PYTHONPATH": str(copy)}):
        message = refused_align(data, earlier, "--cluster", cluster.address)
        assert message.startswith("node 127.0.0.1 of the cluster has multiea 0.0.1, this machine has ")


def test_a_work_folder_that_is_not_shared_is_refused(
    cluster: RayCluster, data: Path, earlier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    work = "/proc/self/cwd/work"  # another folder in each process
    message = refused_align(data, earlier, "--cluster", cluster.address, "--work-folder", work)
    assert message.startswith(f"node 127.0.0.1 of the cluster does not share the work folder {work} (")
    assert message.endswith("name a folder on a file system that all nodes mount at the same place with --work-folder")
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        ("lots", "memory must be a size such as 8GiB, 500MB or 4G, got 'lots'"),
        ("5MB", "memory must be at least 256 MiB, got 5MB: one block needs this much"),
        ("9000TiB", "memory 9000TiB is more than this machine has: "),
        ("9" * 400 + "G", "memory 999"),
    ],
)
def test_memory_that_cannot_be_is_refused(data: Path, earlier: Path, memory: str, words: str) -> None:
    assert refused_align(data, earlier, "--memory", memory).startswith(words)


def test_more_memory_than_a_node_has_is_refused(cluster: RayCluster, data: Path, earlier: Path) -> None:
    message = refused_align(data, earlier, "--cluster", cluster.address, "--memory", "9000TiB")
    assert message.startswith("memory 9000TiB is more than node 127.0.0.1 has: ")


def test_work_folders_of_others_are_refused(data: Path, earlier: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "letter.txt").write_text("mine")
    message = refused_align(data, earlier, "--work-folder", own)
    assert message == f"{own} exists and is not a work folder; choose a new or empty one"
    assert [path.name for path in own.iterdir()] == ["letter.txt"]
    work = tmp_path / "work"
    succeeds("align", data, "--out", tmp_path / "run", "--work-folder", work, *QUICK[:2])
    message = refused_align(data, earlier, "--work-folder", work, "--random-state", "5", "--set", "bootstrap.pool=none")
    assert "is the work folder of another run: " in message
    assert "setting random_state" in message
    other = shutil.copytree(data, tmp_path / "data")
    with (other / "kg1.tsv").open("a", encoding="utf-8") as file:
        file.write("new\tr\tnewer\n")
    assert "KG kg1" in refused_align(other, earlier, "--work-folder", work)
    (work / MARKER).write_text("[]")
    assert refused_align(data, earlier, "--work-folder", work).startswith(f"{work / MARKER}: damaged")


def test_two_commands_cannot_work_in_one_folder(data: Path, earlier: Path, tmp_path: Path) -> None:
    import fcntl

    (tmp_path / "work").mkdir()
    with (tmp_path / "work" / MARKER).open("w"):
        pass
    handle = os.open(tmp_path / "work" / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        message = refused_align(data, earlier, "--work-folder", tmp_path / "work")
    finally:
        os.close(handle)
    assert message == (f"another process works in {tmp_path / 'work'}; wait for it, or choose another --work-folder")


@pytest.mark.parametrize(("out", "work"), [("both", "both"), ("run", "run/work"), ("work/run", "work")])
def test_a_work_folder_and_an_output_that_overlap_are_refused(data: Path, tmp_path: Path, out: str, work: str) -> None:
    options = ("--out", tmp_path / out, "--work-folder", tmp_path / work)
    message = refused("align", data, *options)
    assert message.endswith("overlap; choose two folders beside each other")
    assert not any((tmp_path / name).exists() for name in ("both", "run", "work"))


def test_an_address_that_cannot_be_looked_up_is_refused(data: Path, earlier: Path) -> None:
    message = refused_align(data, earlier, "--cluster", "a..b:6379")
    assert message.startswith("no Ray cluster answers at a..b:6379 (not a valid host name); check")


def test_a_full_disk_in_the_work_folder_is_named(
    cluster: RayCluster, data: Path, earlier: Path, tmp_path: Path
) -> None:
    place = tmp_path / "full"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("mounting a small file system needs administrator rights")
    try:
        work = place / "work"
        message = refused_align(data, earlier, "--cluster", cluster.address, "--work-folder", work)
        assert message.startswith(f"no space left in the work folder {work}; free some, or choose another")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_without_ray_the_command_says_what_to_install(data: Path, tmp_path: Path) -> None:
    code = "import sys\nsys.modules['ray'] = None\nfrom multiea.cli.main import main\nmain()\n"  # as if not installed
    words = ["align", str(data), "--out", str(tmp_path / "run"), "--cluster", "local", "--no-progress"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=os.environ | {"PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "error: a cluster needs the extra 'cluster', which is not installed: pip install 'multiea[cluster]'\n"
    )
