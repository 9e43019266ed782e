"""Connecting to Ray: a cluster that runs, or one on this machine for the time of one command."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from multiea.foundation.errors import MultiEAError, SettingError
from multiea.tasks.grpc_probe import speaks_grpc

AUTO, LOCAL = "auto", "local"
FORMS = "auto, local, or the address of a head node as HOST:PORT, such as 10.0.0.1:6379"
ANSWER_WITHIN = 5.0  # seconds
OBJECT_STORE = 100 << 20  # arrays go through the work folder
LONGEST_FOLDER = 40  # the path of a socket in it has at most 107 characters
LOOPBACK = ("127.0.0.1", "localhost", "::1")
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
# Ray takes an address of this machine for one that other machines can reach, unless it believes to be on a desktop.
KEEPS_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
SET_BY_RAY = "RAY_AUTH_MODE"
OWN_TOKEN = secrets.token_hex(32)  # keeps other users of this machine out


def check_address(address: str) -> None:
    """Refuses what is no address of a cluster."""
    if not isinstance(address, str):
        raise SettingError(f"cluster must be {FORMS}, got {address!r}")
    if address not in (AUTO, LOCAL):
        _host_and_port(address)


def require_ray() -> None:
    """Raises an error that says how to install Ray where it is missing."""
    if find_spec("ray") is None:
        raise MultiEAError(
            "a cluster needs the extra 'cluster', which is not installed: pip install 'multiea[cluster]'"
        )


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Ray, connected while the context is open; where the program is connected already, `auto` uses that."""
    require_ray()
    check_address(address)
    import ray  # deferred: an extra

    if ray.is_initialized():
        if address != AUTO:
            raise SettingError(f"Ray is connected already; use cluster='{AUTO}', or call ray.shutdown() before")
        yield
    elif address == LOCAL:
        with _nothing_printed(), _local_ray():
            yield
    else:
        host, port = _running_cluster() if address == AUTO else _host_and_port(address)
        _check_answers(host, port)
        is_here = host in LOOPBACK
        with _environment(QUIET | (KEEPS_LOOPBACK if is_here else {})), _loopback_kept(is_here), _nothing_printed():
            _start(f"{host} port {port}", address=f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
            with _shut_down_at_end():
                yield


@contextmanager
def _local_ray() -> Iterator[None]:
    """Ray on this machine, reachable from this machine only."""
    parent = tempfile.gettempdir() if len(tempfile.gettempdir()) < LONGEST_FOLDER - len("/multiea-12345678") else "/tmp"
    folder = Path(tempfile.mkdtemp(prefix="multiea-", dir=parent))
    own = QUIET | KEEPS_LOOPBACK | {"RAY_AUTH_TOKEN": OWN_TOKEN, "RAY_worker_niceness": str(os.nice(0))}
    try:
        with _environment(own), _loopback_kept(True):
            _start(
                "this machine",
                address=LOCAL,
                num_cpus=usable_cpus(),
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                _temp_dir=str(folder),
            )
            with _shut_down_at_end():
                yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def usable_cpus() -> int:
    """The CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(place: str, **options: Any) -> None:
    """Connects or starts Ray, without its messages and its handler of signals."""
    import ray  # deferred: an extra

    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM) if is_main else None
    try:
        ray.init(log_to_driver=False, logging_level="CRITICAL", **options)
    except Exception as error:  # Ray raises errors of many kinds
        reason = " ".join(str(error).split())
        raise MultiEAError(
            f"Ray at {place} cannot be used: {reason.rstrip('.')}. Start this command on a machine of the cluster, "
            "with the versions of Python and Ray that the cluster has"
        ) from None
    finally:
        if handler is not None:
            signal.signal(signal.SIGTERM, handler)


@contextmanager
def _shut_down_at_end() -> Iterator[None]:
    import ray  # deferred: an extra

    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _nothing_printed() -> Iterator[None]:
    """Keeps Ray from printing to standard output that a node was lost, which may be in the middle of JSON."""
    from ray._private import worker  # deferred: an extra

    printing = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printing


def _running_cluster() -> tuple[str, int]:
    """The address in RAY_ADDRESS, or of the cluster that `ray start` has joined this machine to."""
    from ray._private.utils import read_ray_address  # deferred: an extra

    address = os.environ.get("RAY_ADDRESS") or read_ray_address()
    if address in (None, "", AUTO, LOCAL):
        raise SettingError(
            "no Ray cluster is running on this machine; start one with `ray start --head` (docs/scale.md), name its "
            "head node with --cluster HOST:PORT or RAY_ADDRESS, or use --cluster local"
        )
    return _host_and_port(str(address))


def _host_and_port(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise SettingError(f"cluster must be {FORMS}, got '{address}'")
    return host.strip("[]"), int(port)


def _check_answers(host: str, port: int) -> None:
    """Raises an error unless something at the address speaks as Ray does; Ray itself would try for minutes."""
    try:
        if os.environ.get("RAY_USE_TLS", "0") != "0":  # encrypted: that somebody listens must be enough
            socket.create_connection((host, port), timeout=ANSWER_WITHIN).close()
            return
        is_ray = speaks_grpc(host, port, ANSWER_WITHIN)
    except (OSError, UnicodeError) as error:  # the second where a part of the host is empty or too long
        reason = "no answer" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or str(error)
        if isinstance(error, UnicodeError):
            reason = "not a valid host name"
        raise SettingError(
            f"no Ray cluster answers at {host}:{port} ({reason}); check the address and that the cluster runs: "
            "`ray status` on its head node"
        ) from None
    if not is_ray:
        raise SettingError(f"what answers at {host}:{port} is not Ray; the port of a head node is 6379 by default")


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Environment variables of this process and of those it starts, while the context is open."""
    before = {name: os.environ.get(name) for name in (*changes, SET_BY_RAY)}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _loopback_kept(wanted: bool) -> Iterator[None]:
    """The same for this process, where Ray has read its environment already."""
    from ray._private import ray_constants  # deferred: an extra

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = before and not wanted
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
