"""PSR: reflections weighted by relation, concatenated hops, trained without negatives (Mao et al., 2021)."""

from __future__ import annotations

from itertools import permutations

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, normalize

from multiea.data.groups import ABSENT
from multiea.engines.encoders.base import Encoder, xavier_uniform
from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import SparsityPattern, dot_products, gather_rows, multiply, softmax_over_rows

DROPOUT = 0.3


class Psr(Encoder):
    r"""Two views, which start with the means of an entity's neighbours and of its relations, each through layers of

        h'_i = ELU( sum over <r_k, e_j> in N_i of  alpha_ik ( h_j - 2 (g_k . h_j) g_k ) ),    |g_k| = 1,
        alpha_ik = softmax over N_i of v . r_k,

    where N_i does not include i itself. All hops of both views are concatenated. The loss needs no negatives: z are the
    embeddings, f those of the untrained encoder, both standardised over the groups of an epoch,

        L = - sum over members a, b of a group of cos( z_a, f_b )^3,

    so that the trained embedding of an entity becomes similar to the untrained ones of its counterparts. The output is
    z + f with strategy `own`, otherwise z.
    Mao et al., Are Negative Samples Necessary in Entity Alignment?, CIKM 2021. Differences: no semi-supervised rounds,
    no sampling of subgraphs. Output: (entities, 2 * (layers + 1) * dimensions), each of unit length.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        device, size, relations = graph.entity.device, graph.entities, graph.relations
        others = graph.relation != relations - 1
        self._i, self._k, self._j = (part[others] for part in (graph.entity, graph.relation, graph.neighbour))
        self._to_neighbour = SparsityPattern(self._i, self._j, (size, size))
        self._to_relation = SparsityPattern(self._i, self._k, (size, relations))
        self._relation_and_neighbour = SparsityPattern(self._k, self._j, (relations, size))
        self._share = 1 / torch.bincount(self._i, minlength=size).clamp(min=1)[self._i]  # weight of each edge in a mean
        self.entities = nn.Parameter(xavier_uniform(size, dimensions, generator).to(device))
        self.relations = nn.Parameter(xavier_uniform(relations, dimensions, generator).to(device))
        self.attention = nn.Parameter(xavier_uniform(2 * layers, dimensions, generator).to(device))
        self._untrained: Tensor | None = None

    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, 2 * (layers + 1) * dimensions)."""
        z = self._hops()
        return normalize(z if self._untrained is None else _standardised(z) + _standardised(self._untrained))

    def _hops(self) -> Tensor:
        """All hops of both views, concatenated, (entities, 2 * (layers + 1) * dimensions)."""
        g = normalize(self.relations)  # (R, d)
        of_entities = elu(multiply(self._to_neighbour, self._to_neighbour.sum_edges(self._share), self.entities))
        of_relations = elu(multiply(self._to_relation, self._to_relation.sum_edges(self._share), self.relations))
        views = [of_entities, of_relations]
        hops = list(views)
        for attention in self.attention.view(-1, 2, self.attention.shape[1]):
            views = [self._layer(h, g, v) for h, v in zip(views, attention, strict=True)]
            hops += views
        return torch.cat(hops, dim=1)

    def _layer(self, h: Tensor, g: Tensor, v: Tensor) -> Tensor:
        alpha = softmax_over_rows(self._i, (self.relations @ v)[self._k], len(h))  # (edges,)
        g_dot_h = dot_products(self._relation_and_neighbour, g, h)[self._relation_and_neighbour.entry]
        of_neighbours = multiply(self._to_neighbour, self._to_neighbour.sum_edges(alpha), h)
        of_relations = multiply(self._to_relation, self._to_relation.sum_edges(alpha * g_dot_h), g)
        return elu(of_neighbours - 2 * of_relations)  # (N, d)

    def begin(self, groups: Tensor, *, own: bool) -> None:
        """Stores the groups, and the embeddings of the untrained encoder."""
        self._groups = groups
        if own:
            with torch.no_grad():
                self._untrained = self._hops()

    def alignment_loss(self, generator: torch.Generator) -> Tensor:
        """The negative-free loss of all ordered pairs of members."""
        z, f = self._hops(), self._untrained
        assert f is not None
        total = z.sum() * 0
        for a, b in permutations(self._groups.t(), 2):
            both = (a != ABSENT) & (b != ABSENT)
            if int(both.sum()) > 1:  # a single row cannot be standardised
                learned = _standardised(_with_dropout(gather_rows(z, a[both]), generator))
                target = _standardised(_with_dropout(f[b[both]], generator))
                total = total - ((learned * target).sum(1) ** 3).sum()
        return total


def _with_dropout(rows: Tensor, generator: torch.Generator) -> Tensor:
    kept = torch.rand(rows.shape, generator=generator, device=rows.device) >= DROPOUT
    return rows * kept / (1 - DROPOUT)


def _standardised(rows: Tensor) -> Tensor:
    return normalize((rows - rows.mean(0)) / rows.std(0).clamp(min=1e-6))
