"""Synthetic data sets of any size: each KG is a view of a part of one hidden graph, with ids of its own.

The hidden graph is typed. The type of an entity determines its preferred relations, and a relation has preferred types
of tails. A few entities, relations and types occur in most triples, as in real KGs. Types are entities themselves. All
KGs have all types and state the type of each of their entities, so that no entity is isolated. Names and attributes
belong to the entities of the hidden graph, and each KG states them in its own way (synthetic_literals).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import tomli_w
from numpy.typing import NDArray

from multiea.data.groups import ABSENT
from multiea.data.packed_triples import pack, unpack
from multiea.data.synthetic_literals import SyntheticLiterals
from multiea.data.synthetic_settings import Synthesis
from multiea.foundation import progress

__all__ = ["Synthesis", "write_synthetic"]

Ids = NDArray[np.int64]

IS_A = 0  # the relation from an entity to its type, and from a type to a broader one
PREFERRED = 8  # number of relations a type uses, and number of tail types of a relation
SKEW = 0.6  # the n-th most frequent entity of a type occurs n ** -SKEW times as often as the first
TYPE_SKEW = 0.8  # the same for the sizes of types
OUT_DEGREE_SPREAD = 1.0  # standard deviation of the logarithm of the out-degree
BLOCK_TRIPLES = 1 << 20
BLOCK_ROWS = 1 << 18


def write_synthetic(settings: Synthesis, folder: Path) -> dict[str, Any]:
    """Writes the data set into an existing folder and returns its statistics.

    One TSV file of triples per KG and groups.tsv; where there are names or attributes, also one N-Triples file of
    literals per KG, and dataset.toml. Ids and the order of rows are random in each file, so that they carry no
    information about the groups.
    """
    seeds = np.random.SeedSequence(settings.random_state)
    hidden_seed, shuffle_seed, *kg_seeds = seeds.spawn(2 + settings.kgs)
    views = [_View(settings, np.random.default_rng(seed)) for seed in kg_seeds]
    if settings.triples:
        hidden = _HiddenGraph(settings, np.random.default_rng(hidden_seed))
        in_any_view = np.logical_or.reduce([view.entity_number != ABSENT for view in views])
        for triples in hidden.triples(in_any_view):
            for view in views:
                view.add(*triples)
    kgs = {}
    for name, view in zip(settings.kg_names, views, strict=True):
        kgs[name] = {"entities": settings.entities, "relations": 0, "triples": 0}
        if settings.triples:
            kgs[name] = view.write(name, folder / f"{name}.tsv")
    if settings.has_literals:
        literals = _write_literals(settings, views, seeds.spawn(1)[0], folder)
        for name, number in literals.items():
            kgs[name]["literals"] = number
    members = np.stack([view.entity_number for view in views], axis=1)  # (hidden entities, M)
    by_size = _write_groups(members, settings.kg_names, np.random.default_rng(shuffle_seed), folder / "groups.tsv")
    return {"kgs": kgs, "groups": sum(by_size.values()), "groups_by_size": by_size}


class _HiddenGraph:
    """The graph that all KGs are views of: first the types, then the entities of each type, the most frequent first."""

    def __init__(self, settings: Synthesis, rng: np.random.Generator) -> None:
        self._rng, self._types, self._entities = rng, settings.types, settings.hidden_entities
        ordinary = self._entities - self._types
        share = np.arange(1, self._types + 1) ** -TYPE_SKEW
        edges = np.rint(np.cumsum(share) / share.sum() * ordinary).astype(np.int64)
        self._sizes = np.diff(edges, prepend=0)  # (types,)
        self._starts = self._types + edges - self._sizes
        members = np.repeat(np.arange(self._types), self._sizes)
        broader = (np.arange(self._types) - 1) // 2  # a binary tree; the first type is the root and has no broader type
        self._type_of = np.concatenate([broader, members])  # (entities,)
        relations = 1 + self._skewed(np.full(self._types * PREFERRED, settings.relations - 1))
        self._relations = relations.reshape(self._types, PREFERRED)
        self._tail_types = rng.choice(members, (settings.relations, PREFERRED))
        stated = settings.entities * (settings.triples_per_entity * (1 - settings.noise) - 1)  # per KG, without IS_A
        drawn = (settings.entities - self._types) / ordinary
        self._mean_out_degree = max(stated, 0) / (settings.triple_share * drawn**2 * ordinary)

    def triples(self, seen: NDArray[np.bool_]) -> Iterator[tuple[Ids, Ids, Ids]]:
        """The distinct heads, relations and tails in blocks, without the triples whose head no KG has."""
        typed = np.flatnonzero(seen[1:]) + 1
        yield typed, np.full(len(typed), IS_A), self._type_of[typed]
        spread = self._rng.lognormal(-(OUT_DEGREE_SPREAD**2) / 2, OUT_DEGREE_SPREAD, self._entities)  # of mean 1
        degrees = self._rng.poisson(self._mean_out_degree * spread)
        degrees[: self._types] = 0
        degrees[~seen] = 0
        ends = np.cumsum(degrees)
        cuts = np.searchsorted(ends, np.arange(BLOCK_TRIPLES, ends[-1], BLOCK_TRIPLES))
        with progress.stage("generating triples", float(ends[-1])) as advance:
            # All triples of a head are in one block, so distinct within a block means distinct overall.
            for heads in np.split(np.arange(self._entities), cuts):
                yield self._random_triples(np.repeat(heads, degrees[heads]))
                advance(float(degrees[heads].sum()))

    def _random_triples(self, heads: Ids) -> tuple[Ids, Ids, Ids]:
        width = np.full(len(heads), PREFERRED)
        relations = self._relations[self._type_of[heads], self._skewed(width)]
        tail_types = self._tail_types[relations, self._skewed(width)]
        tails = self._starts[tail_types] + self._skewed(self._sizes[tail_types])
        is_next = np.diff(heads, prepend=heads[:1]) > 0  # heads are sorted; renumbered from 0 they fit when packed
        packed = pack(np.cumsum(is_next), relations, tails, len(self._tail_types), self._entities)
        kept = np.unique(packed, return_index=True)[1]
        kept = kept[heads[kept] != tails[kept]]
        return heads[kept], relations[kept], tails[kept]

    def _skewed(self, sizes: Ids) -> Ids:
        """A random number below each size n, where small ones are more likely: P(below x) = (x / n) ** (1 - SKEW)."""
        return (sizes * self._rng.random(len(sizes)) ** (1 / (1 - SKEW))).astype(np.int64)


class _View:
    """One KG: a renumbered part of the hidden graph."""

    def __init__(self, settings: Synthesis, rng: np.random.Generator) -> None:
        self._settings, self._rng = settings, rng
        self._space = (settings.relations, settings.entities)
        types, hidden = settings.types, settings.hidden_entities
        drawn = types + rng.choice(hidden - types, settings.entities - types, replace=False, shuffle=False)
        chosen = np.concatenate([np.arange(types), drawn])
        self.entity_number = np.full(hidden, ABSENT, dtype=np.int32)
        self.entity_number[chosen] = rng.permutation(settings.entities)
        self._relation_number = rng.permutation(settings.relations)
        self._blocks: list[Ids] = []

    @property
    def hidden_of(self) -> Ids:
        """The hidden entity behind each entity of this KG, (E,)."""
        present = np.flatnonzero(self.entity_number != ABSENT)
        hidden = np.empty(len(present), dtype=np.int64)
        hidden[self.entity_number[present]] = present
        return hidden

    def add(self, heads: Ids, relations: Ids, tails: Ids) -> None:
        """Adds those of some hidden triples that this KG states."""
        head, tail = self.entity_number[heads], self.entity_number[tails]
        stated = (relations == IS_A) | (self._rng.random(len(heads)) < self._settings.triple_share)
        kept = (head != ABSENT) & (tail != ABSENT) & stated
        self._blocks.append(pack(head[kept], self._relation_number[relations[kept]], tail[kept], *self._space))

    def write(self, name: str, path: Path) -> dict[str, int]:
        """Writes all triples with noise in random order, frees them, and returns the statistics of the KG."""
        relations, entities = self._space
        stated = np.concatenate(self._blocks)
        wrong = round(len(stated) * self._settings.noise / (1 - self._settings.noise))
        noise = self._rng.choice(stated, wrong)  # true triples that get another tail
        noise += self._rng.integers(entities, size=wrong) - noise % entities
        packed = np.sort(np.concatenate([stated, noise]))  # several times faster than np.unique, which hashes
        packed = packed[np.diff(packed, prepend=-1) != 0]
        self._blocks.clear()
        self._rng.shuffle(packed)
        used = np.zeros(relations, dtype=bool)
        entity, relation = f"{name}:{{}}", f"{name}:r{{}}"
        with path.open("wb") as file, progress.stage(f"writing {path.name}", len(packed)) as advance:
            for start in range(0, len(packed), BLOCK_ROWS):
                rows = unpack(packed[start : start + BLOCK_ROWS], *self._space)
                used[rows[1]] = True
                block = pl.DataFrame(dict(zip("hrt", rows, strict=True)))
                block = block.select(h=pl.format(entity, "h"), r=pl.format(relation, "r"), t=pl.format(entity, "t"))
                _append(block, file)
                advance(block.height)
        return {"entities": entities, "relations": int(used.sum()), "triples": len(packed)}


def _write_literals(
    settings: Synthesis, views: Sequence[_View], seed: np.random.SeedSequence, folder: Path
) -> dict[str, int]:
    """Writes the literals of all KGs, the entities about which nothing is said, and dataset.toml.

    Returns the number of literals of each KG.
    """
    literals, counts = SyntheticLiterals(settings, seed), {}
    files: dict[str, dict[str, list[str]]] = {}
    without_facts = []
    for number, (name, view) in enumerate(zip(settings.kg_names, views, strict=True)):
        path = folder / f"{name}-literals.nt"
        counts[name], without = literals.write(number, view.hidden_of, path)
        files[name] = {"file": [f"{name}.tsv", path.name] if settings.triples else [path.name]}
        entities = pl.DataFrame({"number": without[: 0 if settings.triples else None]})
        without_facts.append(
            entities.select(kg=pl.lit(name), entity=pl.format(f"{name}:{{}}", "number"), label=pl.lit(None, pl.String))
        )
    table = pl.concat(without_facts)
    if not table.is_empty():
        table.write_csv(folder / "entities.tsv", separator="\t", quote_style="never")
    (folder / "dataset.toml").write_text(tomli_w.dumps({"kgs": files}), encoding="utf-8")
    return counts


def _write_groups(members: NDArray[np.int32], names: list[str], rng: np.random.Generator, path: Path) -> dict[int, int]:
    """Writes the hidden entities that at least two KGs have, in random order; returns the number of groups by size."""
    sizes = np.count_nonzero(members != ABSENT, axis=1)
    rows = rng.permutation(np.flatnonzero(sizes >= 2))
    with path.open("wb") as file, progress.stage(f"writing {path.name}", len(rows)) as advance:
        file.write(("\t".join(names) + "\n").encode())
        for start in range(0, len(rows), BLOCK_ROWS):
            block = pl.DataFrame(members[rows[start : start + BLOCK_ROWS]], schema=names, orient="row")
            named = {kg: pl.when(pl.col(kg) != ABSENT).then(pl.format(f"{kg}:{{}}", kg)) for kg in names}
            _append(block.select(**named), file)
            advance(block.height)
    counts = np.bincount(sizes, minlength=len(names) + 1)
    return {size: int(counts[size]) for size in range(2, len(names) + 1)}


def _append(block: pl.DataFrame, file: IO[bytes]) -> None:
    block.write_csv(file, separator="\t", include_header=False, quote_style="never")
