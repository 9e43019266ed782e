"""Propagation in large KGs: the same flow and views, by kernels that read states in 16 bits, row by row.

A task for each KG. Shards: `edges/{kg}`; of a round `{prefix}/marks`, `{prefix}/flow/{kg}` (for a moment), and the
result, `{prefix}/embedding/{kg}`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.engines.propagation import EmbeddingSizes, RandomVectors
from multiea.kernels.compiling import use_threads
from multiea.kernels.edges import Edges
from multiea.kernels.flow import hop, sum_of_heads, to_unit_length, write_marks
from multiea.kernels.views import write_views
from multiea.settings.propagation import VERY_MANY_ENTITIES, Propagation
from multiea.tasks.runner import Runner, Task
from multiea.tasks.shards import Shards, let_go

ROWS_AT_ONCE = 1 << 16
State = tuple[np.ndarray, np.ndarray]  # numbers (n, d) and scales (n,)


def embed(
    runner: Runner,
    prefix: str,
    kgs: Sequence[int],
    settings: Propagation,
    random_state: int,
    *,
    entities: str | None = None,
) -> None:
    """Writes the same embeddings as those of engines/propagation, of other random marks: 8-bit numbers and scales.

    kgs: numbers of the KGs, whose edges are shards, as are the marks. entities: where the shards are, one for each KG,
    that say which entities to embed; by default all.
    """
    shards = runner.shards
    if all(f"{prefix}/embedding/{kg}" in shards for kg in kgs):
        return
    sizes = sizes_of_many(settings, sum(len(shards.get(f"edges/{kg}")["starts"]) - 1 for kg in kgs))
    random = (settings, sizes, random_state)
    flows = [Task(f"{prefix}/flow/{kg}", write_flow, (prefix, place, kg, *random)) for place, kg in enumerate(kgs)]
    runner.run("propagating", flows)
    relations = [[torch.tensor(state) for state in shards.get(task.name)["relations"]] for task in flows]
    drawn = RandomVectors.drawn(0, settings, sizes, random_state, torch.device("cpu"))
    numbers = sizes.describe(relations, drawn, settings)
    for kg, states, of_kg in zip(kgs, relations, numbers, strict=True):
        view = torch.cat(states, 1) @ drawn.to_relation_view
        shards.put(f"{prefix}/relations/{kg}", {"numbers": of_kg.numpy(), "view": view.numpy()})
    parts = [(kg, f"{prefix}/embedding/{kg}") for kg in kgs]
    runner.run("embedding", [Task(name, write_embeddings, (prefix, kg, settings, entities)) for kg, name in parts])
    for kg in kgs:
        shards.drop(f"{prefix}/flow/{kg}")
        shards.drop(f"{prefix}/relations/{kg}")


def sizes_of_many(settings: Propagation, entities: int) -> EmbeddingSizes:
    """The sizes of embeddings made by tasks, which take less memory: marks stay long for more entities."""
    return EmbeddingSizes.of(settings, entities, VERY_MANY_ENTITIES)


def put_marks(shards: Shards, prefix: str, groups: Groups, weights: np.ndarray | None = None) -> None:
    """The members of groups, all of which have the same mark; weights: of marks, one by default."""
    weights = np.ones(len(groups)) if weights is None else weights
    shards.put(f"{prefix}/marks", {"members": groups.members.T.copy(), "weights": weights.astype(np.float32)})


def write_flow(
    shards: Shards, name: str, prefix: str, place: int, kg: int, settings: Propagation, *random: object
) -> None:
    """Marks flow through a KG over all hops. place: its column in the groups. random: sizes and random state."""
    use_threads()
    sizes, random_state = random
    assert isinstance(sizes, EmbeddingSizes)
    assert isinstance(random_state, int)
    marks, edges = shards.get(f"{prefix}/marks"), Edges(**shards.get(f"edges/{kg}"))
    members, count = marks["members"][place], edges.entities
    mark = np.full(count, ABSENT, np.int32)
    mark[members[members != ABSENT]] = np.flatnonzero(members != ABSENT)
    drawn = RandomVectors.drawn(0, settings, sizes, random_state, torch.device("cpu"))
    forms = {
        part: form
        for key, width in (("columns", sizes.dimensions), ("last", sizes.dimensions), ("near", sizes.dimensions // 2))
        for part, form in ((key, ((count, width), np.int16)), (f"{key}_scales", ((count,), np.float32)))
    }
    with shards.writing(
        name, forms | {"relations": ((settings.hops, edges.relations, sizes.dimensions), np.float32)}
    ) as to:
        columns, last, near = ((to[key], to[f"{key}_scales"]) for key in ("columns", "last", "near"))
        to["relations"][:] = flow(edges, mark, marks["weights"], drawn, settings, (columns, last, near))


def flow(
    edges: Edges,
    mark: np.ndarray,
    weights: np.ndarray,
    random: RandomVectors,
    settings: Propagation,
    result: tuple[State, State, State],
) -> np.ndarray:
    """Writes what flows through a KG: columns, states after the last hop, and what arrived at nearer ones.

    mark: (n,) of each entity, -1 for none; weights: (marks,). Returns the states of relations after each hop.
    """
    columns, last, near = result
    column_signs, near_signs = random.column_signs.numpy(), random.near_signs.numpy()
    of_edges = (edges.starts, edges.tail, edges.relation_starts, edges.incoming)
    shape = (edges.entities, column_signs.shape[1])
    state, after = ((np.empty(shape, np.int16), np.zeros(shape[0], np.float32)) for _ in range(2))
    write_marks(mark, weights, random.seed_of_marks, state, column_signs[0], columns)
    near[1][:] = 0
    relations = np.zeros((settings.hops + 1, edges.relations, shape[1]), np.float32)
    for number in range(settings.hops):
        relations[number + 1] = _unit(sum_of_heads(edges.head_starts, edges.heads, *state))
        signs = np.stack([near_signs[number], column_signs[number + 1]])
        into = last if number + 1 == settings.hops else after
        hop(of_edges, state, relations[number], settings.own_weight, signs, (*near, *columns), into)
        state, after = into, state
    to_unit_length(*columns)
    return relations[1:]


def write_embeddings(
    shards: Shards, name: str, prefix: str, kg: int, settings: Propagation, entities: str | None
) -> None:
    """The embeddings of the entities of a KG, block by block."""
    use_threads()
    edges, flowed = Edges(**shards.get(f"edges/{kg}")), shards.get(f"{prefix}/flow/{kg}")
    of_edges = (edges.starts, edges.tail, edges.relation, edges.relation_starts, edges.incoming)
    columns, last, near = ((flowed[key], flowed[f"{key}_scales"]) for key in ("columns", "last", "near"))
    relations = shards.get(f"{prefix}/relations/{kg}")
    by_relation = (relations["numbers"], relations["view"], settings.columns)
    which = np.arange(edges.entities) if entities is None else shards.get(f"{entities}/{kg}")["entities"]
    width = relations["numbers"].shape[1] * settings.columns + relations["view"].shape[1]
    width += columns[0].shape[1] + near[0].shape[1]
    weights = np.array(settings.view_weights, np.float32)
    forms = {"numbers": ((len(which), width), np.int8), "scales": ((len(which),), np.float32)}
    with shards.writing(name, forms) as to:
        for start in range(0, len(which), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            rows = to["numbers"][some], to["scales"][some]
            write_views(which[some], of_edges, columns, last, near, by_relation, weights, rows)
            let_go(to["numbers"])


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
