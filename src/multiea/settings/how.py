"""How to align: the engine and all its settings, checked, and as a run folder keeps them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from multiea.data.task import check_random_state
from multiea.engines.encoder_embeddings import ENCODERS, PROPAGATION
from multiea.engines.propagation import Propagation
from multiea.engines.training import Training
from multiea.foundation.errors import SettingError, check_share, resolve
from multiea.pipeline.bootstrapping import HELD_BACK, Bootstrapping
from multiea.settings.fields import told
from multiea.similarity.enhancement import Enhancement

log = logging.getLogger("multiea")
FUSION = f"{PROPAGATION}+multiea"
DEVICES = {"auto": None, "cpu": None, "cuda": None}
CANDIDATES = 50


@dataclass(frozen=True)
class How:
    """All that is chosen about an alignment; an error says what cannot be."""

    engine: str
    enhancement: Enhancement
    propagation: Propagation
    bootstrap: Bootstrapping
    training: Training
    pairwise: bool
    fusion_weight: float
    duplicates: tuple[str, ...]
    random_state: int
    device: str

    def __post_init__(self) -> None:
        check_share("fusion_weight", self.fusion_weight)
        check_random_state(self.random_state)
        if self.pairwise and self.propagates:
            raise SettingError("propagation has nothing to train pair by pair; pairwise goes with an encoder alone")
        chosen_device(self.device)
        if self.enhancement.mode == "product":
            log.warning(
                "enhancement 'product' is the paper's equation to the letter, for comparison: hubs ruin its groups"
            )

    @property
    def propagates(self) -> bool:
        """Whether propagation is the engine, or a part of it."""
        return PROPAGATION in self.engine.split("+")

    @property
    def encoder(self) -> str | None:
        """The encoder to train, if any."""
        return next((name for name in self.engine.split("+") if name in ENCODERS), None)

    def used(self) -> dict[str, Any]:
        """What a run folder must hold to make the run again: settings that count with the engine, no others."""
        enhancement = told(self.enhancement, default_enhancement(self.engine, self.enhancement.mode))
        used = asdict(self) | {"enhancement": enhancement, "duplicates": list(self.duplicates)}
        left_out = {name for name in ("duplicates", "pairwise") if not used[name]} | set(unused_settings(self.engine))
        return {name: value for name, value in used.items() if name not in left_out}


def settled(
    *,
    engine: str,
    enhancement: Enhancement | str,
    propagation: Propagation | None,
    bootstrap: Bootstrapping | str,
    training: Training | None,
    duplicates: Sequence[str],
    **others: Any,
) -> How:
    """All settings in place: what is not given is as usual for the engine."""
    names = check_engine(engine)
    training = usual_training(engine) if training is None else training
    if len(names) > 1:  # what one engine learns from, the other must not be judged by
        training = replace(training, validation_ratio=max(training.validation_ratio, HELD_BACK))
    return How(
        engine=engine,
        enhancement=default_enhancement(engine, enhancement) if isinstance(enhancement, str) else enhancement,
        propagation=Propagation() if propagation is None else propagation,
        bootstrap=Bootstrapping(pool=bootstrap) if isinstance(bootstrap, str) else bootstrap,
        training=training,
        duplicates=tuple(dict.fromkeys(duplicates)),
        **others,
    )


def default_enhancement(engine: str, mode: str = "sharpened") -> Enhancement:
    """How an engine's embeddings are best compared: what propagation makes, by its best candidates alone."""
    if PROPAGATION in engine.split("+") and mode in ("none", "sharpened"):
        return Enhancement(mode, weights=(0.3, 0.7), temperature=0.03, candidates=CANDIDATES)
    return Enhancement(mode)


def usual_training(engine: str) -> Training:
    """The settings an engine's encoder is trained with unless others are given."""
    encoders = [name for name in check_engine(engine) if name in ENCODERS]
    return ENCODERS[encoders[0]].usual if encoders else Training()


def engine_names() -> list[str]:
    """All engines there are: propagation, the encoders, and both fused."""
    return [PROPAGATION, *ENCODERS, *(f"{PROPAGATION}+{name}" for name in ENCODERS)]


def check_engine(engine: str) -> list[str]:
    """The engines of which one is made; an error names what is unknown or does not go together."""
    names = engine.split("+")
    single = dict.fromkeys([PROPAGATION, *ENCODERS])
    for name in names:
        resolve(name, single if name in single else dict.fromkeys(engine_names()), what="engine")
    if len(set(names)) != len(names) or len([name for name in names if name != PROPAGATION]) > 1:
        raise SettingError(f"engine '{engine}' cannot be: one encoder alone, or fused as {FUSION}")
    return names


def unused_settings(engine: str) -> dict[str, str]:
    """Settings that change nothing with an engine, each with an engine it is for."""
    names = check_engine(engine)
    unused = {} if len(names) > 1 else {"fusion_weight": FUSION}
    if names == [PROPAGATION]:
        unused |= {"training": FUSION, "pairwise": "an encoder alone, such as multiea"}
    if PROPAGATION not in names:
        unused |= {"propagation": PROPAGATION, "bootstrap": PROPAGATION}
    return unused


def chosen_device(name: str) -> torch.device:
    """The device a word names; an error where it names none, or one that is not there."""
    resolve(name, DEVICES, what="device")
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingError("device 'cuda' was asked for, but torch sees no CUDA device here; use --device cpu or auto")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")
