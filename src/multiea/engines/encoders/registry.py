"""The encoders by name, and how to add one."""

from __future__ import annotations

from collections.abc import Callable

import torch

from multiea.engines.encoders.base import Encoder
from multiea.engines.encoders.gcn_align import GcnAlign
from multiea.engines.encoders.iptranse import IpTransE
from multiea.engines.encoders.kecg import Kecg
from multiea.engines.encoders.mtranse import MTransE
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.encoders.naea import Naea
from multiea.engines.encoders.psr import Psr
from multiea.foundation.errors import SettingError, check_kind
from multiea.graph.joint_graph import JointGraph
from multiea.settings.engines import register_engine
from multiea.settings.training import Training

MakeEncoder = Callable[[JointGraph, int, int, torch.Generator], Encoder]
ENCODERS: dict[str, MakeEncoder] = {
    "multiea": MultiEAEncoder,
    "mtranse": MTransE,
    "iptranse": IpTransE,
    "gcn-align": GcnAlign,
    "kecg": Kecg,
    "naea": Naea,
    "psr": Psr,
}


def register_encoder(name: str, make: MakeEncoder, training: Training | None = None) -> None:
    """Makes an encoder of your own available as an engine: `align(task, engine=name)`.

    make: an Encoder subclass, or a function that makes one from (graph, dimensions, layers, generator). training: the
    settings it is trained with by default.
    """
    if not callable(make):
        raise SettingError(f"make must be an Encoder class, or a function that makes one, got {make!r}")
    check_kind(training, Training | None, "training", "a multiea.Training")
    register_engine(name, Training() if training is None else training)
    ENCODERS[name] = make
