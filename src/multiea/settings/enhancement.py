"""Settings of the similarity stage: Sinkhorn, candidates, and paths through third KGs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from multiea.foundation.errors import SettingError, resolve
from multiea.settings.fields import names_checked, setting
from multiea.settings.parsing import check_types
from multiea.settings.propagation import PRINCIPAL_FROM

LOWEST_TEMPERATURE = 0.001
FACTOR_OF_MANY = 1.5  # of the temperature, where relations are described by principal directions
ENHANCEMENT_MODES = {
    "none": "direct similarities only",
    "product": "the paper's equation to the letter: products of plain similarities, which hubs dominate",
    "profile": "cosines of similarity profiles: entities that resemble the same entities of a third KG are similar",
    "sharpened": "Sinkhorn first, then products",
}

MODES_WITH_CANDIDATES = ("sharpened", "none")  # the others need all pairs


@names_checked
@dataclass(frozen=True)
class Enhancement:
    """How similarities are normalised, and how much paths through third KGs add to them.

    The paths of one length share their weight equally; weights of lengths that M KGs do not have are ignored.
    """

    mode: str = setting("sharpened", "What third KGs add: none, product, profile or sharpened.", option="--enhancement")
    weights: tuple[float, ...] = setting(
        (0.2, 0.8),
        "Weights of the direct similarity, of all paths through one third KG, through two, and so on.",
    )
    temperature: float = setting(
        0.05,
        "The temperature of Sinkhorn: the lower, the sharper. Where candidates are limited and there are more than "
        f"{PRINCIPAL_FROM:,} entities, {FACTOR_OF_MANY} times as much is taken.",
    )
    sweeps: int = setting(15, "How often Sinkhorn normalises rows and columns.")
    candidates: int | None = setting(
        None, 'About how many of the best candidates of each row and column are kept; "none" keeps all pairs.'
    )

    def __post_init__(self) -> None:
        check_types(self, "enhancement")
        object.__setattr__(self, "weights", tuple(self.weights))
        resolve(self.mode, ENHANCEMENT_MODES, what="enhancement")
        if not self.weights or not all(0 <= weight < math.inf for weight in self.weights) or not self.weights[0] > 0:
            raise SettingError(f"weights must be at least 0, the first above 0, got {self.weights}")
        if not LOWEST_TEMPERATURE <= self.temperature < math.inf:
            raise SettingError(f"temperature must be at least {LOWEST_TEMPERATURE}, got {self.temperature}")
        if self.sweeps < 1:
            raise SettingError(f"sweeps must be at least 1, got {self.sweeps}")
        if self.candidates is None:
            return
        if not self.candidates >= 1:
            raise SettingError(f"candidates must be at least 1, got {self.candidates}")
        if self.mode not in MODES_WITH_CANDIDATES:
            raise SettingError(f"enhancement '{self.mode}' needs all pairs; remove candidates")
        if len(self.weights) > 2:
            raise SettingError("with a number of candidates, paths go through one third KG only; give two weights")

    def for_entities(self, entities: int) -> Enhancement:
        """The same for so many entities: where relations are described better, cosines differ more."""
        if self.candidates is None or entities <= PRINCIPAL_FROM:
            return self
        return replace(self, temperature=self.temperature * FACTOR_OF_MANY)
