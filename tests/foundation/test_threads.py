"""Threads that wait sleep soon, unless the user decides otherwise; the command line says so before torch is loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from multiea.foundation.threads import BRIEFLY, let_waiting_threads_sleep


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, BRIEFLY),
        ({"GOMP_SPINCOUNT": "7"}, {**BRIEFLY, "GOMP_SPINCOUNT": "7"}),
        ({"OMP_WAIT_POLICY": "active"}, {}),
    ],
)
def test_what_the_user_has_set_stays(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], expected: dict[str, str]
) -> None:
    for name in ("OMP_WAIT_POLICY", *BRIEFLY):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    let_waiting_threads_sleep()
    found = {name: os.environ[name] for name in BRIEFLY if name in os.environ}
    for name in BRIEFLY:
        monkeypatch.delenv(name, raising=False)
    assert found == expected


def test_the_command_line_sets_it_before_the_libraries_read_it() -> None:
    script = (
        "import os, sys\nsys.argv = ['multiea', '--version']\nfrom multiea.cli.main import main\n"
        "loaded = {'torch', 'scipy', 'numpy'} & set(sys.modules)\nassert not loaded, loaded\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(os.environ['GOMP_SPINCOUNT'])"
    )
    clean = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", *BRIEFLY)}
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, timeout=60, capture_output=True, text=True, env=clean
    )
    assert done.stdout.splitlines()[-1] == BRIEFLY["GOMP_SPINCOUNT"]
