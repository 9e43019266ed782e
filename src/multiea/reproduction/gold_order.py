"""The effect of the candidate order: scores with candidates in the order of the held-out groups, and shuffled.

If row k of the candidates of every KG belongs to the same group, code that mistakes row k of one KG for row k of
another reads the answer. The published code does this. No other enhancement here may depend on the order.
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
from multiea.similarity.matrices import Dense, Matrix

PUBLISHED_CODE = "turned"  # the name in stored results
METHODS = {
    "none": "`none`: direct similarities only",
    PUBLISHED_CODE: "published code: mistakes row k of one KG's candidates for row k of another's",
    "profile": "`profile`: the same idea without this mistake",
    "product": "`product`: the paper's equation to the letter",
    "sharpened": "`sharpened`: ours",
}


def scores_by_order(alignment: AlignmentResult, orders: Sequence[str], random_state: int) -> dict[str, dict[str, Any]]:
    """M-Hits of the complete held-out groups by method and candidate order (`answer`, `shuffled`)."""
    groups = alignment.task.held_out.complete
    generator = np.random.default_rng(random_state)
    sizes = [len(kg.entities) for kg in alignment.task.kgs]
    embeddings = torch.split(alignment.embeddings, sizes)
    result: dict[str, dict[str, Any]] = {method: {} for method in METHODS}
    for order in orders:
        pools = [generator.permutation(column) if order == "shuffled" else column for column in groups.members.T]
        candidates = [
            of_kg[torch.from_numpy(pool).to(of_kg.device)] for of_kg, pool in zip(embeddings, pools, strict=True)
        ]
        for method in METHODS:
            if method == PUBLISHED_CODE:
                scores = similarities_of_published_code(candidates)
            else:
                scores = similarities(candidates, Enhancement(method))
            ranks = ranks_of_groups(scores, pools, groups)
            result[method][order] = scores_by_rank(ranks, groups.kg_names)["m_hits"]
    return result


def similarities_of_published_code(candidates: Sequence[Tensor], weights: tuple[float, float] = (0.2, 0.8)) -> Pairs:
    """Similarities through third KGs as the published code computes them, including the error that reads the answer.

    candidates: (n, d) embeddings for each KG, with the same n. Entity i of KG a is compared with entity j of KG b by
    row i of S_ac, the similarities to a third KG c, and row j of S_cb. The latter is the row of the j-th candidate of
    c, not of b. Correct would be row j of S_bc, the transpose of S_cb. Rows are compared like embeddings, by
    1 - |x - y| / 2 of unit vectors. The weights are those of the paper; in the published file they are commented out,
    and only one KG is scored as target, not all.
    """
    direct = similarities(candidates, Enhancement("none"))
    rows = {pair: normalize(matrix.rows(slice(None)).double()) for pair, matrix in direct.items()}  # (n, n)
    kgs = range(len(candidates))
    result: dict[tuple[int, int], Matrix] = {}
    for a, b in permutations(kgs, 2):
        thirds = [kg for kg in kgs if kg not in (a, b)]
        cosines = [rows[a, c] @ rows[c, b].t() for c in thirds]
        through = sum(1 - (2 - 2 * cosine).clamp(min=0).sqrt() / 2 for cosine in cosines) / max(1, len(thirds))
        result[a, b] = Dense(weights[0] * direct[a, b].rows(slice(None)) + weights[1] * through)
    return result
