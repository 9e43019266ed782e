"""Names of engines, and the defaults that depend on the engine."""

from __future__ import annotations

import re
from dataclasses import replace

from multiea.foundation.errors import SettingError, resolve
from multiea.settings.enhancement import Enhancement
from multiea.settings.training import OWN_STRATEGY, Training

PROPAGATION = "propagation"  # the only engine that is not a trained encoder
FUSION_EXAMPLE = f"{PROPAGATION}+multiea"
PROPAGATION_CANDIDATES = 50
PROPAGATION_WEIGHTS = (0.3, 0.7)  # of direct similarities and of paths

_TRANSE_BASED = Training(strategy="each", epochs=300, evaluate_every=25)
_GRAPH_BASED = Training(strategy="each", epochs=300)
TRAINING_DEFAULTS: dict[str, Training] = {
    "multiea": Training(),
    "mtranse": _TRANSE_BASED,
    "iptranse": _TRANSE_BASED,
    "gcn-align": _GRAPH_BASED,
    "kecg": _GRAPH_BASED,
    "naea": _GRAPH_BASED,
    "psr": replace(_GRAPH_BASED, strategy=OWN_STRATEGY),
}


def engine_names() -> list[str]:
    """All engines: propagation, the encoders, and propagation fused with each encoder."""
    return [PROPAGATION, *TRAINING_DEFAULTS, *(f"{PROPAGATION}+{name}" for name in TRAINING_DEFAULTS)]


def check_engine(engine: str) -> list[str]:
    """The parts of an engine's name; an error names what is unknown or cannot be combined."""
    parts = engine.split("+")
    single = dict.fromkeys([PROPAGATION, *TRAINING_DEFAULTS])
    for name in parts:
        resolve(name, single if name in single else dict.fromkeys(engine_names()), what="engine")
    if len(set(parts)) != len(parts) or len([name for name in parts if name != PROPAGATION]) > 1:
        raise SettingError(
            f"engine '{engine}' is not a valid combination; use one encoder, or one fused as {FUSION_EXAMPLE}"
        )
    return parts


def register_engine(name: str, training: Training) -> None:
    """Makes the name of a user's encoder known, with the settings it is trained with by default."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w-]+", name):
        raise SettingError(f"the name of an engine may contain letters, digits, - and _; got {name!r}")
    if name in (PROPAGATION, *TRAINING_DEFAULTS):
        raise SettingError(f"an engine named '{name}' exists already; choose another name")
    TRAINING_DEFAULTS[name] = training


def default_training(engine: str) -> Training:
    """How the encoder of an engine is trained by default."""
    return next((TRAINING_DEFAULTS[name] for name in engine.split("+") if name in TRAINING_DEFAULTS), Training())


def default_enhancement(engine: str, mode: str = Enhancement.mode) -> Enhancement:
    """How the embeddings of an engine are compared by default: those of propagation by their best candidates only."""
    if PROPAGATION in engine.split("+") and mode in ("none", "sharpened"):
        return Enhancement(mode, weights=PROPAGATION_WEIGHTS, temperature=0.03, candidates=PROPAGATION_CANDIDATES)
    return Enhancement(mode)


def unused_settings(engine: str) -> dict[str, str]:
    """Settings that have no effect with an engine, each with an engine for which they have one."""
    parts = engine.split("+")
    unused = {} if len(parts) > 1 else {"fusion_weight": FUSION_EXAMPLE}
    if parts == [PROPAGATION]:
        unused |= {"training": FUSION_EXAMPLE, "pairwise": "a single encoder, such as multiea"}
    if PROPAGATION not in parts:
        unused |= {"propagation": PROPAGATION, "bootstrap": PROPAGATION}
    return unused
