"""Settings of the propagation engine."""

from __future__ import annotations

import math
from dataclasses import dataclass

from multiea.foundation.errors import SettingError, check_share
from multiea.settings.fields import names_checked, setting
from multiea.settings.parsing import check_types

FEW_ENTITIES, MANY_ENTITIES = 30_000, 240_000  # up to so many, longer marks cost little time and memory
VERY_MANY_ENTITIES = 1_000_000  # the same as the second on a GPU, and where tasks propagate marks
PRINCIPAL_FROM = 150_000  # entities: from here on relations are described by their principal directions
DIMENSIONS_OF_FEW, DIMENSIONS_OF_MANY, DIMENSIONS_OF_VERY_MANY = 768, 512, 256


def default_dimensions(entities: int, many: int = MANY_ENTITIES) -> int:
    """The length of a propagation mark for so many entities; many: up to so many it stays long."""
    if entities <= FEW_ENTITIES:
        return DIMENSIONS_OF_FEW
    return DIMENSIONS_OF_MANY if entities <= many else DIMENSIONS_OF_VERY_MANY


@names_checked
@dataclass(frozen=True)
class Propagation:
    """How marks flow through the graph, and how much each view of what arrives counts."""

    dimensions: int | None = setting(
        None,
        f"Length of a propagation mark; by default {DIMENSIONS_OF_FEW} for up to {FEW_ENTITIES:,} entities, "
        f"{DIMENSIONS_OF_MANY} for up to {MANY_ENTITIES:,}, {DIMENSIONS_OF_VERY_MANY} for more; "
        f"{DIMENSIONS_OF_MANY} for up to {VERY_MANY_ENTITIES:,} on a GPU, and where large KGs are compared by "
        "structure alone on a CPU.",
    )
    relation_numbers: int | None = setting(
        None, "How many numbers describe a relation; by default a quarter of the dimensions."
    )
    columns: int = setting(16, "How many columns of the neighbours are weighted by each number of a relation.")
    hops: int = setting(2, "How many hops marks flow.")
    own_weight: float = setting(0.5, "Weight of an entity's own vector in a hop, as a multiple of its degree.")
    view_weights: tuple[float, float, float, float] = setting(
        (14.0, 3.0, 1.3, 1.3),
        "Weights of the views: neighbours by relation; marks at distance hops + 1; nearer marks; relations only.",
    )
    relation_discount: float = setting(
        0.5, "How strongly dominating directions among relations are damped: 0 not at all, 1 until all are equal."
    )

    def __post_init__(self) -> None:
        check_types(self, "propagation")
        for name in ("dimensions", "relation_numbers", "columns", "hops"):
            value = getattr(self, name)
            may_be_none = name in ("dimensions", "relation_numbers")
            if not (value is None and may_be_none) and (not isinstance(value, int) or value < 1):
                raise SettingError(f"propagation.{name} must be a whole number of at least 1, got {value!r}")
        if self.dimensions is not None and self.dimensions % (4 * self.columns):
            raise SettingError(f"propagation.dimensions must be a multiple of 4 x columns ({4 * self.columns})")
        if not 0 <= self.own_weight < math.inf:
            raise SettingError(f"propagation.own_weight must be at least 0, got {self.own_weight}")
        weights = self.view_weights
        if len(weights) != 4 or not all(0 <= weight < math.inf for weight in weights) or not any(weights):
            raise SettingError(
                f"propagation.view_weights must be four numbers of at least 0, not all of them 0; got {weights}"
            )
        check_share("propagation.relation_discount", self.relation_discount)
