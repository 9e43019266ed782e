"""A run of an encoder that a user registered opens where that encoder is unknown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import multiea
from multiea import SettingError
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.settings.engines import engine_names
from support.command_line import refused, succeeds
from support.places import PROJECT

SCRIPT = """
import sys
import multiea
from multiea.engines.encoders.multiea import MultiEAEncoder

multiea.register_encoder("my-encoder", MultiEAEncoder, multiea.Training(epochs=2, dimensions=8))
multiea.align(multiea.load(sys.argv[1]), engine=sys.argv[2]).save(sys.argv[3])
"""


@pytest.mark.parametrize("engine", ["my-encoder", "propagation+my-encoder"])
def test_a_run_of_an_unregistered_encoder_opens(engine: str, three_kgs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    subprocess.run([sys.executable, "-c", SCRIPT, str(three_kgs), engine, str(run)], check=True, timeout=120)
    assert "my-encoder" not in engine_names()
    alignment = multiea.open(run, with_triples=True)
    assert alignment.settings.engine == engine
    assert (alignment.settings.training.epochs, alignment.settings.training.dimensions) == (2, 8)
    assert alignment.groups.height > 0
    assert "M-Hits" in succeeds("evaluate", run).stdout
    succeeds("export", run, "--to", "groups", "--out", tmp_path / "groups.tsv")
    alignment.save(tmp_path / "copy")
    assert multiea.open(tmp_path / "copy").settings == alignment.settings


class OneEncoder(MultiEAEncoder):
    """An encoder of the user."""


class OtherEncoder(MultiEAEncoder):
    """Another one."""


def test_a_work_folder_tells_encoders_of_the_same_name_apart(three_kgs: Path) -> None:
    script = (
        "import sys, multiea; from multiea.runs.aligning import Job; import tests.runs.test_registered_encoder as own;"
        "multiea.register_encoder('mine', getattr(own, sys.argv[1]));"
        "settings = multiea.AlignSettings.default('mine');"
        "print(Job(multiea.load(sys.argv[2]), settings).identity())"
    )
    paths = os.pathsep.join(str(PROJECT / name) for name in ("", "src", "tests"))

    def identity(encoder: str) -> str:
        command = [sys.executable, "-c", script, encoder, str(three_kgs)]
        environment = os.environ | {"PYTHONPATH": paths}
        done = subprocess.run(command, check=True, timeout=120, env=environment, capture_output=True, text=True)
        return done.stdout

    assert identity("OneEncoder") == identity("OneEncoder") != identity("OtherEncoder")


def test_aligning_again_with_an_unregistered_encoder_is_refused(three_kgs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    subprocess.run([sys.executable, "-c", SCRIPT, str(three_kgs), "my-encoder", str(run)], check=True, timeout=120)
    message = refused("align", "--config", run, "--out", tmp_path / "again")
    assert message.startswith(f"{run / 'config.toml'}: engine: unknown engine 'my-encoder'; choose one of: propagation")
    with pytest.raises(SettingError, match="unknown engine 'my-encoder'"):
        multiea.read_settings(run)
