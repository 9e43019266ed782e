"""Blocking: pairs of entities whose signatures share marks; all other pairs are never compared."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT
from multiea.similarity.signatures import Signatures

ENTITIES_PER_MARK = 128  # the entities for which a mark counts most
LEAST_IN_COMMON = 0.01  # of two signatures, whose product is at most one


def pairs_sharing_marks(signatures: tuple[Signatures, Signatures], count: int, device: torch.device) -> Tensor:
    """The pairs whose signatures have most in common, about `count` per entity, as keys: row * columns + column."""
    columns = len(signatures[1].marks)
    left, right = signatures
    forward, backward = (
        torch.from_numpy(most_in_common(*sides, count)).to(device) for sides in ((left, right), (right, left))
    )
    keys = []
    for found, is_forward in ((forward, True), (backward, False)):
        one, place = torch.nonzero(found != ABSENT, as_tuple=True)
        other = found[one, place].long()
        keys.append(one * columns + other if is_forward else other * columns + one)
    return torch.cat(keys)


def most_in_common(own: Signatures, others: Signatures, count: int) -> np.ndarray:
    """For each entity those of another KG with most in common by signatures, (n, count), -1 where there are fewer."""
    from multiea.kernels.compiling import use_threads  # deferred: numba takes a second, and small KGs need none
    from multiea.kernels.shared_marks import index_of_marks, sharing_marks

    use_threads()
    marks = 1 + max(int(part.marks.max(initial=ABSENT)) for part in (own, others))
    weights, of_others = (part.weights.astype(np.float32) for part in (own, others))
    index = index_of_marks(others.marks, of_others, marks, ENTITIES_PER_MARK)
    return np.asarray(sharing_marks((own.marks, weights), index, len(others.marks), count, LEAST_IN_COMMON))
