"""Settings of encoder training."""

from __future__ import annotations

import math
from dataclasses import dataclass

from multiea.foundation.errors import SettingError, resolve
from multiea.settings.fields import names_checked, setting
from multiea.settings.parsing import check_types

OWN_STRATEGY = "own"  # the encoder's own alignment loss, where it has one
STRATEGY_NAMES = ("each", "anchor", "mean", OWN_STRATEGY)


@names_checked
@dataclass(frozen=True)
class Training:
    """How an encoder is trained; the defaults are the paper's."""

    strategy: str = setting(
        "mean",
        "How an encoder pulls a group together: each, anchor, mean, or own (psr only).",
        option="--strategy",
    )
    anchor: str | None = setting(
        None, "The anchor KG of strategy anchor; by default the one with the most triples.", option="--anchor"
    )
    dimensions: int = setting(256, "Length of an embedding.")
    layers: int = setting(2, "Layers of the encoder, where it has layers.")
    learning_rate: float = setting(0.01, "Learning rate of Adam.")
    margin: float = setting(1.0, "Margin by which negatives must be farther apart than a group.")
    negatives: int = setting(10, "Negative groups drawn for each member of a group (the paper's eta).")
    refresh_every: int = setting(1, "Number of epochs after which negatives are drawn again.")
    epochs: int = setting(100, "The maximum number of epochs.", option="--epochs")
    evaluate_every: int = setting(5, "Number of epochs between two evaluations on validation seeds.")
    patience: int = setting(10, "Number of evaluations without improvement after which training stops.")
    validation_ratio: float = setting(
        0.1, "Share of the seeds used as validation seeds for early stopping; at least 0.1 in propagation+ENCODER."
    )

    def __post_init__(self) -> None:
        check_types(self, "training")
        resolve(self.strategy, dict.fromkeys(STRATEGY_NAMES), what="strategy")
        if self.anchor is not None and self.strategy != "anchor":
            raise SettingError(f"an anchor KG has no effect with strategy '{self.strategy}'; use strategy 'anchor'")
        for name in ("dimensions", "layers", "negatives", "refresh_every", "epochs", "evaluate_every", "patience"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf:
            raise SettingError(f"learning_rate must be above 0, got {self.learning_rate}")
        if not 0 <= self.margin < math.inf:
            raise SettingError(f"margin must be at least 0, got {self.margin}")
        if not 0 <= self.validation_ratio < 1:
            raise SettingError(f"validation_ratio must be at least 0 and below 1, got {self.validation_ratio}")
