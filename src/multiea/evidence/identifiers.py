"""Identifiers: equal codes that both KGs know speak for a pair of entities, as conflicts speak against one.

How often the codes of entities that are the same agree (m), and those of any two entities (u), gives log(m / u), as for
conflicts (Fellegi and Sunter, 1969). Anchors that are found without codes tell whether equal codes mean equal entities:
two sources may count for themselves, or one may state the ISBN of another edition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import polars as pl
import scipy.sparse as sp

from multiea.evidence.anchors import MOST_ANCHORS, Anchors
from multiea.evidence.codes import Codes, equal_by_chance, equal_by_repetition
from multiea.evidence.features import Features
from multiea.evidence.numbers import FEWEST_ANCHORS, LEAST_AGREEMENT
from multiea.evidence.pair_search import similarities_of

FEWEST_EQUAL = 3  # values in both KGs
DENSE = 0.05  # share of the equal values that chance explains: above, only anchors tell counters from identifiers
SHARED = 0.5  # share of the equal values that two entities may share, as often as they do inside the KGs
CERTAIN = 1e-4  # the same share as DENSE: below, nothing else has to confirm values that hardly any two entities share
LEAST_AGREEMENT_OF_SPARSE = 0.1  # of anchors, where chance explains hardly any equal value
USUAL_AGREEMENT = 0.5  # of codes of the same entity, where no anchors tell
LEAST_CONFIRMED, DEVIATIONS = 0.65, 2.5  # how often equal codes are otherwise more similar than others, and how clearly
SHUFFLES = 10  # other pairs with which each is compared
SMOOTHING = 1.0  # pairs that are equal by chance at least: so much is possible, however rare the values are
MOST_FOR = 10.0  # log-odds for a pair
Pair = tuple[int, int]


@dataclass(frozen=True)
class Identifier:
    """Codes of two KGs that are equal where entities are the same; weight: log-odds of values that nobody shares."""

    codes: tuple[Codes, Codes]
    weight: float

    @property
    def properties(self) -> tuple[str, str]:
        """The names of the two properties."""
        return self.codes[0].name, self.codes[1].name

    def log_odds(self) -> pl.DataFrame:
        """What equal values say: row, column, log_odds; less where several entities share a value."""
        found = equal_codes(*self.codes)
        return found.select("row", "column", log_odds=self.weight - pl.col("sharing").log()).filter(
            pl.col("log_odds") > 0
        )


@dataclass(frozen=True)
class Identifiers:
    """All identifiers of two KGs."""

    found: Sequence[Identifier] = ()

    def matrix(self, shape: Pair) -> sp.csr_array:
        """What equal values say about all pairs of entities, in log-odds, above zero."""
        parts = [pl.DataFrame(schema={"row": pl.Int64, "column": pl.Int64, "log_odds": pl.Float64})]
        parts += [one.log_odds() for one in self.found]
        total = pl.concat(parts).group_by("row", "column").agg(pl.col("log_odds").sum()).sort("row", "column")
        value = np.minimum(total["log_odds"].to_numpy(), MOST_FOR).astype(np.float32)
        return sp.csr_array((value, (total["row"].to_numpy(), total["column"].to_numpy())), shape=shape)

    def inside(self, side: int) -> Identifiers:
        """The same between the entities of one of the two KGs."""
        return Identifiers([replace(one, codes=(one.codes[side],) * 2) for one in self.found])


@dataclass(frozen=True)
class OtherEvidence:
    """What is known of entities beside their codes: anchors, and of each kind the features of all KGs."""

    anchors: Anchors
    features: Sequence[Sequence[Features]] = field(default_factory=list)


def candidate_codes(codes: Sequence[Sequence[Codes]], kgs: Pair) -> list[tuple[Codes, Codes]]:
    """The codes of two KGs of which some values are in both."""
    a, b = kgs
    return [
        (one, other)
        for one, other in product(codes[a], codes[b])
        if len(one.distinct.join(other.distinct, on="key", how="semi")) >= FEWEST_EQUAL
    ]


def find_identifiers(
    candidates: Mapping[Pair, Sequence[tuple[Codes, Codes]]], other: OtherEvidence
) -> dict[Pair, Identifiers]:
    """For each pair of KGs the codes that identify, the best confirmed first, each property once."""
    found = {}
    for pair, some in candidates.items():
        judged = [(_strength(codes, pair, other), codes) for codes in some]
        accepted = sorted(
            ((strength, codes) for strength, codes in judged if strength[1] > 0),
            key=lambda one: (-one[0][0], -one[0][1], one[1][0].name, one[1][1].name),
        )
        taken: tuple[set[str], set[str]] = set(), set()
        kept = []
        for (_, weight), codes in accepted:
            if not any(one.name in side for one, side in zip(codes, taken, strict=True)):
                kept.append(Identifier(codes, weight))
                for one, side in zip(codes, taken, strict=True):
                    side.add(one.name)
        found[pair] = Identifiers(kept)
    return found


def equal_codes(left: Codes, right: Codes) -> pl.DataFrame:
    """The pairs of entities with an equal value, and how many of one KG share it at most: row, column, sharing."""
    sides = (
        side.table.select(pl.col("entity").alias(name), "key", pl.len().over("key").alias(f"{name}_sharing"))
        for side, name in ((left, "row"), (right, "column"))
    )
    one, other = sides
    sharing = pl.max_horizontal("row_sharing", "column_sharing")
    return one.join(other, on="key").group_by("row", "column").agg(sharing=sharing.min()).sort("row", "column")


def _strength(codes: tuple[Codes, Codes], pair: Pair, other: OtherEvidence) -> tuple[float, float]:
    """How well other evidence confirms that equal codes mean equal entities; their log-odds, zero if they do not."""
    equal = equal_codes(*codes)
    sizes = [side.table["entity"].n_unique() for side in codes]
    values = len(codes[0].distinct.join(codes[1].distinct, on="key", how="semi"))
    expected, repeated = equal_by_chance(*codes), equal_by_repetition(*codes)
    is_dense, is_shared = expected > DENSE * values, repeated > SHARED * len(equal)
    is_certain = expected <= CERTAIN * values and repeated <= DENSE * len(equal)
    confirmed = _confirmed(equal, pair, other)
    known, agreeing = _anchors_that_agree(codes, equal, other.anchors.get(pair))
    if known >= FEWEST_ANCHORS:
        least = LEAST_AGREEMENT if is_dense or is_shared else LEAST_AGREEMENT_OF_SPARSE
        m = (agreeing + 1) / (known + 2)
        is_identifier = agreeing >= least * known
    else:
        m = USUAL_AGREEMENT
        is_identifier = is_certain or (confirmed > 0 and not is_dense and not is_shared)
    u = min(max(expected, repeated, SMOOTHING), len(equal)) / (sizes[0] * sizes[1])
    return confirmed, float(np.log(m / u)) if is_identifier else 0.0


def _anchors_that_agree(
    codes: tuple[Codes, Codes], equal: pl.DataFrame, anchors: tuple[np.ndarray, np.ndarray] | None
) -> tuple[int, int]:
    """In how many anchors both entities have a code, and in how many of these they are equal."""
    if anchors is None:
        return 0, 0
    ends = pl.DataFrame({"row": anchors[0].astype(np.int64), "column": anchors[1].astype(np.int64)})
    for side, name in zip(codes, ("row", "column"), strict=True):
        ends = ends.join(side.table.select(pl.col("entity").alias(name)).unique(), on=name, how="semi")
    return len(ends), len(ends.join(equal, on=["row", "column"], how="semi"))


def _confirmed(equal: pl.DataFrame, pair: Pair, other: OtherEvidence) -> float:
    """How often entities with equal codes are otherwise more similar than two of them with other codes; 0 by chance."""
    step = max(1, -(-len(equal) // MOST_ANCHORS))
    row, column = (equal[name].to_numpy()[::step] for name in ("row", "column"))
    count = len(row)
    shifts = np.unique(np.linspace(1, max(count - 1, 1), SHUFFLES).astype(int))
    if count < FEWEST_EQUAL or not other.features:
        return 0.0
    others = column[(np.arange(count) + shifts[:, None]) % count]  # (shuffles, pairs)
    similarity = np.zeros((1 + len(shifts), count))
    for features in other.features:
        left, right = (features[kg] for kg in pair)
        every = np.concatenate([column[None], others])
        similarity += similarities_of(left, right, np.tile(row, len(every)), every.ravel()).reshape(every.shape)
    wins = np.sign(similarity[0] - similarity[1:]).mean() / 2
    deviation = np.sqrt(1 / (12 * count))
    return float(wins) if wins >= max(LEAST_CONFIRMED - 0.5, DEVIATIONS * deviation) else 0.0
