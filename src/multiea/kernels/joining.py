"""Pairs joined into groups, one after the other."""

from __future__ import annotations

import numpy as np

from multiea.kernels.compiling import inlined, kernel


@inlined
def first_of(parent: np.ndarray, candidate: int) -> int:
    """The first candidate of a group, from any of its members; the way there is made shorter."""
    while parent[candidate] != candidate:
        parent[candidate] = parent[parent[candidate]]
        candidate = parent[candidate]
    return candidate


@kernel
def joined_in_order(left: np.ndarray, right: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """The first candidate of the group of each one, (n,), when pairs are joined one after the other.

    A pair that would put two candidates of one KG together is left out; owner: the KG of each candidate.
    """
    count = len(owner)
    parent = np.arange(count)
    kgs_of = np.zeros((count, owner.max() // 64 + 1), np.uint64)  # a bit for each KG in the group
    for candidate in range(count):
        kgs_of[candidate, owner[candidate] // 64] = np.uint64(1) << np.uint64(owner[candidate] % 64)
    for pair in range(len(left)):
        one, other = first_of(parent, left[pair]), first_of(parent, right[pair])
        if one == other:
            continue
        is_free = True
        for word in range(kgs_of.shape[1]):
            is_free = is_free and not kgs_of[one, word] & kgs_of[other, word]
        if is_free:
            kgs_of[one] |= kgs_of[other]
            parent[other] = one
    for candidate in range(count):
        parent[candidate] = first_of(parent, candidate)
    return parent
