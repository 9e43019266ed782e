"""Settings of the generator of synthetic data sets."""

from __future__ import annotations

from dataclasses import dataclass

from multiea.foundation.errors import SettingError

# Within these bounds a triple of a KG fits into one 64-bit integer.
BOUNDS: dict[str, tuple[float, float]] = {
    "kgs": (2, 1_000),
    "entities": (100, 20_000_000),
    "triples_per_entity": (2.0, 100.0),
    "relations": (2, 10_000),
    "overlap": (0.05, 1.0),
    "triple_share": (0.1, 1.0),
    "noise": (0.0, 0.5),
    "name_noise": (0.0, 1.0),
    "missing": (0.0, 0.9),
    "random_state": (0, 2**63 - 1),
}
WHOLE_NUMBERS = ("kgs", "entities", "relations", "random_state")


@dataclass(frozen=True)
class Synthesis:
    """Settings of the generator.

    kgs: number of KGs. entities: exact number of entities per KG. triples_per_entity: approximate number of triples per
    entity in each KG; duplicates are dropped, so that small dense KGs have fewer. relations: maximal number of
    relations. overlap: expected share of the entities of a KG that also occur in any given other KG; the run time grows
    with 1 / overlap. triple_share: probability that a KG states a triple of the hidden graph whose head and tail it
    has; types are always stated. noise: share of the triples of a KG that are wrong: true ones with another tail.
    random_state: seed of all random choices. names, attributes, triples: what the KGs have. name_noise: share of the
    names with a typo. missing: probability that a KG lacks the name of an entity, and the same for each attribute.

    Triples and groups are the same with and without names and attributes.
    """

    kgs: int = 3
    entities: int = 10_000
    triples_per_entity: float = 5.0
    relations: int = 200
    overlap: float = 0.7
    triple_share: float = 0.7
    noise: float = 0.05
    random_state: int = 0
    names: bool = False
    attributes: bool = False
    triples: bool = True
    name_noise: float = 0.1
    missing: float = 0.1

    def __post_init__(self) -> None:
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            is_whole = name in WHOLE_NUMBERS
            if not isinstance(value, int if is_whole else int | float) or not low <= value <= high:
                kind = "a whole number" if is_whole else "a number"
                raise SettingError(f"{name} must be {kind} between {low:,} and {high:,}, got {value!r}")
        if not (self.triples or self.has_literals):
            raise SettingError("KGs without triples, names and attributes are empty; add names or attributes")

    @property
    def has_literals(self) -> bool:
        """Whether the KGs have names or attributes."""
        return self.names or self.attributes

    @property
    def types(self) -> int:
        """The number of types: more in larger graphs, but few enough to hardly affect the overlap."""
        return int(min(self.entities**0.5, self.overlap * self.entities / 2))

    @property
    def hidden_entities(self) -> int:
        """The number of entities of the hidden graph that gives the overlap: each KG samples its entities from it."""
        drawn, shared = self.entities - self.types, self.overlap * self.entities - self.types
        return self.types + round(drawn * drawn / shared)

    @property
    def kg_names(self) -> list[str]:
        """The names of the KGs: kg1, kg2, ..."""
        return [f"kg{number + 1}" for number in range(self.kgs)]
