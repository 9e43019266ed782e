"""The scores of all candidates of an alignment, before and after third KGs are added; all in canonical order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.calibration import LEAST_SCORE
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.uncontested import best_chains, uncontested_inside
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.enhancement import Pairs
from multiea.similarity.matrices import Matrix
from multiea.similarity.paths import with_paths
from multiea.similarity.pools import candidate_pools, pool_similarities, positions_in_pool
from multiea.similarity.sparse_scores import NEGLIGIBLE

Node = tuple[int, int]  # the number of a KG, and the position of an entity there


@dataclass(frozen=True)
class CandidateScores:
    """direct, enhanced: the scores of the candidates, without and with third KGs. pools: the candidates of each KG."""

    pools: Sequence[np.ndarray]
    direct: Pairs
    enhanced: Pairs
    _blocks: dict[tuple[int, tuple[int, int]], Matrix] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, alignment: AlignmentResult) -> CandidateScores:
        """The scores from which the groups of an alignment were made."""
        order, enhancement = alignment.order, alignment.enhancement
        known = Task(order.canonical.kgs, order.groups_to_canonical(alignment.known.groups))
        pools = candidate_pools("all", known, known.seeds, known.held_out)
        compared = alignment.compared()
        of_pairs, is_lowered = replace(enhancement, weights=(1.0,)), alignment.calibration.uncontested_share > 0
        direct = pool_similarities(known, compared, pools, of_pairs, with_uncontested=is_lowered)
        if isinstance(direct, BlockScores):
            keeps_rest, mixing = alignment.evidence is not None, compared.weights.mixing
            return cls(pools, direct, with_paths(direct, enhancement, mixing, keeps_rest=keeps_rest))
        return cls(pools, direct, pool_similarities(known, compared, pools, enhancement))

    def uncontested(self, one: Node, other: Node, group: Sequence[Node] = ()) -> float | None:
        """The uncontested score of the best chain between two entities; None where confidences are not lowered by it.

        group: the members that chains may lead over, duplicates after them; these two by default.
        """
        members = np.full((1, len(self.pools)), ABSENT, dtype=np.int32)
        copies: list[Node] = []
        for kg, entity in group or (one, other):
            if members[0, kg] == ABSENT:
                members[0, kg] = entity
            else:
                copies.append((kg, entity))
        ends = np.array(copies, dtype=np.int64).reshape(-1, 2)
        duplicates = Duplicates(np.zeros(len(ends), np.int64), ends[:, 0], ends[:, 1], np.ones(len(ends)))
        groups = Groups(tuple(map(str, range(len(self.pools)))), members)
        found = uncontested_inside(groups, self.direct, self.pools, duplicates)
        chain = np.nan if found is None else best_chains(found)[0, one[0], other[0]]
        return None if np.isnan(chain) else float(chain)

    def has(self, node: Node) -> bool:
        """Whether an entity is a candidate; members of seeds are not."""
        return bool(self._place(node) >= 0)

    def at(self, scores: Pairs, pair: Node, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The scores of some pairs of entities of two KGs, NaN where one is no candidate."""
        places = [positions_in_pool(self.pools[kg], ends) for kg, ends in zip(pair, (left, right), strict=True)]
        both = (places[0] >= 0) & (places[1] >= 0)
        result = np.full(len(left), np.nan)
        rows, columns = (torch.from_numpy(one[both]) for one in places)
        result[both] = self._block(scores, pair).at(rows, columns).numpy()
        return result

    def row(self, scores: Pairs, node: Node, kg: int) -> np.ndarray:
        """The scores of an entity with all candidates of another KG, (candidates,)."""
        row = torch.tensor([self._place(node)])
        return np.asarray(self._block(scores, (node[0], kg)).rows(row)[0].double().cpu().numpy())

    def _block(self, scores: Pairs, pair: tuple[int, int]) -> Matrix:
        """The matrix of two KGs; made once."""
        key = id(scores), pair
        if key not in self._blocks:
            self._blocks[key] = scores[pair]
        return self._blocks[key]

    def best(self, node: Node, kg: int, count: int) -> list[tuple[int, float]]:
        """The best candidates of an entity in another KG with their scores, the best first."""
        if not self.has(node) or not len(self.pools[kg]):
            return []
        scores = self.row(self.enhanced, node, kg)
        order = np.argsort(-scores, kind="stable")[:count]
        return [(int(self.pools[kg][at]), float(scores[at])) for at in order if scores[at] > NEGLIGIBLE]

    def third_entities(self, one: Node, other: Node, count: int) -> list[tuple[Node, float, float]]:
        """The entities of third KGs that connect two entities best, each with its scores with both."""
        found = []
        for via in range(len(self.pools)):
            if via in (one[0], other[0]) or not len(self.pools[via]):
                continue
            left, right = self.row(self.direct, one, via), self.row(self.direct, other, via)
            product = left * right
            for at in np.argsort(-product, kind="stable")[:count]:
                if product[at] > NEGLIGIBLE:
                    found.append(((via, int(self.pools[via][at])), float(left[at]), float(right[at])))
        return sorted(found, key=lambda path: -path[1] * path[2])[:count]

    def _place(self, node: Node) -> int:
        return int(positions_in_pool(self.pools[node[0]], np.array([node[1]]))[0])


def logit(score: np.ndarray) -> np.ndarray:
    """Scores as log-odds, within the limits of the calibration."""
    clipped = np.clip(score, LEAST_SCORE, 1 - LEAST_SCORE)
    return np.asarray(np.log(clipped / (1 - clipped)))
