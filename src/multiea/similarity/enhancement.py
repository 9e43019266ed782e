"""Inference enhancement: similarities through third KGs, for any number of KGs and any length of path (eqs. 15-17)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations

import torch
from torch import Tensor

from multiea.foundation import progress
from multiea.foundation.errors import SettingError, resolve
from multiea.settings.fields import setting
from multiea.similarity.int8_embeddings import Comparable
from multiea.similarity.matrices import Cosines, Dense, EuclideanSimilarities, Matrix, blocks, kept_if_small, multiplied
from multiea.similarity.search import search
from multiea.similarity.signatures import Signatures
from multiea.similarity.sinkhorn import sharpen
from multiea.similarity.sparse_scores import NEGLIGIBLE, SparseScores, balance, products, sharpen_sparse

Pair = tuple[int, int]
Pairs = dict[Pair, Matrix]
LOWEST_TEMPERATURE = 0.001
STEPS = 10  # candidates of an entity in a third KG from which paths go on
SWEEPS_AT_LAST = 10
MODES = {
    "none": "direct similarities alone",
    "product": "the paper's equation to the letter: products of plain similarities, which hubs dominate",
    "profile": "cosines of similarity profiles: alike are those that are alike to the same entities of a third KG",
    "sharpened": "Sinkhorn first, then products",
}


@dataclass(frozen=True)
class Enhancement:
    """How similarities are sharpened, and what paths through third KGs add to them.

    The paths of one length share their weight equally; weights of lengths that M KGs do not have are left out.
    """

    mode: str = setting("sharpened", "What third KGs add: none, product, profile, sharpened.")
    weights: tuple[float, ...] = setting(
        (0.2, 0.8),
        "Weights of the direct similarity, of all paths through one third KG, through two, and so on.",
    )
    temperature: float = setting(0.05, "Of Sinkhorn: the lower, the sharper.")
    sweeps: int = setting(15, "Times that Sinkhorn scales rows and columns.")
    candidates: int | None = setting(
        None, 'About how many of the best of each row and column are kept; "none" keeps all pairs.'
    )

    def __post_init__(self) -> None:
        resolve(self.mode, MODES, what="enhancement")
        if not self.weights or not all(0 <= weight < math.inf for weight in self.weights) or not self.weights[0] > 0:
            raise SettingError(f"weights must be at least 0, the first above 0, got {self.weights}")
        if not LOWEST_TEMPERATURE <= self.temperature < math.inf:
            raise SettingError(f"temperature must be at least {LOWEST_TEMPERATURE}, got {self.temperature}")
        if self.sweeps < 1:
            raise SettingError(f"sweeps must be at least 1, got {self.sweeps}")
        if self.candidates is not None and not self.candidates >= 1:
            raise SettingError(f"candidates must be at least 1, got {self.candidates}")
        if self.candidates is not None and self.mode not in ("none", "sharpened"):
            raise SettingError(f"enhancement '{self.mode}' needs all pairs: it takes no number of candidates")
        if self.candidates is not None and len(self.weights) > 2:
            raise SettingError("among a number of candidates only paths through one third KG count: give two weights")


def similarities(
    candidates: Sequence[Tensor], enhancement: Enhancement, signatures: Sequence[Signatures] | None = None
) -> Pairs:
    """For each ordered pair of KGs the scores of one's candidates against the other's.

    candidates: for each KG the embeddings of its candidates, (n, d), of unit length. signatures: of the same, where
    there are some; large KGs are searched by them.
    """
    if enhancement.candidates is not None:
        return _among_few(candidates, enhancement, signatures)
    if enhancement.mode in ("product", "profile"):  # sums so nearly equal that single precision would order them
        candidates = [part.double() for part in candidates]
    direct = _sharpened(candidates, enhancement) if enhancement.mode == "sharpened" else _plain(candidates)
    if enhancement.mode == "none" or len(candidates) == 2:
        return direct
    first, last = direct, direct
    if enhancement.mode == "profile":
        lengths = {pair: _row_lengths(matrix) for pair, matrix in direct.items()}
        first = {pair: Scaled(matrix, 1 / lengths[pair], None) for pair, matrix in direct.items()}
        last = {(a, b): Scaled(matrix, None, 1 / lengths[b, a]) for (a, b), matrix in direct.items()}
    enhanced = {pair: Enhanced(pair, direct, first, last, enhancement.weights, len(candidates)) for pair in direct}
    return _kept_both_ways(dict(enhanced))


class Enhanced:
    """A pair's direct scores and those of all paths through third KGs, weighted."""

    def __init__(
        self, pair: Pair, direct: Pairs, first: Pairs, last: Pairs, weights: Sequence[float], kgs: int
    ) -> None:
        self._direct, self.shape = direct[pair], direct[pair].shape
        thirds = [kg for kg in range(kgs) if kg not in pair]
        used = weights[: len(thirds) + 1]
        self._direct_weight = used[0] / sum(used)
        self._paths: list[tuple[float, list[Matrix]]] = []
        for length, weight in enumerate(used[1:], start=1):
            routes = [list(pairwise((pair[0], *route, pair[1]))) for route in permutations(thirds, length)]
            for route in routes:
                steps = [first[route[0]], *(direct[step] for step in route[1:-1]), last[route[-1]]]
                self._paths.append((weight / sum(used) / len(routes), steps))

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        total = self._direct.rows(which) * self._direct_weight
        for weight, (start, *steps) in self._paths:
            reached = start.rows(which)
            for step in steps:
                reached = multiplied(reached, step)
            total.add_(reached, alpha=weight)
        return total


