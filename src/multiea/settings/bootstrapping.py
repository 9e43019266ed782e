"""Settings of bootstrapping: where pseudo-labels come from and how certain they must be."""

from __future__ import annotations

from dataclasses import dataclass

from multiea.foundation.errors import SettingError, check_share, resolve
from multiea.settings.fields import names_checked, setting
from multiea.settings.parsing import check_types

BOOTSTRAP_POOLS = {
    "all": "pseudo-labels from all non-seed entities",
    "test": "pseudo-labels from the held-out entities only",
    "none": "no bootstrapping",
}


@names_checked
@dataclass(frozen=True)
class Bootstrapping:
    """Where pseudo-labels may come from, and how certain they must be."""

    pool: str = setting(
        "all",
        "Which entities may become pseudo-labels: all (every non-seed entity), test (held-out entities), none.",
        option="--bootstrap",
    )
    rounds: int = setting(6, "The maximum number of rounds.")
    trust_in_complete: float = setting(
        0.4, "Precision, estimated on validation seeds, that complete groups need to become pseudo-labels."
    )
    trust_in_members: float = setting(0.3, "Confidence that the members of a partial group need.")
    trust_in_kinds: float = setting(
        0.5, "Share of partial groups over the same KGs that must be right and lack no member."
    )
    partial_weight: float = setting(0.5, "Weight of the mark of a partial group.")

    def __post_init__(self) -> None:
        check_types(self, "bootstrap")
        resolve(self.pool, BOOTSTRAP_POOLS, what="bootstrap")
        if self.rounds < 1:
            raise SettingError(f"bootstrap.rounds must be at least 1, got {self.rounds}")
        for name in ("trust_in_complete", "trust_in_members", "trust_in_kinds", "partial_weight"):
            check_share(f"bootstrap.{name}", getattr(self, name))
