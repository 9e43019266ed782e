"""Lookalikes: how similar entities of one KG are to each other, though no two of them are the same.

They show what chance brings: namesakes, a shared date, a near number. Where candidates of another KG are no better,
there are probably no counterparts.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from multiea.evidence.conflicts import Conflicts
from multiea.evidence.features import Features
from multiea.evidence.identifiers import Identifiers

MOST_SAMPLED = 2000  # entities of a KG that are compared with all of it: more would not say more


def sampled(features: Features) -> Features:
    """The features of some entities of a KG, evenly chosen: of every entity if they are few."""
    step = _step(features.entities)
    kept = features.entity % step == 0
    rows, row = np.unique(features.row[kept], return_inverse=True)
    return Features(features.rows[rows], row, features.entity[kept] // step, -(-features.entities // step))


def without_themselves(similarity: sp.csr_array) -> sp.csr_array:
    """The similarities of the sampled entities to all of the KG, but not to themselves."""
    entries = similarity.tocoo()
    other = entries.row * _step(similarity.shape[1]) != entries.col
    return sp.csr_array((entries.data[other], (entries.row[other], entries.col[other])), shape=similarity.shape)


def conflicts_inside(similarity: sp.csr_array, conflicts: Conflicts, side: int) -> sp.csr_array:
    """What conflicting values say about lookalikes; conflicts: of two KGs, of which this one is on the given side."""
    entries, entities = similarity.tocoo(), similarity.shape[1]
    step = _step(entities)
    against = conflicts.inside(side).at(entries.row * step, entries.col, (entities, entities))
    return against[::step].tocsr()


def identifiers_inside(identifiers: Identifiers, side: int, entities: int) -> sp.csr_array:
    """What equal codes say about lookalikes; identifiers: of two KGs, of which this one is on the given side."""
    every = identifiers.inside(side).matrix((entities, entities))
    return without_themselves(every[:: _step(entities)].tocsr())


def _step(entities: int) -> int:
    return max(1, -(-entities // MOST_SAMPLED))
