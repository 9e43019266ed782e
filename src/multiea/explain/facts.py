"""Facts behind a step of an explanation: names, values, neighbours and third entities; each prints as one line."""

from __future__ import annotations

from dataclasses import dataclass

from multiea.data.name_words import local_name

LONGEST = 60  # characters of a name or value


@dataclass(frozen=True)
class Entity:
    """An entity of a KG; name: what is shown for it, its id where it has no name."""

    kg: str
    id: str
    name: str

    def __str__(self) -> str:
        own = f"{self.kg}/{self.id}"
        return own if self.name == self.id else f"{own} {quoted(self.name)}"


@dataclass(frozen=True)
class NamePair:
    """The two names that match best; are_similar: whether they count as similar."""

    left: str
    right: str
    are_similar: bool = True

    def __str__(self) -> str:
        sign = "=" if self.left == self.right else "~" if self.are_similar else "differs from"
        return f"{quoted(self.left)} {sign} {quoted(self.right)}"


@dataclass(frozen=True)
class ValuePair:
    """Two values that agree, or two numbers of corresponding properties that differ.

    shared: the words that both have, the rarest first; rarity: how much these say, in log-odds of chance.
    """

    left_property: str
    left: str
    right_property: str
    right: str
    agrees: bool
    shared: tuple[str, ...] = ()
    rarity: float = 0.0

    def __str__(self) -> str:
        sign = "=" if self.left == self.right else "~" if self.agrees else "differs from"
        left, right = (
            f"{local_name(name)} {quoted(value)}"
            for name, value in ((self.left_property, self.left), (self.right_property, self.right))
        )
        return f"{left} {sign} {right}"


@dataclass(frozen=True)
class NeighbourPair:
    """Two neighbours that are in one group; forwards: whether the triple leads from the entity to its neighbour."""

    left_relation: str
    left_forwards: bool
    left: Entity
    right_relation: str
    right_forwards: bool
    right: Entity
    status: str

    def __str__(self) -> str:
        sides = (
            f"{local_name(relation)} {'→' if forwards else '←'} {quoted(neighbour.name)}"
            for relation, forwards, neighbour in (
                (self.left_relation, self.left_forwards, self.left),
                (self.right_relation, self.right_forwards, self.right),
            )
        )
        return f"{' = '.join(sides)} ({self.status})"


@dataclass(frozen=True)
class ThirdEntity:
    """An entity of a third KG that connects the two; its direct scores with both."""

    entity: Entity
    left_score: float
    right_score: float

    def __str__(self) -> str:
        return f"through {self.entity} ({self.left_score:.2f} and {self.right_score:.2f})"


Fact = NamePair | ValuePair | NeighbourPair | ThirdEntity


def agrees(fact: Fact) -> bool:
    """Whether a fact speaks for a pair; two names do if they are the same."""
    if isinstance(fact, NamePair):
        return fact.left == fact.right
    return fact.agrees if isinstance(fact, ValuePair) else True


def quoted(text: str) -> str:
    """A name or value in quotes, on one line, shortened."""
    line = " ".join(text.split())
    return f"'{line if len(line) <= LONGEST else line[: LONGEST - 1] + '…'}'"
