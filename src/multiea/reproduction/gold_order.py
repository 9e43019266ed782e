"""What the order of candidates is worth: scores with candidates in the answer's order, and shuffled.

Where row k of every KG's candidates is the same group, code that takes row k of one KG for row k of another reads the
answer. The published code does; nothing else here may.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from multiea.evaluation.scores import ranks_of_groups, scores_by_rank
from multiea.grouping.alignment import AlignmentResult
from multiea.settings.enhancement import Enhancement
from multiea.similarity.enhancement import Pairs, similarities
from multiea.similarity.matrices import Dense

TURNED = "turned"
WAYS = {
    "none": "`none`: direct similarities alone",
    TURNED: "the published code's way: row k of one KG's candidates taken for row k of another's",
    "profile": "`profile`: the same idea without that mistake",
    "product": "`product`: the paper's equation to the letter",
    "sharpened": "`sharpened`: ours",
}


def scores_by_order(alignment: AlignmentResult, orders: Sequence[str], random_state: int) -> dict[str, dict[str, Any]]:
    """M-Hits of the complete held-out groups by way and order of candidates (`answer`, `shuffled`)."""
    groups = alignment.task.held_out.complete
    generator = np.random.default_rng(random_state)
    sizes = [len(kg.entities) for kg in alignment.task.kgs]
    embeddings = torch.split(alignment.embeddings, sizes)
    result: dict[str, dict[str, Any]] = {way: {} for way in WAYS}
    for order in orders:
        pools = [generator.permutation(column) if order == "shuffled" else column for column in groups.members.T]
        candidates = [
            of_kg[torch.from_numpy(pool).to(of_kg.device)] for of_kg, pool in zip(embeddings, pools, strict=True)
        ]
        for way in WAYS:
            scores = turned(candidates) if way == TURNED else similarities(candidates, Enhancement(way))
            ranks = ranks_of_groups(scores, pools, groups)
            result[way][order] = scores_by_rank(ranks, groups.kg_names)["m_hits"]
    return result


def turned(candidates: Sequence[Tensor], weights: tuple[float, float] = (0.2, 0.8)) -> Pairs:
    """The published code's look through third KGs, with the flaw that makes it read the answer.

    Entity i of KG a is compared with entity j of KG b by row i of the similarities to a third KG c, S_ac, and row j of
    S_cb: the row of c's j-th candidate, not of b's, with a column for each of b's candidates, not of c's. It should be
    row j of S_bc, which is S_cb turned. Rows are compared as entities are, by 1 - |x - y| / 2 of unit vectors. Numbers
    of candidates must be equal. The weights are the paper's; in the published file they are commented out, and it
    scores one KG as target, not all.
    """
    plain = similarities(candidates, Enhancement("none"))
    rows = {pair: normalize(matrix.rows(slice(None)).double()) for pair, matrix in plain.items()}  # (n, n)
    kgs = range(len(candidates))
    result: Pairs = {}
    for a, b in permutations(kgs, 2):
        thirds = [kg for kg in kgs if kg not in (a, b)]
        cosines = [rows[a, c] @ rows[c, b].t() for c in thirds]
        through = sum(1 - (2 - 2 * cosine).clamp(min=0).sqrt() / 2 for cosine in cosines) / max(1, len(thirds))
        result[a, b] = Dense(weights[0] * plain[a, b].rows(slice(None)) + weights[1] * through)
    return result