class Scaled:
    """A matrix whose rows and columns are multiplied by factors."""

    def __init__(self, matrix: Matrix, of_rows: Tensor | None, of_columns: Tensor | None) -> None:
        self._matrix, self._of_rows, self._of_columns = matrix, of_rows, of_columns
        self.shape = matrix.shape

    def rows(self, which: slice | Tensor) -> Tensor:
        """Some rows."""
        block = self._matrix.rows(which)
        block = block if self._of_rows is None else block * self._of_rows[which, None]
        return block if self._of_columns is None else block * self._of_columns


def _among_few(
    candidates: Sequence[Tensor], enhancement: Enhancement, signatures: Sequence[Signatures] | None
) -> Pairs:
    """The same with the best candidates only: sparse from the search to the end."""
    kgs, count = range(len(candidates)), enhancement.candidates or 1
    direct: dict[Pair, SparseScores] = {}
    compared = [Comparable(part) for part in candidates]
    sharpened = enhancement.mode == "sharpened"
    with progress.stage("comparing", len(kgs) * (len(kgs) - 1) // 2) as advance:
        for a, b in combinations(kgs, 2):
            of_pair = None if signatures is None else (signatures[a], signatures[b])
            some = len(compared[a]) > 0 < len(compared[b])
            scores = (
                search(compared[a], compared[b], count, of_pair) if some else _nothing(candidates[a], candidates[b])
            )
            if sharpened and some:
                scores = sharpen_sparse(scores, compared[a], compared[b], enhancement.temperature, enhancement.sweeps)
            direct[a, b] = scores
            direct[b, a] = direct[a, b].transposed()
            advance(1)
    if not sharpened or len(kgs) == 2 or len(enhancement.weights) == 1 or not enhancement.weights[1]:
        return dict(direct)
    best = {pair: scores.best(STEPS, above=NEGLIGIBLE) for pair, scores in direct.items()}
    direct_weight, weight = (part / sum(enhancement.weights) for part in enhancement.weights)
    enhanced: Pairs = {}
    for a, b in combinations(kgs, 2):
        thirds = [kg for kg in kgs if kg not in (a, b) and len(candidates[kg])]
        shape = direct[a, b].shape
        paths = [products(best[a, via], best[via, b], shape[1]) for via in thirds]
        keys = torch.cat([direct[a, b].keys, *(keys for keys, _ in paths)])
        through = [values * (weight / len(thirds)) for _, values in paths]
        summed = SparseScores.summed(keys, torch.cat([direct[a, b].values * direct_weight, *through]), shape)
        both = balance(summed, SWEEPS_AT_LAST)
        enhanced |= {(a, b): both, (b, a): both.transposed()}
    return enhanced


def _nothing(left: Tensor, right: Tensor) -> SparseScores:
    """No scores, where a KG has no candidates."""
    keys = torch.empty(0, dtype=torch.int64, device=left.device)
    return SparseScores.summed(keys, left.new_empty(0), (len(left), len(right)))


def _plain(candidates: Sequence[Tensor]) -> Pairs:
    ordered = permutations(range(len(candidates)), 2)
    return _kept_both_ways({(a, b): EuclideanSimilarities(candidates[a], candidates[b]) for a, b in ordered})


def _sharpened(candidates: Sequence[Tensor], enhancement: Enhancement) -> Pairs:
    pairs: Pairs = {}
    for a, b in combinations(range(len(candidates)), 2):
        cosines = kept_if_small(Cosines(candidates[a], candidates[b]), among=1)
        sharp = sharpen(cosines, enhancement.temperature, enhancement.sweeps)
        turned = Cosines(candidates[b], candidates[a])
        pairs |= _kept_both_ways({(a, b): sharp, (b, a): sharp.transposed(turned)}, of_kgs=len(candidates))
    return pairs


def _kept_both_ways(pairs: Pairs, of_kgs: int = 0) -> Pairs:
    """Small matrices kept whole, once for both directions: one is the other turned."""
    kgs = of_kgs or 1 + max((pair[0] for pair in pairs), default=0)
    result = dict(pairs)
    for (a, b), matrix in pairs.items():
        if a < b and isinstance(kept := kept_if_small(matrix, among=kgs * (kgs - 1) // 2), Dense):
            result[a, b], result[b, a] = kept, kept.transposed()
    return result


def _row_lengths(matrix: Matrix) -> Tensor:
    return torch.cat([block.norm(dim=1) for _, block in blocks(matrix)]).clamp(min=1e-12)
